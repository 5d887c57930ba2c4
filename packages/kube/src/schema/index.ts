export type { JSONSchemaProps, ValidationRule } from './types.js'
