import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { isDNS1035Label, isDNS1123Subdomain, printable, utf8Length } from '@crosstie/cel/kubernetes'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors } from '../../errors.js'
import { findField } from './fieldpath.js'
import { type InternalSpec, printVersions } from './internal.js'
import { structuralProblem } from './structural.js'
import type { DefinitionNames, DefinitionSubresources, DefinitionVersion, PrinterColumn } from './types.js'
import { clientConfigErrors } from './webhook.js'

const { required, invalid, forbidden, notSupported, duplicate, tooMany } = fieldErrors

/** Validates the group of a definition. */
export function groupErrors(group: string, path: string): FieldError[] {
  if (group === '') return [required(path)]
  const messages = isDNS1123Subdomain(group)
  if (messages.length > 0) return [invalid(path, group, messages.join(','))]
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')]
}

/** Validates that a value is one of the accepted ones. */
export function oneOfErrors(value: string, accepted: readonly string[], path: string): FieldError[] {
  if (value === '') return [required(path)]
  return accepted.includes(value) ? [] : [notSupported(path, value, accepted)]
}

/** Validates that names are present, as spec requires it. In status they may be absent. */
export function requiredNameErrors(names: DefinitionNames, path: string): FieldError[] {
  const keys = ['plural', 'singular', 'kind', 'listKind'] as const
  return keys.filter((key) => !names[key]).map((key) => required(`${path}.${key}`))
}

/** Validates the names of a definition. */
export function nameErrors(names: DefinitionNames, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { kind = '', listKind = '' } = names
  for (const key of ['plural', 'singular'] as const) {
    const name = names[key]
    if (name) append(errors, labelErrors(name, `${path}.${key}`))
  }
  for (const key of ['kind', 'listKind'] as const) {
    const name = names[key]
    if (name) append(errors, kindNameErrors(name, `${path}.${key}`))
  }
  names.shortNames?.forEach((name, i) => {
    append(errors, labelErrors(name, `${path}.shortNames[${i}]`))
  })
  if (kind !== '' && kind === listKind) {
    errors.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'))
  }
  names.categories?.forEach((name, i) => {
    append(errors, labelErrors(name, `${path}.categories[${i}]`))
  })
  return errors
}

/** Validates a name that is a DNS-1035 label. */
export function labelErrors(value: string, path: string): FieldError[] {
  const messages = isDNS1035Label(value)
  return messages.length === 0 ? [] : [invalid(path, value, messages.join(','))]
}

function kindNameErrors(value: string, path: string): FieldError[] {
  const messages = isDNS1035Label(value.toLowerCase())
  if (messages.length === 0) return []
  return [invalid(path, value, `may have mixed case, but should otherwise match: ${messages.join(',')}`)]
}

/** Validates the list of versions: their names are unique, and exactly one is stored. */
export function versionSetErrors(spec: InternalSpec, path: string): FieldError[] {
  const { versions } = spec
  const errors: FieldError[] = []
  const names = versions.map((version) => version.name)
  if (new Set(names).size < names.length) {
    errors.push(invalid(path, printVersions(spec), 'must contain unique version names'))
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    errors.push(invalid(path, printVersions(spec), 'must have exactly one version marked as storage version'))
  }
  return errors
}

