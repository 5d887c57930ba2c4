import type { Client, KubeObject } from '@crosstie/kube'
import type { Binding, ClaimKind } from '../claim/define.js'
import type { ManagedKind } from './define.js'
import { checkTogether } from './patterns.js'

/** What a package of kinds brings to a control plane. Its module exports it as `provider`. */
export interface Provider {
  /** What people choose it by: `aws`, `sql`. */
  readonly name: string
  readonly summary: string
  readonly kinds: readonly ManagedKind[]
  /** Kinds of claims beside those that are always there. */
  readonly claims?: readonly ClaimKind[]
  /** What may meet which claims. */
  readonly bindings?: readonly Binding[]
  /** ClusterRoles and ClusterRoleBindings that belong to the provider, for identities other than the controllers'. */
  readonly roles?: readonly KubeObject[]
  /** Rights that the controllers need in their cluster beside those on the provider's kinds. */
  readonly rights?: readonly ProviderRight[]
  /**
   * Brings what its kinds can work with out of the box on a control plane of
   * one process: a server of its own, a ProviderConfig `default`. Called when
   * the definitions are served; what it returns is disposed of at the end.
   */
  start?(host: ProviderHost): Promise<StartedProvider>
}

/** One rule of an RBAC role. */
export interface ProviderRight {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Absent: all objects. */
  readonly resourceNames?: readonly string[]
}

export interface ProviderHost {
  readonly client: Client
  /** A folder for this provider alone; it may not exist yet. */
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  readonly signal: AbortSignal
}

export interface StartedProvider extends AsyncDisposable {
  /** One line for people: what was started where. */
  readonly summary: string
}

export function defineProvider(provider: Provider): Provider {
  checkTogether(provider.kinds)
  return provider
}
