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

/** What is counted about managed resources. */
export interface ManagedMetrics {
  /** A reconcile came to an end. */
  reconciled(kind: ManagedKind, outcome: 'settled' | 'changed' | 'waiting' | 'failed'): void
  /** The external resource of the object with this uid was looked at. */
  observed(kind: ManagedKind, uid: string): void
  /** The object with this uid no longer exists. */
  gone(kind: ManagedKind, uid: string): void
  /** A call was made to the provider. */
  called(kind: ManagedKind, call: string, failed: boolean): void
  /** An object became ready, so long after it was created. */
  ready(kind: ManagedKind, seconds: number): void
  /** Drift ended that had lasted so long. */
  drifted(kind: ManagedKind, seconds: number): void
}

/** Is told what a turn decided, and what it is about to call. A plan listens; a turn that is watched is for show. */
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

export interface Features {
  /** Management policies and initProvider (POL8). */
  readonly managementPolicies: boolean
  /** spec.ignoreChanges (INI5). */
  readonly ignoreChanges: boolean
}

export interface ManagedOptions {
  readonly client: Client
  /** The same API without anything in between that keeps objects; absent: the client is that already. */
  readonly api?: Client
  readonly events?: EventReporter
  readonly clock?: Clock
  readonly metrics?: ManagedMetrics
  readonly features?: Partial<Features>
  /** How often a settled external resource is looked at again. */
  readonly pollSeconds?: number
  /** How often one that is not ready is looked at; absent: as often as a settled one. */
  readonly unreadySeconds?: number
  /** The least that an object may ask for by annotation. */
  readonly minPollSeconds?: number
  /** Has the last word on the interval: spreads polls, or slows some down. */
  readonly adjustPoll?: (managed: KubeObject, seconds: number) => number
  readonly budgets?: Budgets
  /**
   * After so long a create that another process began, and that nothing is to
   * be seen of, is taken to have come to nothing.
   */
  readonly callSeconds?: number
  readonly surroundings?: Partial<Surroundings>
  /** A random integer from 0 up to, not including, the bound; for generated passwords. */
  readonly random?: (bound: number) => number
  readonly witness?: Witness
}

export interface Unresolved {
  readonly key: ObjectKey
  /** Might the reference resolve now that this object changed? */
  awaits(object: KubeObject): boolean
}

/** Everything that a reconcile of one kind needs. Settled once: past this nobody asks whether an option was given. */
export interface KindRuntime extends Required<Omit<ManagedOptions, 'features' | 'surroundings' | 'witness'>> {
  readonly kind: ManagedKind
  /** Tells us from others who look after the same kind. */
  readonly id: string
  /** All that this process remembers of single objects. */
  readonly memory: ObjectMemory<ObjectState>
  readonly features: Features
  readonly surroundings: Surroundings
  readonly witness: Witness | undefined
  /** All fields of status.atProvider. */
  readonly atProvider: Node
  readonly referenceFields: readonly FoundNode[]
  readonly sensitiveFields: readonly FoundNode[]
  /** Maps of which others may own keys. */
  readonly sharedMaps: readonly FoundNode[]
  readonly usages: UsageTracker | undefined
  /** Absent when the kind cannot list. */
  readonly listing: Listing | undefined
  /** Fields of status.atProvider that the CRD on the server does not have. */
  readonly pruned: Set<string>
  /** Which objects read which Secrets. */
  readonly secretUsers: SecretUsers
  /** Who hears of changes of external resources without looking. */
  readonly subscriptions: Subscriptions
  /** Our own writes, until they come back as changes. */
  readonly selfWrites: SelfWrites
  readonly reservedNames: ReservedNames
  readonly reservations: ReservationMemory
}

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
