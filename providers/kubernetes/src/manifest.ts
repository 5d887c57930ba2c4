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

/** The text that replaces hidden values. */
export const HIDDEN = '<hidden>'

/** The annotation in which kubectl keeps a copy of the whole object, including Secrets. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The identity of the object in a manifest. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  readonly key: ObjectKey
}

/** Returns the identity of a manifest. The name defaults to the external name. Throws if the manifest is incomplete. */
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

/** Rejects a change of the target of an existing Object, since its current target would be left behind. */
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

/** Fields that the server sets. */
const serverFields = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation', 'selfLink']

/** Returns the part of a manifest that can be applied. Users paste the output of `kubectl get -o yaml`. */
export function applicable(manifest: JsonObject, key: ObjectKey): JsonObject {
  const { status: _, metadata, ...rest } = manifest
  const given = isObject(metadata) ? (metadata as JsonObject) : {}
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !serverFields.includes(name)))
  return { ...rest, metadata: { ...kept, ...key } as unknown as JsonObject }
}

/**
 * Returns a live object for the status: without server fields, and without the values of Secrets and of `hidden`
 * paths.
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

/** A parsed field path. */
export type Path = readonly Segment[]

/** Returns the paths of the values of a Secret. */
export function secretPaths(object: JsonObject): readonly Path[] {
  if (object['apiVersion'] !== 'v1' || object['kind'] !== 'Secret') return []
  return ['data', 'stringData'].flatMap((field) => {
    const values = object[field]
    return isObject(values) ? Object.keys(values).map((key) => [{ field }, { field: key }]) : []
  })
}

/** Returns all texts of a Secret that must not be disclosed, plain and encoded. */
export function secretTexts(object: JsonObject): readonly string[] {
  return secretPaths(object).flatMap((path) => {
    const value = findFieldValue(object, path)
    if (typeof value !== 'string') return []
    return 'field' in path[0]! && path[0].field === 'data' ? [value, decoded(value)] : [value]
  })
}

/** Decodes base64. */
export const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
