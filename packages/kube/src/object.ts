import type { Json } from './json.js'

/**
 * Any Kubernetes object. Objects are values: stored and returned objects are shared between readers and must not be
 * changed. Writers create new objects.
 */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** The metadata of an object. */
export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
  readonly selfLink?: string
}

/** A reference to an owner. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** An entry of managedFields. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: Json
  readonly subresource?: string
}

/** The metadata of a list. */
export interface ListMeta {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** A list of objects. */
export interface KubeList<T extends KubeObject = KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/** The name and namespace of an object. A cluster-scoped object does not have a namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

/** The fields of an object's status. Absent fields are undefined, also when the object has no status. */
export const statusOf = <T extends object>(object: KubeObject): Partial<T> => (object['status'] ?? {}) as Partial<T>

/** The name of an object that a server returned. Throws when the object has none. */
export function nameOf({ kind, metadata: { name } }: KubeObject): string {
  if (name === undefined) throw new Error(`an object of kind ${kind} has no name`)
  return name
}
