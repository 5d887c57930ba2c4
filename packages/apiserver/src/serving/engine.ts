import type { Clock, KubeObject, ResourceType } from '@crosstie/kube'
import type { Authorizer } from '../access/authorize.js'
import type { UserInfo } from '../access/user.js'
import type { Store } from '../store/store.js'
import type { Hub } from '../watch/hub.js'
import type { KindRegistry } from './registry.js'

/** The shared state of all verbs. A server has one. */
export interface Engine {
  readonly store: Store
  readonly registry: KindRegistry
  readonly hub: Hub
  readonly clock: Clock
  readonly admission: Admission
  readonly authorizer: Authorizer
}

/** A write as admission reviews it. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly type: ResourceType
  /** The kind of the objects when it differs from that of the resource: Scale, TokenRequest. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly subresource: string
  readonly name: string
  readonly namespace: string
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly options: Readonly<Record<string, unknown>>
  readonly dryRun: boolean
  readonly user: UserInfo
  readonly warnings: string[]
  /** For the audit log, if there is one. */
  readonly annotations?: Map<string, string>
}

/** Webhooks and policies, which may change or refuse a write. */
export interface Admission {
  /** A cheap check whether any webhook or policy exists. Without one, nothing is awaited. */
  interested(type: ResourceType): boolean
  /** Returns the object after mutation. Throws to refuse the write. */
  mutate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<KubeObject | undefined>
  /** Throws to refuse the write. */
  validate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<void>
}
