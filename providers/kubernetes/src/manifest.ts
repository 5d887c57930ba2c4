import {
  findFieldValue,
  isObject,
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  parseApiVersion,
  type Segment,
  setFieldValue,
} from '@crosstie/kube'

export const HIDDEN = '<hidden>'

/** What kubectl keeps there is a copy of the whole object, Secrets included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Which object a manifest is about. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  readonly key: ObjectKey
}

/** Whom the manifest means; its name may be left to the external name. Throws when it does not say enough. */
export function identityOf(manifest: JsonObject | undefined, managed: KubeObject, externalName: string): Identity {
  if (!isObject(manifest)) {
    throw new Error('spec.forProvider.manifest is missing: give at least its apiVersion, kind and metadata')
  }
  const { apiVersion, kind } = manifest
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '') {
    throw new Error('spec.forProvider.manifest must have an apiVersion and a kind')
  }
  const metadata = isObject(manifest['metadata']) ? manifest['metadata'] : {}
  const named = typeof metadata['name'] === 'string' ? metadata['name'] : undefined
  const { namespace } = metadata
  if (named && externalName !== named && externalName !== managed.metadata.name) {
    throw new Error(
      `spec.forProvider.manifest names ${kind} "${named}", but the external name of this Object is "${externalName}": make them the same, or make another Object`,
    )
  }
  const key = { name: named ?? externalName, ...(typeof namespace === 'string' && namespace ? { namespace } : {}) }
  return { apiVersion, kind, key }
}

/** Objects that make things must not be turned towards other things: what they made would be left behind. */
export function refuseRetarget({ apiVersion, kind, key }: Identity, managed: KubeObject): void {
  const { managementPolicies = ['*'] } = (managed['spec'] ?? {}) as { managementPolicies?: readonly string[] }
  if (managementPolicies.every((policy) => policy === 'Observe')) return
  const status = managed['status'] as { atProvider?: { manifest?: KubeObject } } | undefined
  const held = status?.atProvider?.manifest
  if (!held?.kind) return
  const group = (text: string) => parseApiVersion(text)?.group
  const { name, namespace } = held.metadata
  if (
    group(held.apiVersion) === group(apiVersion) &&
    held.kind === kind &&
    name === key.name &&
    (namespace ?? '') === (key.namespace ?? '')
  ) {
    return
  }
  const text = (what: string, where: string | undefined, who: string | undefined) =>
    `${what} ${where ? `${where}/` : ''}${who}`
  throw new Error(
    `this Object manages ${text(held.kind, namespace, name)}, and spec.forProvider.manifest now names ${text(kind, key.namespace, key.name)}: make another Object for that one and delete this one`,
  )
}

/** Fields that a server writes, whoever sends them. */
const serverFields = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation', 'selfLink']

/** What may be applied of a manifest: people paste what `kubectl get -o yaml` printed. */
export function applicable(manifest: JsonObject, key: ObjectKey): JsonObject {
  const { status: _, metadata, ...rest } = manifest
  const given = isObject(metadata) ? (metadata as JsonObject) : {}
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !serverFields.includes(name)))
  return { ...rest, metadata: { ...kept, ...key } as unknown as JsonObject }
}

/**
 * A live object as the status may show it: without bookkeeping, and with the
 * values of Secrets and those at `hidden` paths left out.
 */
export function shown(live: KubeObject, hidden: readonly Path[]): JsonObject {
  const { managedFields: _, resourceVersion: __, annotations = {}, ...metadata } = live.metadata
  const kept = Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED)
  let object = {
    ...live,
    metadata: { ...metadata, ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}) },
  } as unknown as JsonObject
  for (const path of [...hidden, ...secretPaths(object)]) {
    if (findFieldValue(object, path) !== undefined) object = setFieldValue(object, path, HIDDEN)
  }
  return object
}

export type Path = readonly Segment[]

/** Where a Secret keeps its values. */
export function secretPaths(object: JsonObject): readonly Path[] {
  if (object['apiVersion'] !== 'v1' || object['kind'] !== 'Secret') return []
  return ['data', 'stringData'].flatMap((field) => {
    const values = object[field]
    return isObject(values) ? Object.keys(values).map((key) => [{ field }, { field: key }]) : []
  })
}

/** Every text of a Secret that must not be told, as it is and as it is encoded. */
export function secretTexts(object: JsonObject): readonly string[] {
  return secretPaths(object).flatMap((path) => {
    const value = findFieldValue(object, path)
    if (typeof value !== 'string') return []
    return 'field' in path[0]! && path[0].field === 'data' ? [value, decoded(value)] : [value]
  })
}

export const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
