/**
 * The parts of the Kubernetes API machinery that CEL depends on. They have no dependencies, so that other packages
 * share them from here.
 */
export * from './field-error.js'
export { type FieldPathOptions, walkFieldPath } from './field-path.js'
export { type FormatCheck, formatCheck, upcomingFormatCheck } from './formats/index.js'
export { daysIn } from './formats/time.js'
export { isRequestURI } from './formats/uri.js'
export * from './go-duration.js'
export * from './json.js'
export * from './names.js'
export * from './print.js'
export * from './schema.js'
export * from './text.js'
