import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import type { ManagedFieldsEntry } from '../object.js'
import { FieldManager } from './field-manager.js'
import { difference, fieldElement, has, isEmpty, singleton } from './field-set.js'
import { decodeManagers, encodeManagers, type Managers } from './managers.js'

const SCALE = 'autoscaling/v1'
const replicasInScale = [fieldElement('spec'), fieldElement('replicas')]

const scaleSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
}

/** Tracks the managers of a Scale. It is the same for all scaled kinds. */
export const scaleFieldManager = new FieldManager({
  kind: 'Scale',
  versions: { [SCALE]: scaleSchema },
  empty: { metadata: { creationTimestamp: null }, spec: {}, status: { replicas: 0 } },
})

/**
 * The path of the replicas in each version of a kind, such as `.spec.replicas`. Undefined for a version without a
 * scale subresource.
 */
export type ReplicasPaths = Readonly<Record<string, string | undefined>>

type Entries = readonly ManagedFieldsEntry[] | undefined

/**
 * Returns the managedFields of a Scale: the owners of the replicas of its object. Throws a FieldSetError for
 * invalid entries.
 */
export function managedFieldsOfScale(entries: Entries, replicas: ReplicasPaths): Entries {
  const shown: Managers = new Map()
  for (const [id, { entry: _, ...holding }] of decodeManagers(entries)) {
    const path = elements(replicas[holding.version])
    if (path && has(holding.set, path)) {
      shown.set(id, { ...holding, version: SCALE, set: singleton(replicasInScale) })
    }
  }
  return encodeManagers(shown)
}

/**
 * Returns the managedFields of an object whose Scale was written. Managers that lost the replicas of the Scale lose
 * them in the object; managers that gained them gain them. `version` is that of the request.
 */
export function managedFieldsFromScale(
  entries: Entries,
  scaleEntries: Entries,
  replicas: ReplicasPaths,
  version: string,
): Entries {
  const scale = decodeManagers(scaleEntries)
  const parents = decodeManagers(entries)
  const result: Managers = new Map()
  for (const [id, holding] of parents) {
    // Entries of a removed version are dropped.
    if (!Object.hasOwn(replicas, holding.version)) continue
    const path = elements(replicas[holding.version])
    const stolen = path !== undefined && has(holding.set, path) && !scale.has(id)
    if (!stolen) {
      result.set(id, holding)
      if (path && has(holding.set, path)) scale.delete(id)
      continue
    }
    const { entry: _, ...rest } = holding
    const set = difference(holding.set, singleton(path))
    if (!isEmpty(set)) result.set(id, { ...rest, set })
  }
  const path = elements(replicas[version])
  for (const [id, { entry: _, ...holding }] of scale) {
    if (!path || !has(holding.set, replicasInScale)) continue
    result.set(id, { ...holding, version, time: parents.get(id)?.time, set: singleton(path) })
  }
  return encodeManagers(result)
}

function elements(path: string | undefined): readonly string[] | undefined {
  return path?.replace(/^\./, '').split('.').map(fieldElement)
}
