import { apiVersionOf, equal, isObject, type KubeObject, setOwn } from '@crosstie/kube'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * Applies fields of the spec with server-side apply, under a field manager that only this controller uses. An apply
 * contains all fields of its manager, so fields that the manager already owns are included. The apply carries the
 * resourceVersion: it fails with a conflict if the object was written since it was read, so `force` cannot take a
 * field from a user who has just set it.
 */
export async function applyOwn(reconciliation: Reconciliation, manager: string, added: Values): Promise<KubeObject> {
  const { runtime, managed } = reconciliation
  const spec = merge(ownedSpec(managed, manager), added)
  const { name, namespace, resourceVersion } = managed.metadata
  const object = {
    apiVersion: apiVersionOf(runtime.kind.type),
    kind: runtime.kind.type.kind,
    metadata: { name: name!, ...(namespace ? { namespace } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
    spec,
  }
  return await runtime.client.apply(runtime.kind.type, object, {
    fieldManager: manager,
    force: true,
    signal: reconciliation.signal,
  })
}

/** Reports whether the manager owns the field of the spec. */
export function ownsField(object: KubeObject, manager: string, path: readonly string[]): boolean {
  let owned = ownedFields(object, manager)
  for (const name of path) owned = isObject(owned) ? owned[`f:${name}`] : undefined
  return owned !== undefined
}

function ownedFields(object: KubeObject, manager: string): unknown {
  const entry = object.metadata.managedFields?.find(
    (m) => m.manager === manager && m.operation === 'Apply' && !m.subresource,
  )
  return isObject(entry?.fieldsV1) ? entry.fieldsV1['f:spec'] : undefined
}

/** Returns the part of the spec that the manager owns, with its current values. */
function ownedSpec(object: KubeObject, manager: string): Values {
  const owned = ownedFields(object, manager)
  return owned ? ((pick(object['spec'], owned) ?? {}) as Values) : {}
}

function pick(value: unknown, owned: unknown): unknown {
  if (!isObject(owned)) return value
  if (Array.isArray(value)) return pickItems(value, owned)
  const fields = Object.keys(owned).filter((key) => key.startsWith('f:'))
  if (fields.length === 0 || !isObject(value)) return value
  const picked: Record<string, unknown> = {}
  for (const key of fields) {
    const name = key.slice(2)
    if (value[name] !== undefined) setOwn(picked, name, pick(value[name], owned[key]))
  }
  return picked
}

/** Returns the items of a keyed list that the manager owns. An apply with other items would take ownership of them. */
function pickItems(items: readonly unknown[], owned: Values): readonly unknown[] {
  const keys = Object.keys(owned).filter((key) => key.startsWith('k:'))
  if (keys.length === 0) return items
  return items.filter((item) =>
    keys.some((key) => {
      const wanted = JSON.parse(key.slice(2)) as Values
      return isObject(item) && Object.entries(wanted).every(([name, value]) => equal(item[name], value))
    }),
  )
}

function merge(base: Values, added: Values): Values {
  const merged: Record<string, unknown> = { ...base }
  for (const key of Object.keys(added)) {
    const [held, more] = [base[key], added[key]]
    setOwn(merged, key, isObject(held) && isObject(more) ? merge(held, more) : more)
  }
  return merged
}
