import {
  isQualifiedName,
  isValidLabelValue,
  type NameRule,
  nameErrors,
  Printed,
  printable,
  printJson,
  quote,
  utf8Length,
} from '@crosstie/cel/kubernetes'
import { append } from './arrays.js'
import { type FieldError, fieldErrors } from './errors.js'
import { parseApiVersion } from './kind.js'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object.js'

const annotationsLimit = 256 * 1024

/** Options of the metadata validation. */
export interface MetaOptions {
  readonly namespaced: boolean
  readonly nameRule: NameRule
  /** The path of the metadata. The default is `metadata`. */
  readonly path?: string
}

/** Validates the metadata of a new object after its name was generated. */
export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, nameRule, path = 'metadata' }: MetaOptions,
): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0, finalizers = [] } = meta
  const errors: FieldError[] = []
  const complain = (field: string, value: string, messages: readonly string[]) => {
    for (const message of messages) errors.push(fieldErrors.invalid(`${path}.${field}`, value, message))
  }
  if (generateName !== '') complain('generateName', generateName, nameErrors(generateName, nameRule, true))
  if (name === '') errors.push(fieldErrors.required(`${path}.name`, 'name or generateName is required'))
  else complain('name', name, nameErrors(name, nameRule))
  if (namespaced && namespace === '') errors.push(fieldErrors.required(`${path}.namespace`))
  else if (namespaced) complain('namespace', namespace, nameErrors(namespace, 'dnsLabel'))
  else if (namespace !== '') errors.push(fieldErrors.forbidden(`${path}.namespace`, 'not allowed on this type'))
  if (generation < 0) complainNumber(errors, `${path}.generation`, generation)
  append(errors, labelErrors(meta, path))
  append(errors, annotationErrors(meta, path))
  append(errors, ownerErrors(meta, path))
  append(errors, finalizerErrors(finalizers, `${path}.finalizers`))
  append(errors, managedFieldsErrors(meta, path))
  return errors
}

/** Validates an update of metadata. Fields that the server sets must be carried over before. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) append(errors, newFinalizerErrors(meta, old, path))
  if (!meta.resourceVersion) {
    errors.push(fieldErrors.invalid(`${path}.resourceVersion`, '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(fieldErrors.invalid(`${path}.generation`, meta.generation ?? 0, 'must not be decremented'))
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    const value = meta[field] ?? ''
    if (value !== (old[field] ?? '')) errors.push(immutable(`${path}.${field}`, value))
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    const value = meta[field] ?? null
    if (value !== (old[field] ?? null)) errors.push(immutable(`${path}.${field}`, value))
  }
  append(errors, labelErrors(meta, path))
  append(errors, annotationErrors(meta, path))
  append(errors, ownerErrors(meta, path))
  append(errors, managedFieldsErrors(meta, path))
  return errors
}

/** Returns warnings about added finalizers that are not qualified by a domain. */
export function finalizerWarnings(meta: ObjectMeta, old?: ObjectMeta): string[] {
  if (!meta.finalizers || meta.finalizers === old?.finalizers) return []
  const before = new Set(old?.finalizers ?? [])
  const added = [...new Set(meta.finalizers ?? [])].filter((name) => !before.has(name)).sort()
  return added.flatMap((name) => {
    const texts = isQualifiedName(name)
    if (!name.includes('/') && !standardFinalizers.has(name)) {
      const path = name.includes('.') ? ' including a path (/)' : ''
      texts.push(
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      )
    }
    return texts.map((text) => `metadata.finalizers: ${quote(name)}: ${text}`)
  })
}

const standardFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

function complainNumber(errors: FieldError[], field: string, value: number): void {
  errors.push(fieldErrors.invalid(field, value, 'must be greater than or equal to 0'))
}

function immutable(field: string, value: unknown): FieldError {
  return fieldErrors.invalid(field, value, 'field is immutable')
}

function labelErrors({ labels = {} }: ObjectMeta, path: string): FieldError[] {
  return validateLabels(labels, `${path}.labels`)
}

/** Validates labels. */
export function validateLabels(labels: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key in labels) {
    const value = labels[key]!
    for (const message of isQualifiedName(key)) errors.push(fieldErrors.invalid(path, key, message))
    for (const message of isValidLabelValue(value)) errors.push(fieldErrors.invalid(path, value, message))
  }
  return errors
}

