import type { Json } from './json.js'

/**
 * Any Kubernetes object. Objects are values: once stored or handed out they are
 * shared between readers and never changed; a writer makes a new one.
 */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

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

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: Json
  readonly subresource?: string
}

export interface ListMeta {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface KubeList<T extends KubeObject = KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/** Names one object of a kind. A cluster-scoped object has no namespace. */
export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}
