import type { Clock, KubeObject, ResourceType } from '@crosstie/kube'
import type { Authorizer } from '../access/authorize.js'
import type { UserInfo } from '../access/user.js'
import type { Store } from '../store/store.js'
import type { Hub } from '../watch/hub.js'
import type { KindRegistry } from './registry.js'

/** What every verb works with: one per server. */
export interface Engine {
  readonly store: Store
  readonly registry: KindRegistry
  readonly hub: Hub
  readonly clock: Clock
  readonly admission: Admission
  readonly authorizer: Authorizer
}

export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly type: ResourceType
  /** The kind of the objects where it is not that of the resource: Scale, TokenRequest. */
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
  /** For the audit log, where one is kept. */
  readonly annotations?: Map<string, string>
}

/** Those outside the server who may change or refuse a write: webhooks and policies. */
export interface Admission {
  /** Asked first, and cheap: when nobody is interested, nothing is awaited. */
  interested(type: ResourceType): boolean
  /** The object to go on with. */
  mutate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<KubeObject | undefined>
  /** Throws to refuse. */
  validate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<void>
}
