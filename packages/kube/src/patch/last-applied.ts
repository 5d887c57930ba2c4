import { isObject } from '../json.js'
import type { KubeObject } from '../object.js'
import { compare } from './compare.js'
import { difference, EMPTY, elementJson, type FieldSet } from './field-set.js'
import { type ManagedType, SchemaMismatchError } from './managed-type.js'
import { appliedFields } from './managed-value.js'
import { validate } from './validate.js'

/** The annotation in which `kubectl apply` without --server-side stores the applied object. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const ANNOTATIONS_BYTES_MAX = 256 * 1024

type Values = Readonly<Record<string, unknown>>

/**
 * Returns the fields that a client-side apply set and that still have that value: server-side apply by the same
 * tool may take them over. Returns undefined if the annotation is missing or invalid.
 */
export function allowedByLastApplied(type: ManagedType, live: KubeObject, version: string): FieldSet | undefined {
  const annotation = live.metadata?.annotations?.[LAST_APPLIED]
  if (!annotation) return undefined
  let applied: unknown
  try {
    applied = JSON.parse(annotation)
  } catch {
    return undefined
  }
  if (!isObject(applied) || !applied['kind'] || applied['apiVersion'] !== version) return undefined
  try {
    validate(type, live, 'refused')
    validate(type, applied, 'refused')
    const changes = compare(type, applied, live) ?? {}
    return [changes.modified, changes.added, changes.removed].reduce(
      (set: FieldSet, gone) => difference(set, gone ?? EMPTY),
      appliedFields(type, applied),
    )
  } catch (error) {
    if (error instanceof SchemaMismatchError) return undefined
    throw error
  }
}

/** Updates the annotation if it exists, so that a later client-side apply starts from the applied object. */
export function refreshLastApplied(object: KubeObject, applied: Values): KubeObject {
  const annotations = object.metadata?.annotations
  if (!annotations?.[LAST_APPLIED]) return object
  const refreshed: Record<string, string> = { ...annotations, [LAST_APPLIED]: configuration(applied) }
  if (bytes(refreshed) > ANNOTATIONS_BYTES_MAX) delete refreshed[LAST_APPLIED]
  else if (refreshed[LAST_APPLIED] === annotations[LAST_APPLIED]) return object
  return { ...object, metadata: { ...object.metadata, annotations: refreshed } }
}

function bytes(annotations: Readonly<Record<string, string>>): number {
  return Object.entries(annotations).reduce((sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v), 0)
}

/** Returns the applied object as Go's encoder writes it, without the annotation itself. */
function configuration(applied: Values): string {
  const meta = applied['metadata']
  if (!isObject(meta) || !isObject(meta['annotations'])) return `${encode(applied)}\n`
  const { [LAST_APPLIED]: _, ...annotations } = meta['annotations']
  return `${encode({ ...applied, metadata: { ...meta, annotations } })}\n`
}

function encode(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(encode).join(',')}]`
  if (!isObject(value)) return elementJson(value)
  const keys = Object.keys(value).filter((key) => value[key] !== undefined)
  return `{${keys
    .sort()
    .map((key) => `${elementJson(key)}:${encode(value[key])}`)
    .join(',')}}`
}
