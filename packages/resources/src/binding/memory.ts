import type { KubeObject, ObjectKey } from '@crosstie/kube'
import type { Binding } from '../definition/claim.js'
import type { ObjectIndex, ObjectMemory } from '../memory/object-memory.js'
import { keyOf } from '../metadata/binding.js'

/** The in-memory state of one aggregate. */
export interface AggregateState {
  /** When the progress of the aggregate was last reported. */
  reportedAt: number
  /** Set while the aggregate is being deleted. */
  deletion: AggregateDeletion | undefined
}

/** The members that an aggregate had when it was deleted. No member is added later. */
export interface AggregateDeletion {
  /** A resourceVersion at which the aggregate was already marked for deletion. */
  readonly since: string
  /** The members that were not yet observed to be gone, by id. */
  readonly members: Map<string, Binding>
}

/** Returns the initial state of an aggregate. */
export const newAggregateState = (): AggregateState => ({ reportedAt: 0, deletion: undefined })

/** A claim that waits, and the awaited object as `Kind/name`. An empty string stands for a class. */
interface Wait {
  readonly key: ObjectKey
  readonly what: string
}

/** The claims that wait for a class or for an object that they refer to. */
export class WaitingClaims implements ObjectIndex {
  readonly #waits = new Map<string, Wait>()

  add(claim: KubeObject, what: string): void {
    this.#waits.set(claim.metadata.uid ?? '', { key: keyOf(claim), what })
  }

  all(): readonly ObjectKey[] {
    return [...this.#waits.values()].map(({ key }) => key)
  }

  /** Returns the claims that wait for an object whose `Kind/name` starts with the prefix. */
  for(prefix: string): readonly ObjectKey[] {
    if (this.#waits.size === 0) return []
    return [...this.#waits.values()].filter(({ what }) => what.startsWith(prefix)).map(({ key }) => key)
  }

  forget(uid: string): void {
    this.#waits.delete(uid)
  }

  get size(): number {
    return this.#waits.size
  }
}

/** The claims that are bound to aggregates. Forgetting a claim also drops the state of its aggregate. */
export class BoundAggregates implements ObjectIndex {
  readonly #claims = new Map<string, ObjectKey>()
  readonly #aggregates = new Map<string, { readonly name: string; readonly uid: string }>()
  readonly #states: ObjectMemory<AggregateState>

  constructor(states: ObjectMemory<AggregateState>) {
    this.#states = states
  }

  add(claim: KubeObject, { metadata: { name = '', uid = '' } }: KubeObject): void {
    this.#claims.set(name, keyOf(claim))
    this.#aggregates.set(claim.metadata.uid ?? '', { name, uid })
  }

  claimOf(aggregateName: string): ObjectKey | undefined {
    return this.#claims.get(aggregateName)
  }

  forget(claimUid: string): void {
    const aggregate = this.#aggregates.get(claimUid)
    if (!aggregate) return
    this.#aggregates.delete(claimUid)
    this.#claims.delete(aggregate.name)
    this.#states.drop(aggregate.uid)
  }

  get size(): number {
    return this.#claims.size
  }
}
