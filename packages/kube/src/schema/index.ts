export type { JSONSchemaProps, ValidationRule } from '@crosstie/cel/kubernetes'
export type { CoerceOptions } from './coerce.js'
export { type CompiledSchema, compileSchema } from './compile.js'
export * from './definition/index.js'
