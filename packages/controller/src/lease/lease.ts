import {
  type Client,
  type Clock,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  microTimestamp,
  type ResourceType,
} from '@crosstie/kube'

export const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
}

export interface LeaseOptions {
  readonly client: Client
  readonly clock: Clock
  readonly namespace: string
  readonly name: string
  /** Who we are: different for every process that may want the lease. */
  readonly identity: string
  /** How long others wait after the last sign of life before they take it. */
  readonly durationMs: number
  readonly labels?: Readonly<Record<string, string>>
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

/**
 * One Lease, held by one process at a time. Clocks of others are not trusted:
 * what counts is how long we ourselves have seen no sign of life.
 */
export class LeaseLock {
  readonly #options: LeaseOptions
  #lease: KubeObject | undefined
  /** When we saw the lease as it is now for the first time. */
  #seenAt = 0
  #renewedAt: number | undefined

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  /** When we last knew for certain that we hold it; undefined when we do not. */
  get renewedAt(): number | undefined {
    return this.#renewedAt
  }

  /** Takes or renews the lease. False: somebody else has it. Throws when the server cannot be asked. */
  async hold(signal?: AbortSignal): Promise<boolean> {
    const held = this.#renewedAt !== undefined
    if (await this.#try(held ? this.#lease : undefined, signal)) return true
    // Perhaps somebody wrote a label on it, and it is still ours.
    return held && (await this.#try(undefined, signal))
  }

  async #try(known: KubeObject | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    const began = this.#options.clock.now()
    try {
      const lease = known ?? (await this.#read(signal))
      if (lease && this.#isTaken(lease)) {
        this.#renewedAt = undefined
        return false
      }
      this.#note(lease ? await this.#write(lease, signal) : await this.#create(signal))
      // Counted from before the request: that is what others saw at the latest.
      this.#renewedAt = began
      return true
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error
      // Somebody was faster, or took the lease away: what we know is old.
      this.#renewedAt = undefined
      return false
    }
  }

  /** We no longer act as the holder, though the lease still says so. */
  giveUp(): void {
    this.#renewedAt = undefined
  }

  /** Lets others have it at once. Whatever the lease protects must have ended before. */
  async release(signal?: AbortSignal): Promise<void> {
    const lease = this.#lease
    this.#renewedAt = undefined
    if (!lease || specOf(lease).holderIdentity !== this.#options.identity) return
    const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1 }
    try {
      this.#note(await this.#options.client.update(LEASES, { ...lease, spec }, { signal }))
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  async #read(signal: AbortSignal | undefined): Promise<KubeObject | undefined> {
    const { client, namespace, name } = this.#options
    const lease = await client.get(LEASES, { namespace, name }, { signal }).catch(ignoring(isNotFound))
    if (lease) this.#note(lease)
    return lease
  }

  #note(lease: KubeObject): void {
    const before = this.#lease && specOf(this.#lease)
    const now = specOf(lease)
    const same = before?.holderIdentity === now.holderIdentity && before?.renewTime === now.renewTime
    if (!same) this.#seenAt = this.#options.clock.now()
    this.#lease = lease
  }

  #isTaken(lease: KubeObject): boolean {
    const { identity, clock, durationMs } = this.#options
    const { holderIdentity, leaseDurationSeconds } = specOf(lease)
    if (!holderIdentity || holderIdentity === identity) return false
    const duration = leaseDurationSeconds ? leaseDurationSeconds * 1000 : durationMs
    return clock.now() < this.#seenAt + duration
  }

  async #write(lease: KubeObject, signal: AbortSignal | undefined): Promise<KubeObject> {
    const { client, identity, clock, durationMs } = this.#options
    const old = specOf(lease)
    const ours = old.holderIdentity === identity
    const now = microTimestamp(clock.now())
    const spec: LeaseSpec = {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: ours ? (old.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (old.leaseTransitions ?? 0) + (ours ? 0 : 1),
    }
    return await client.update(LEASES, { ...lease, spec }, { signal })
  }

  async #create(signal: AbortSignal | undefined): Promise<KubeObject> {
    const { client, namespace, name, identity, clock, durationMs, labels } = this.#options
    const now = microTimestamp(clock.now())
    return await client.create(
      LEASES,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, ...(labels ? { labels } : {}) },
        spec: {
          holderIdentity: identity,
          leaseDurationSeconds: Math.ceil(durationMs / 1000),
          acquireTime: now,
          renewTime: now,
          leaseTransitions: 0,
        },
      },
      { signal },
    )
  }
}

function specOf(lease: KubeObject): LeaseSpec {
  return (lease['spec'] ?? {}) as LeaseSpec
}
