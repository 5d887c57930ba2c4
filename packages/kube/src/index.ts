export {
  isConfigMapKey,
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
  isValidPathSegmentName,
  isValidPathSegmentPrefix,
  isValidPortName,
  isWildcardDNS1123Subdomain,
  type NameCheck,
  type NameRule,
  nameErrors,
  Printed,
  parseGoDuration,
  printable,
  printFloat,
  printJson,
  printNumber,
  printValue,
  quote,
  regexError,
  runeCount,
  utf8Length,
} from '@crosstie/cel/kubernetes'
export * from './arrays.js'
export * from './client.js'
export * from './clock.js'
export * from './condition.js'
export * from './duration.js'
export * from './errors.js'
export * from './fieldpath.js'
export * from './json.js'
export * from './jsonpath.js'
export * from './kind.js'
export { type DecodedMeta, type DecodeOptions, decodeMeta } from './metadata/decode.js'
export * from './metadata.js'
export * from './metrics.js'
export * from './object.js'
export * from './selector.js'