function annotationErrors({ annotations = {} }: ObjectMeta, path: string): FieldError[] {
  return validateAnnotations(annotations, `${path}.annotations`)
}

/** Validates annotations: their keys and their total size. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key in annotations) {
    size += utf8Length(key) + utf8Length(annotations[key]!)
    for (const message of isQualifiedName(key.toLowerCase())) errors.push(fieldErrors.invalid(field, key, message))
  }
  if (size > annotationsLimit) errors.push(fieldErrors.tooLong(field, '', annotationsLimit))
  return errors
}

function ownerErrors({ ownerReferences = [] }: ObjectMeta, path: string): FieldError[] {
  const errors: FieldError[] = []
  const field = `${path}.ownerReferences`
  let controller = ''
  let all: Printed | undefined
  for (const reference of ownerReferences) {
    append(errors, ownerReferenceErrors(reference, field))
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === '') controller = name
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      // Printed once, since the error of each controller contains the whole list.
      all ??= new Printed(`[${ownerReferences.map(printOwner).join(',')}]`)
      errors.push(fieldErrors.invalid(field, all, detail))
    }
  }
  return errors
}

function ownerReferenceErrors(reference: OwnerReference, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  const parsed = parseApiVersion(apiVersion)
  if (!parsed?.version) {
    errors.push(fieldErrors.invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'))
  }
  for (const [key, value] of Object.entries({ kind, name, uid })) {
    if (value === '') errors.push(fieldErrors.invalid(`${field}.${key}`, value, 'must not be empty'))
  }
  if (apiVersion === 'v1' && kind === 'Event') {
    const detail = '/v1, Kind=Event is disallowed from being an owner'
    errors.push(fieldErrors.invalid(field, new Printed(printOwner(reference)), detail))
  }
  return errors
}

function printOwner({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  const fields = Object.entries({ apiVersion, kind, name, uid, controller, blockOwnerDeletion })
  const written = fields.filter(([, value]) => value !== undefined)
  return `{${written.map(([key, value]) => `"${key}":${printJson(value)}`).join(',')}}`
}

function finalizerErrors(finalizers: readonly string[], field: string): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    isQualifiedName(name).map((message) => fieldErrors.invalid(field, name, message)),
  )
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.push(fieldErrors.invalid(field, finalizers, detail))
  }
  return errors
}

function newFinalizerErrors(meta: ObjectMeta, old: ObjectMeta, path: string): FieldError[] {
  const before = new Set(old.finalizers ?? [])
  const added = [...new Set(meta.finalizers ?? [])].filter((name) => !before.has(name)).sort()
  if (added.length === 0) return []
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(quote).join(', ')}}`
  return [fieldErrors.forbidden(`${path}.finalizers`, detail)]
}

function managedFieldsErrors({ managedFields = [] }: ObjectMeta, path: string): FieldError[] {
  return managedFields.flatMap((entry, i) => managedFieldsEntryErrors(entry, `${path}.managedFields[${i}]`))
}

function managedFieldsEntryErrors(entry: ManagedFieldsEntry, path: string): FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
  const errors: FieldError[] = []
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(fieldErrors.invalid(`${path}.operation`, operation, 'must be `Apply` or `Update`'))
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.push(fieldErrors.invalid(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
  }
  append(errors, validateFieldManager(manager, `${path}.manager`))
  if (utf8Length(subresource) > 256) errors.push(fieldErrors.tooLong(`${path}.subresource`, '', 256))
  return errors
}

/** Validates the name of a field manager: at most 128 bytes, all printable. */
function validateFieldManager(manager: string, field: string): FieldError[] {
  if (manager.length <= 128 && /^[ -~]*$/.test(manager)) return []
  const errors: FieldError[] = []
  if (utf8Length(manager) > 128) errors.push(fieldErrors.tooLong(field, '', 128))
  let position = 0
  for (const rune of manager) {
    if (!printable(rune)) {
      const code = rune.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      errors.push(fieldErrors.invalid(field, manager, `invalid character U+${code} (at position ${position})`))
    }
    position += utf8Length(rune)
  }
  return errors
}
