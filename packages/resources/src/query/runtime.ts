import type { Client, Clock, KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import type { QueryKind } from '../definition/query.js'
import type { UsageTracker } from '../providerconfig/use.js'
import type { EventReporter } from '../status/events.js'
import type { ProviderAccess } from './list-external.js'

/** The dependencies of the controller of queries of one kind. */
export interface QueryRuntime {
  readonly kind: ManagedKind
  readonly query: QueryKind
  readonly client: Client
  readonly reach: ProviderAccess
  readonly events: EventReporter
  readonly clock: Clock
  readonly usages: UsageTracker | undefined
}

type Strings = Readonly<Record<string, string>>

/** The spec of a query. */
export interface QuerySpec {
  readonly forProvider?: Readonly<Record<string, unknown>>
  readonly providerConfigRef?: { readonly name: string }
  readonly filter?: { readonly matchFields?: Strings; readonly expression?: string }
  readonly limit?: number
  readonly refreshInterval?: string
  readonly template?: { readonly metadata?: { readonly labels?: Strings; readonly annotations?: Strings } }
}

/** Returns the spec of a query. */
export const specOf = (query: KubeObject): QuerySpec => (query['spec'] ?? {}) as QuerySpec
