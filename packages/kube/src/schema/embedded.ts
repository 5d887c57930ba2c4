import { isDNS1035Label } from '@crosstie/cel/kubernetes'
import { append } from '../arrays.js'
import { type FieldError, fieldErrors } from '../errors.js'
import { getOwn } from '../json.js'
import { decodeMeta } from '../metadata/decode.js'
import { validateObjectMeta } from '../metadata.js'
import { type SchemaNode, someEmbeddedResource } from './node.js'

/** Validates embedded resources: they must have apiVersion, kind and valid metadata. */
export function embeddedErrors(value: unknown, node: SchemaNode, root: boolean, path = ''): FieldError[] {
  const errors: FieldError[] = []
  if (root || node.holds(someEmbeddedResource)) walk(value, node, root || node.embedded, path, errors)
  return errors
}

function walk(
  value: unknown,
  node: SchemaNode | undefined,
  embedded: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = node
    if (!items?.holds(someEmbeddedResource)) return
    value.forEach((item, i) => {
      walk(item, items, items.embedded, `${path}[${i}]`, errors)
    })
    return
  }
  const object = value as Record<string, unknown>
  if (embedded) append(errors, resourceErrors(object, path))
  for (const key in object) {
    const declared = node.property(key)
    const child = declared ?? node.additional
    if (!child?.holds(someEmbeddedResource)) continue
    walk(object[key], child, child.embedded, declared ? childPath(path, key) : `${path}[${key}]`, errors)
  }
}

function resourceErrors(object: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = []
  const apiVersion = getOwn(object, 'apiVersion')
  const kind = getOwn(object, 'kind')
  const at = (key: string) => childPath(path, key)
  if (apiVersion === undefined) errors.push(fieldErrors.required(at('apiVersion')))
  if (kind === undefined) errors.push(fieldErrors.required(at('kind')))
  if (apiVersion !== undefined) append(errors, apiVersionErrors(apiVersion, at('apiVersion')))
  if (kind !== undefined) append(errors, kindErrors(kind, at('kind')))
  const metadata = getOwn(object, 'metadata')
  if (metadata !== undefined) append(errors, metadataErrors(metadata, at('metadata')))
  return errors
}

function apiVersionErrors(value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return [fieldErrors.invalid(path, value, 'must be a string')]
  if (value === '') return [fieldErrors.invalid(path, value, 'must not be empty')]
  if (value.split('/').length <= 2) return []
  return [fieldErrors.invalid(path, value, `unexpected GroupVersion string: ${value}`)]
}

function kindErrors(value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return [fieldErrors.invalid(path, value, 'must be a string')]
  if (value === '') return [fieldErrors.invalid(path, value, 'must not be empty')]
  const messages = isDNS1035Label(value.toLowerCase())
  if (messages.length === 0) return []
  const detail = `may have mixed case, but should otherwise match: ${messages.join(',')}`
  return [fieldErrors.invalid(path, value, detail)]
}

function metadataErrors(value: unknown, path: string): FieldError[] {
  const { meta, error } = decodeMeta(value)
  if (!meta) return [fieldErrors.invalid(path, value, error!)]
  // A template does not have a name yet.
  const named = meta['name'] === undefined ? { ...meta, name: 'fakename' } : meta
  return validateObjectMeta(named, { namespaced: meta['namespace'] !== undefined, nameRule: 'pathSegment', path })
}

const childPath = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)
