export type { CoerceOptions } from './coerce.js'
export { type CompiledSchema, compileSchema } from './compile.js'
export * from './definition/index.js'
export type { JSONSchemaProps, ValidationRule } from './types.js'
