import type { Controller } from '@crosstie/controller'
import type { Client, KubeObject } from '@crosstie/kube'
import type { Binding, ClaimKind } from './claim.js'
import type { ManagedKind } from './managed.js'
import { checkTogether } from './patterns.js'

/** A package of kinds for a control plane. The module of a provider exports it as `provider`. */
export interface Provider {
  /** The short name that selects the provider: `aws`, `sql`. */
  readonly name: string
  readonly summary: string
  readonly kinds: readonly ManagedKind[]
  /** Kinds of claims in addition to the predefined ones. */
  readonly claims?: readonly ClaimKind[]
  /** The bindings of managed kinds to kinds of claims. */
  readonly bindings?: readonly Binding[]
  /** ClusterRoles and ClusterRoleBindings of the provider, for identities other than the controllers. */
  readonly roles?: readonly KubeObject[]
  /** Permissions that the controllers need in the cluster in addition to those on the kinds of the provider. */
  readonly rights?: readonly ProviderRight[]
  /**
   * Starts a default environment for the kinds on a single-process control plane, such as a local server and a
   * ProviderConfig `default`. Called after the CRDs are served. The result is disposed of when the control plane
   * stops.
   */
  start?(host: ProviderHost): Promise<StartedProvider>
  /** CustomResourceDefinitions that the provider needs in addition to those of its kinds. */
  readonly definitions?: readonly KubeObject[]
  /**
   * Returns controllers that may add and remove kinds while they run. Called in every process that runs
   * controllers, after the CRDs are served.
   */
  run?(host: RuntimeHost): ProviderRuntime
  /**
   * Returns the kinds that were added at run time to the control plane of the client. Commands such as `plan` use
   * them to observe external resources. Disposing of the result releases its resources.
   */
  runtimeKinds?(host: ObserverHost): Promise<ObservedKinds>
}

/** The environment of a command, for a provider that adds kinds at run time. */
export interface ObserverHost {
  readonly client: Client
  /** Command line options for this provider. */
  readonly settings: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Kinds of a running control plane, and the reasons why others are missing. */
export interface ObservedKinds extends AsyncDisposable {
  readonly kinds: readonly ManagedKind[]
  readonly problems: readonly string[]
}

/** The control plane, for a provider that adds kinds at run time. */
export interface RuntimeHost extends ObserverHost {
  /** The namespace in which the controllers store their own objects. */
  readonly namespace: string
  readonly events: { event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void }
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** Returns whether this process, among several that share the objects, writes the status of the named object. */
  reportsOn(name: string): boolean
  /**
   * Replaces the kinds of one owner. Writes their CRDs and starts their controllers. Stops the controllers of kinds
   * that are no longer listed; their CRDs stay. Returns the kinds that could not be started; the others run. An
   * added kind can satisfy every kind of claim.
   */
  setKinds(owner: string, kinds: readonly ManagedKind[]): Promise<readonly KindFailure[]>
}

/** A kind that could not be added, and the reason. */
export interface KindFailure {
  readonly kind: ManagedKind
  readonly message: string
}

/** The controllers of a provider. It is disposed of after they have stopped. */
export interface ProviderRuntime extends AsyncDisposable {
  readonly controllers: readonly Controller[]
}

/** One rule of an RBAC role. */
export interface ProviderRight {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Defaults to all objects. */
  readonly resourceNames?: readonly string[]
}

/** The environment in which a provider starts. */
export interface ProviderHost {
  readonly client: Client
  /** A directory for this provider only. It may not exist yet. */
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  readonly signal: AbortSignal
}

/** A server or other resource that a provider started. It is disposed of when the control plane stops. */
export interface StartedProvider extends AsyncDisposable {
  /** One line that states what was started, and where. */
  readonly summary: string
}

/**
 * Checks that the kinds of a provider fit together and returns the provider.
 *
 * @throws DefinitionError if two kinds of the provider contradict each other
 *
 * @example
 * ```ts
 * import { defineProvider, type ManagedKind } from '@crosstie/resources/provider'
 *
 * declare const bucketKind: ManagedKind
 *
 * export const provider = defineProvider({
 *   name: 'example',
 *   summary: 'Buckets of example.org',
 *   kinds: [bucketKind],
 * })
 * ```
 */
export function defineProvider(provider: Provider): Provider {
  checkTogether(provider.kinds)
  return provider
}
