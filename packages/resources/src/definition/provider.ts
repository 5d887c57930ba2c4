import type { Controller } from '@crosstie/controller'
import type { Client, KubeObject } from '@crosstie/kube'
import type { Binding, ClaimKind } from './claim.js'
import type { ManagedKind } from './managed.js'
import { checkTogether } from './patterns.js'

/** A package of kinds for a control plane. The module of a provider exports it as `provider`. */
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
  /** CustomResourceDefinitions that the provider needs beside those of its kinds. */
  readonly definitions?: readonly KubeObject[]
  /**
   * Returns controllers that may add and remove kinds while they run. Called in every process that runs controllers, when
   * the definitions are served.
   */
  run?(host: RuntimeHost): ProviderRuntime
  /**
   * The kinds that were added at run time to the control plane that the client leads to, for commands such as `plan` that
   * observe external resources themselves. Disposing of the result ends what it started.
   */
  runtimeKinds?(host: ObserverHost): Promise<ObservedKinds>
}

/** The surroundings of a command, for a provider that has kinds at run time. */
export interface ObserverHost {
  readonly client: Client
  /** Options of the command line for this provider. */
  readonly settings: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Kinds of a running control plane, and why others are missing. */
export interface ObservedKinds extends AsyncDisposable {
  readonly kinds: readonly ManagedKind[]
  readonly problems: readonly string[]
}

/** The control plane, for a provider that adds kinds at run time. */
export interface RuntimeHost extends ObserverHost {
  /** The namespace in which controllers keep what is their own. */
  readonly namespace: string
  readonly events: { event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void }
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** Whether this process, among several that share the objects, writes the status of the object with this name. */
  reportsOn(name: string): boolean
  /**
   * Replaces the kinds of one owner. Their definitions are written, and their controllers started; controllers of kinds that
   * are left out are stopped, and their definitions stay. Kinds that could not be started are returned; others run. Every
   * kind of claim can be met by a kind that is added.
   */
  setKinds(owner: string, kinds: readonly ManagedKind[]): Promise<readonly KindFailure[]>
}

/** A kind that could not be added, and why. */
export interface KindFailure {
  readonly kind: ManagedKind
  readonly message: string
}

/** The controllers of a provider. Disposed of after they have stopped. */
export interface ProviderRuntime extends AsyncDisposable {
  readonly controllers: readonly Controller[]
}

/** One rule of an RBAC role. */
export interface ProviderRight {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Absent: all objects. */
  readonly resourceNames?: readonly string[]
}

/** The surroundings that a provider starts in. */
export interface ProviderHost {
  readonly client: Client
  /** A folder for this provider alone; it may not exist yet. */
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  readonly signal: AbortSignal
}

/** A server or other resource that a provider started. It is disposed of when the control plane stops. */
export interface StartedProvider extends AsyncDisposable {
  /** One line that says what was started, and where. */
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