/** Validates the deprecation of a version. */
export function deprecationErrors({ deprecated, deprecationWarning }: DefinitionVersion, path: string): FieldError[] {
  if (deprecationWarning === undefined || deprecationWarning === null) return []
  const complain = (detail: string) => invalid(path, deprecationWarning, detail)
  if (!deprecated) return [complain('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  if (utf8Length(deprecationWarning) > 256) errors.push(complain('must be <= 256 characters long'))
  if (deprecationWarning === '') errors.push(complain('must not be an empty string'))
  let index = 0
  for (const rune of deprecationWarning) {
    if (!printable(rune)) {
      const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`
      errors.push(complain(detail))
      break
    }
    index += utf8Length(rune)
  }
  return errors
}

/** Validates the subresources of a version. */
export function subresourceErrors({ scale }: DefinitionSubresources, path: string): FieldError[] {
  if (!scale) return []
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale
  const errors: FieldError[] = []
  const check = (key: string, value: string, prefixes: readonly string[], where: string) => {
    const at = `${path}.scale.${key}`
    if (!value.startsWith('.')) errors.push(invalid(at, value, 'must be a simple json path starting with .'))
    else if (!prefixes.some((prefix) => value.startsWith(prefix))) {
      errors.push(invalid(at, value, `should be a json path under ${where}`))
    }
  }
  if (specReplicasPath === '') errors.push(required(`${path}.scale.specReplicasPath`))
  else check('specReplicasPath', specReplicasPath, ['.spec.'], '.spec')
  if (statusReplicasPath === '') errors.push(required(`${path}.scale.statusReplicasPath`))
  else check('statusReplicasPath', statusReplicasPath, ['.status.'], '.status')
  if (labelSelectorPath !== '') {
    check('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status')
  }
  return errors
}

const columnTypes = 'boolean,date,integer,number,string'
const columnFormats = 'byte,date,date-time,double,float,int32,int64,password'

/** Validates a printer column. */
export function columnErrors(column: PrinterColumn, path: string): FieldError[] {
  const { name = '', type = '', format = '', jsonPath = '' } = column
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${path}.name`))
  if (type === '') errors.push(required(`${path}.type`, `must be one of ${columnTypes}`))
  else if (!columnTypes.split(',').includes(type)) {
    errors.push(invalid(`${path}.type`, type, `must be one of ${columnTypes}`))
  }
  if (format !== '' && !columnFormats.split(',').includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${columnFormats}`))
  }
  if (jsonPath === '') errors.push(required(`${path}.JSONPath`))
  else if (!jsonPath.startsWith('.')) {
    errors.push(invalid(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'))
  }
  return errors
}

const selectableLimit = 8

/** Validates the selectable fields of a version. */
export function selectableFieldErrors(
  fields: readonly { readonly jsonPath?: string }[],
  schema: JSONSchemaProps | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  // An invalid schema is reported separately and not searched.
  const root = schema && structuralProblem(schema) === undefined ? schema : {}
  fields.forEach(({ jsonPath = '' }, i) => {
    const at = `${path}[${i}].jsonPath`
    if (jsonPath === '') {
      errors.push(required(at))
      return
    }
    const found = findField(jsonPath, root, { brackets: false })
    if ('error' in found) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.error}`))
      return
    }
    if (found.first === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(invalid(at, jsonPath, detail))
    }
    if (seen.has(found.path)) errors.push(duplicate(at, jsonPath))
    seen.add(found.path)
  })
  if (seen.size > selectableLimit) errors.push(tooMany(path, seen.size, selectableLimit))
  return errors
}

/** Options of {@link conversionErrors}. */
export interface ConversionChecks {
  readonly recognizedReviewVersion: boolean
  readonly caBundleError?: ((caBundle: string) => string | undefined) | undefined
}

/** Validates the conversion of a definition. */
export function conversionErrors(spec: InternalSpec, path: string, checks: ConversionChecks): FieldError[] {
  const { conversion, preserveUnknownFields } = spec
  if (!conversion) return []
  const { strategy, clientConfig, reviewVersions } = conversion
  const errors: FieldError[] = []
  if (strategy !== 'None' && preserveUnknownFields) {
    errors.push(invalid(`${path}.strategy`, strategy, 'must be None if spec.preserveUnknownFields is true'))
  }
  append(errors, oneOfErrors(strategy, ['None', 'Webhook'], `${path}.strategy`))
  const at = `${path}.webhookClientConfig`
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (clientConfig) errors.push(forbidden(at, detail))
    if (reviewVersions.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, detail))
    return errors
  }
  if (!clientConfig) errors.push(required(at, 'required when strategy is set to Webhook'))
  else append(errors, clientConfigErrors(clientConfig, at, checks.caBundleError))
  errors.push(
    ...reviewVersionErrors(reviewVersions, `${path}.conversionReviewVersions`, checks.recognizedReviewVersion),
  )
  return errors
}

/** Reports whether the server supports a version of ConversionReview. */
export const isReviewVersion = (version: string) => version === 'v1' || version === 'v1beta1'

function reviewVersionErrors(versions: readonly string[], path: string, mustRecognize: boolean): FieldError[] {
  if (versions.length === 0) return [required(path)]
  const errors: FieldError[] = []
  versions.forEach((version, i) => {
    if (versions.indexOf(version) < i) errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'))
    else for (const message of isDNS1035Label(version)) errors.push(invalid(`${path}[${i}]`, version, message))
  })
  if (mustRecognize && !versions.some(isReviewVersion)) {
    errors.push(invalid(path, versions, 'must include at least one of v1, v1beta1'))
  }
  return errors
}

/** Validates the stored versions of a status. */
export function storedVersionErrors(
  stored: readonly string[] | null | undefined,
  versions: readonly DefinitionVersion[],
  path: string,
): FieldError[] {
  if (!stored || stored.length === 0) {
    return [invalid(path, stored ?? null, 'must have at least one stored version')]
  }
  const errors: FieldError[] = []
  const missing = new Map(stored.map((name, i) => [name, i]))
  for (const { name, storage } of versions) {
    // The second of two versions with the same name does not find it.
    if (!missing.delete(name) && storage) {
      errors.push(invalid(path, stored, `must have the storage version ${name}`))
    }
  }
  missing.forEach((i, name) => {
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    errors.push(invalid(`${path}[${i}]`, name, detail))
  })
  return errors
}
