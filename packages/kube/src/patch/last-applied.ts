import { isObject } from '../json.js'
import type { KubeObject } from '../object.js'
import { compare } from './compare.js'
import { difference, EMPTY, elementJson, type FieldSet } from './field-set.js'
import { type ManagedType, UnfitError } from './managed-type.js'
import { appliedFields } from './managed-value.js'
import { validate } from './validate.js'

/** Where `kubectl apply` without --server-side keeps what it applied. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const ANNOTATIONS_BYTES_MAX = 256 * 1024

type Values = Readonly<Record<string, unknown>>

/**
 * The fields that a client-side apply set and that still have the value it set: server-side apply by the same tool
 * may take them over. Undefined when the annotation does not tell.
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
    if (error instanceof UnfitError) return undefined
    throw error
  }
}

/** Keeps the annotation up to date where it exists, so that a later client-side apply starts from what was applied. */
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

/** The applied object as Go's encoder writes it, without the annotation itself. */
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
