import { randomBytes, randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Client, type Clock, type Condition, type KubeObject, type ObjectKey, systemClock } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { unionOf } from '../definition/openapi.js'
import { type FoundNode, fieldsBelow, type Node } from '../definition/schema.js'
import { type Budgets, unlimited } from '../external/budget.js'
import { Listing } from '../external/listing.js'
import { ObjectMemory } from '../memory/object-memory.js'
import { SecretUsers } from '../memory/secret-users.js'
import { SelfWrites } from '../memory/self-writes.js'
import { type Surroundings, UsageTracker } from '../providerconfig/use.js'
import type { EventReporter } from '../status/events.js'
import type { Decision } from './decide.js'
import { newObjectState, type ObjectState, ReservedNames } from './object-state.js'
import type { Gathered } from './observe/gather.js'
import { Subscriptions } from './observe/subscriptions.js'
import { ReservationMemory } from './ownership/reservation-memory.js'
import type { Intended } from './policy/approval.js'
import type { Reconciliation } from './reconciliation.js'

/** Metrics about managed resources. */
export interface ManagedMetrics {
  /** A reconcile ended. */
  reconciled(kind: ManagedKind, outcome: 'settled' | 'changed' | 'waiting' | 'failed'): void
  /** The external resource of the object with this uid was observed. */
  observed(kind: ManagedKind, uid: string): void
  /** The object with this uid no longer exists. */
  gone(kind: ManagedKind, uid: string): void
  /** The provider was called. */
  called(kind: ManagedKind, call: string, failed: boolean): void
  /** An object became ready this many seconds after its creation. */
  ready(kind: ManagedKind, seconds: number): void
  /** Drift ended after this many seconds. */
  drifted(kind: ManagedKind, seconds: number): void
}

/** Receives the decisions and intended calls of a reconciliation. A plan uses it with clients that change nothing. */
export interface Witness {
  decided(gathered: Gathered, decision: Decision): void
  calling(reconciliation: Reconciliation, intended: Intended): void
  reported(reconciliation: Reconciliation, conditions: readonly Condition[]): void
}

const unmeasured: ManagedMetrics = {
  reconciled: () => {},
  observed: () => {},
  gone: () => {},
  called: () => {},
  ready: () => {},
  drifted: () => {},
}

/** Feature gates of managed resources. */
export interface Features {
  /** Management policies and initProvider (POL8). */
  readonly managementPolicies: boolean
  /** spec.ignoreChanges (INI5). */
  readonly ignoreChanges: boolean
}

/** Options of the controller of a managed kind. */
export interface ManagedOptions {
  readonly client: Client
  /** A client that bypasses caches; defaults to `client`. */
  readonly api?: Client
  readonly events?: EventReporter
  readonly clock?: Clock
  readonly metrics?: ManagedMetrics
  readonly features?: Partial<Features>
  /** The poll interval of external resources. */
  readonly pollSeconds?: number
  /** The maximum poll interval of resources that are not ready; defaults to no separate limit. */
  readonly unreadySeconds?: number
  /** The minimum poll interval that an annotation may request. */
  readonly minPollSeconds?: number
  /** Adjusts the final interval, to spread or to slow down polls. */
  readonly adjustPoll?: (managed: KubeObject, seconds: number) => number
  readonly budgets?: Budgets
  /** The time after which a create of another process counts as failed if its resource is not visible. */
  readonly callSeconds?: number
  readonly surroundings?: Partial<Surroundings>
  /** Returns a random integer from 0 to `bound` (exclusive), for generated passwords. */
  readonly random?: (bound: number) => number
  readonly witness?: Witness
}

/** An object with a reference that cannot be resolved yet. */
export interface Unresolved {
  readonly key: ObjectKey
  /** Reports whether the reference may resolve after this object changed. */
  awaits(object: KubeObject): boolean
}

/** The long-lived dependencies of the controller of one kind, with defaults applied. */
export interface KindRuntime extends Required<Omit<ManagedOptions, 'features' | 'surroundings' | 'witness'>> {
  readonly kind: ManagedKind
  /** Distinguishes this process from others that reconcile the same kind. */
  readonly id: string
  /** The in-memory state of single objects. */
  readonly memory: ObjectMemory<ObjectState>
  readonly features: Features
  readonly surroundings: Surroundings
  readonly witness: Witness | undefined
  /** The schema of status.atProvider. */
  readonly atProvider: Node
  readonly referenceFields: readonly FoundNode[]
  readonly sensitiveFields: readonly FoundNode[]
  /** Maps whose keys may have other owners. */
  readonly sharedMaps: readonly FoundNode[]
  readonly usages: UsageTracker | undefined
  /** Absent if the kind cannot list. */
  readonly listing: Listing | undefined
  /** Fields of status.atProvider that the CRD on the server lacks. */
  readonly pruned: Set<string>
  /** The objects that read each Secret. */
  readonly secretUsers: SecretUsers
  /** Subscriptions to change notifications from the provider. */
  readonly subscriptions: Subscriptions
  /** Writes of this process whose watch events have not arrived yet. */
  readonly selfWrites: SelfWrites
  readonly reservedNames: ReservedNames
  readonly reservations: ReservationMemory
}

/** Returns the runtime of a kind, with defaults for absent options. */
export function kindRuntimeFor(kind: ManagedKind, options: ManagedOptions): KindRuntime {
  const metrics = options.metrics ?? unmeasured
  const secretUsers = new SecretUsers()
  const subscriptions = new Subscriptions()
  const reservedNames = new ReservedNames()
  const reservations = new ReservationMemory()
  const listing = kind.external.list && new Listing(options.clock ?? systemClock, (options.pollSeconds ?? 60) / 4)
  const usages = kind.providerConfig && new UsageTracker(options.client, kind.providerConfig)
  const counted = { forget: (uid: string) => metrics.gone(kind, uid) }
  return {
    kind,
    id: randomBytes(5).toString('hex'),
    memory: new ObjectMemory(newObjectState, [
      secretUsers,
      subscriptions,
      reservedNames,
      reservations,
      listing,
      usages,
      counted,
    ]),
    client: options.client,
    api: options.api ?? options.client,
    events: options.events ?? { event: () => {} },
    clock: options.clock ?? systemClock,
    metrics,
    features: { managementPolicies: true, ignoreChanges: true, ...options.features },
    pollSeconds: options.pollSeconds ?? 60,
    unreadySeconds: options.unreadySeconds ?? Number.POSITIVE_INFINITY,
    minPollSeconds: options.minPollSeconds ?? 0,
    adjustPoll: options.adjustPoll ?? ((_, seconds) => seconds),
    callSeconds: options.callSeconds ?? 30,
    budgets: kind.unmetered ? unlimited : (options.budgets ?? unlimited),
    surroundings: {
      environment: process.env,
      readFile: (path) => readFile(path, 'utf8'),
      ...options.surroundings,
    },
    random: options.random ?? ((bound) => randomInt(bound)),
    witness: options.witness,
    atProvider: unionOf(kind.parameters, kind.observation),
    referenceFields: [...fieldsBelow(kind.parameters)].filter(({ node }) => node.reference),
    sensitiveFields: [...fieldsBelow(kind.parameters)].filter(({ node }) => node.sensitive),
    sharedMaps: [...fieldsBelow(kind.parameters)].filter(({ node }) => node.shared && !node.immutable),
    secretUsers,
    subscriptions,
    selfWrites: new SelfWrites(),
    reservedNames,
    reservations,
    pruned: new Set(),
    listing,
    usages,
  }
}
