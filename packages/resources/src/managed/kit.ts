import { randomBytes, randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Client, type Clock, type Condition, type KubeObject, type ObjectKey, systemClock } from '@crosstie/kube'
import type { ManagedKind } from '../definition/define.js'
import { unionOf } from '../definition/openapi.js'
import { type FoundNode, fieldsBelow, type Node } from '../definition/schema.js'
import { type Budgets, unlimited } from '../external/budget.js'
import { Listing } from '../external/listing.js'
import { type Surroundings, UsageTracker } from '../providerconfig/use.js'
import type { Intended } from './approval.js'
import type { Decision } from './decide.js'
import { Followers } from './follow.js'
import type { Gathered } from './gather.js'
import { OwnWrites } from './ownwrites.js'
import { SecretUsers } from './secretusers.js'
import type { Turn } from './turn.js'

export type { Next } from '@crosstie/controller'

/** Tells people what happened to an object. Repetitions are for it to fold together. */
export interface EventRecorder {
  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
}

/** What is counted about managed resources. */
export interface ManagedMetrics {
  /** A reconcile came to an end. */
  reconciled(kind: ManagedKind, outcome: 'settled' | 'changed' | 'waiting' | 'failed'): void
  /** The external resource of the object with this uid was looked at. */
  observed(kind: ManagedKind, uid: string): void
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
  calling(turn: Turn, intended: Intended): void
  reported(turn: Turn, conditions: readonly Condition[]): void
}

const unmeasured: ManagedMetrics = {
  reconciled: () => {},
  observed: () => {},
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
  readonly events?: EventRecorder
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
export interface Kit extends Required<Omit<ManagedOptions, 'features' | 'surroundings' | 'witness'>> {
  readonly kind: ManagedKind
  /** Tells us from others who look after the same kind. */
  readonly id: string
  /** How many creates of an object are under way here, or were cut off, by uid. */
  readonly creating: Map<string, number>
  /** How often a create was refused while an earlier one was in doubt, by uid. */
  readonly refused: Map<string, number>
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
  /** When we last did something to the external resource of an object, by uid: older lists do not show it. */
  readonly touched: Map<string, number>
  /** Fields of status.atProvider that the CRD on the server does not have. */
  readonly pruned: Set<string>
  /** Objects whose references lead nowhere yet, by uid, and what would be news to them. */
  readonly unresolved: Map<string, Unresolved>
  /** Which objects read which Secrets. */
  readonly secretUsers: SecretUsers
  /** Digests of the sensitive values that the provider was given last, by uid and field, for this process alone. */
  readonly sent: Map<string, ReadonlyMap<string, string>>
  /** Who hears of changes of external resources without looking. */
  readonly followers: Followers
  /** Our own writes, until they come back as changes. */
  readonly ownWrites: OwnWrites
  /** External names that objects of this process are taking for their own, by name: two must not take one. */
  readonly claimed: Map<string, string>
}

export function kitFor(kind: ManagedKind, options: ManagedOptions): Kit {
  return {
    kind,
    id: randomBytes(5).toString('hex'),
    creating: new Map(),
    refused: new Map(),
    client: options.client,
    api: options.api ?? options.client,
    events: options.events ?? { event: () => {} },
    clock: options.clock ?? systemClock,
    metrics: options.metrics ?? unmeasured,
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
    unresolved: new Map(),
    secretUsers: new SecretUsers(),
    sent: new Map(),
    followers: new Followers(),
    ownWrites: new OwnWrites(),
    claimed: new Map(),
    touched: new Map(),
    pruned: new Set(),
    listing: kind.external.list && new Listing(options.clock ?? systemClock, (options.pollSeconds ?? 60) / 4),
    usages: kind.providerConfig && new UsageTracker(options.client, kind.providerConfig),
  }
}
