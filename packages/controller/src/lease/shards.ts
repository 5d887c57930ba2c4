import { type Client, type Clock, isNotFound, type KubeObject, steadyClock } from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import type { ShardFilter } from '../loop/controllers.js'
import { sleep } from '../sleep.js'
import { DEFAULT_LEASE_TIMINGS, type LeaseTimings } from './election.js'
import { hashText, ownerOf } from './hash.js'
import { LEASES, LeaseLock } from './lease.js'

/** Options of Shards. */
export interface ShardsOptions {
  readonly client: Client
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Log
  readonly namespace: string
  /** The name of the group; the prefix of its leases' names. */
  readonly name: string
  readonly identity: string
  /** The number of shards. It must be the same in the whole group. */
  readonly count: number
  readonly timings?: LeaseTimings
}

const GROUP = 'crosstie.io/shards'
/** Leases of members that crashed are deleted after this number of durations. */
const DELETE_AFTER_DURATIONS = 20

/**
 * Divides objects among the processes of a group. Each object belongs to a shard and each shard has a Lease, so
 * that two processes never reconcile the same object. Every member computes the same assignment from the set of
 * live members; the leases decide when members disagree.
 */
export class Shards implements ShardFilter {
  readonly #options: ShardsOptions
  readonly #clock: Clock
  readonly #log: Log
  readonly #timings: LeaseTimings
  readonly #membership: LeaseLock
  readonly #locks: readonly LeaseLock[]
  readonly #held = new Set<number>()
  readonly #listeners = new Set<() => Promise<void>>()
  /** When the lease of a member was last observed to change, by name. */
  readonly #lastRenewals = new Map<string, { renewTime: string; at: number }>()

  constructor(options: ShardsOptions) {
    this.#options = options
    this.#clock = options.clock ?? steadyClock
    this.#log = options.log ?? silentLog
    this.#timings = options.timings ?? DEFAULT_LEASE_TIMINGS
    const { client, namespace, name, identity, count } = options
    const common = { client, clock: this.#clock, namespace, identity, durationMs: this.#timings.durationMs }
    this.#membership = new LeaseLock({
      ...common,
      name: `${name}-member-${hashText(identity).toString(16)}`,
      labels: { [GROUP]: name },
    })
    this.#locks = Array.from({ length: count }, (_, i) => new LeaseLock({ ...common, name: `${name}-shard-${i}` }))
  }

  /** The shards that this process holds. */
  get held(): ReadonlySet<number> {
    return this.#held
  }

  includes(key: string): boolean {
    return this.#held.has(hashText(key) % this.#options.count)
  }

  onChange(changed: () => Promise<void>): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Takes part until the signal aborts, then releases its shards. */
  async run(signal: AbortSignal): Promise<void> {
    const { random = Math.random } = this.#options
    while (!signal.aborted) {
      try {
        await this.#rebalance(AbortSignal.timeout(this.#timings.retryMs * 3))
      } catch (error) {
        this.#log.warn('cannot maintain the shards', { error })
      }
      await this.#dropOverdue()
      await sleep(this.#timings.retryMs * (1 + 0.2 * random()), signal)
    }
    await this.#leave()
  }

  async #rebalance(signal: AbortSignal): Promise<void> {
    await this.#membership.hold(signal)
    const alive = await this.#alive(signal)
    const wanted = this.#locks.map((_, i) => ownerOf(alive, i) === this.#options.identity)
    await this.#handOver(
      [...this.#held].filter((i) => !wanted[i]),
      signal,
    )
    const gained: number[] = []
    for (const [i, lock] of this.#locks.entries()) {
      if (!wanted[i]) continue
      if ((await lock.hold(signal)) && !this.#held.has(i)) gained.push(i)
    }
    if (gained.length === 0) return
    for (const i of gained) this.#held.add(i)
    this.#log.info('acquired shards', { shards: gained.join(','), members: alive.length })
    await this.#notify()
  }

  async #alive(signal: AbortSignal): Promise<readonly string[]> {
    const { client, namespace, name, identity } = this.#options
    const { items } = await client.list(LEASES, { namespace, labelSelector: `${GROUP}=${name}`, signal })
    const now = this.#clock.now()
    const alive = [identity]
    for (const lease of items) {
      const { holderIdentity, renewTime = '' } = (lease['spec'] ?? {}) as {
        holderIdentity?: string
        renewTime?: string
      }
      if (!holderIdentity || holderIdentity === identity) continue
      const sign = this.#lastRenewals.get(lease.metadata.name!)
      if (sign?.renewTime !== renewTime) this.#lastRenewals.set(lease.metadata.name!, { renewTime, at: now })
      const expired = sign?.renewTime === renewTime ? now - sign.at : 0
      if (expired < this.#timings.durationMs) alive.push(holderIdentity)
      else if (expired > this.#timings.durationMs * DELETE_AFTER_DURATIONS)
        await this.#deleteExpiredMembers(lease, signal)
    }
    return alive
  }

  async #deleteExpiredMembers(lease: KubeObject, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, name, namespace } = lease.metadata
    const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
    await this.#options.client.delete(LEASES, { name: name!, namespace }, { preconditions, signal })
    this.#lastRenewals.delete(name!)
  }

  /** Drops shards whose lease was not renewed in time, before another process may acquire them. */
  async #dropOverdue(): Promise<void> {
    const before = this.#clock.now() - this.#timings.renewMs
    const lost = [...this.#held].filter((i) => (this.#locks[i]!.renewedAt ?? 0) < before)
    if (lost.length === 0) return
    for (const i of lost) {
      this.#held.delete(i)
      this.#locks[i]!.giveUp()
    }
    this.#log.warn('lost shards', { shards: lost.join(',') })
    await this.#notify()
  }

  async #handOver(shards: readonly number[], signal: AbortSignal): Promise<void> {
    if (shards.length === 0) return
    for (const i of shards) this.#held.delete(i)
    await this.#notify()
    for (const i of shards) await this.#locks[i]!.release(signal)
    this.#log.info('released shards', { shards: shards.join(',') })
  }

  async #leave(): Promise<void> {
    const signal = AbortSignal.timeout(this.#timings.renewMs)
    try {
      await this.#handOver([...this.#held], signal)
      const { client, namespace } = this.#options
      await client.delete(LEASES, { namespace, name: this.#membership.name }, { signal })
    } catch (error) {
      if (!isNotFound(error)) this.#log.warn('cannot release the shards', { error })
    }
  }

  async #notify(): Promise<void> {
    await Promise.all([...this.#listeners].map((changed) => changed()))
  }
}
