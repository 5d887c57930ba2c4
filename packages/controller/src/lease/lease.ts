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

/** The Lease resource type. */
export const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
}

/** Options of LeaseLock. */
export interface LeaseOptions {
  readonly client: Client
  readonly clock: Clock
  readonly namespace: string
  readonly name: string
  /** Identifies this process; unique among all that compete for the lease. */
  readonly identity: string
  /** How long other processes wait after the last renewal before they take the lease. */
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
 * A Lease that one process holds at a time. It does not compare clocks of different machines: a lease has expired
 * when this process has not observed a renewal for its duration.
 */
export class LeaseLock {
  readonly #options: LeaseOptions
  #lease: KubeObject | undefined
  /** When the current state of the lease was first observed. */
  #seenAt = 0
  #renewedAt: number | undefined

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  /** When this process last certainly held the lease; undefined if it does not. */
  get renewedAt(): number | undefined {
    return this.#renewedAt
  }

  /**
   * Acquires or renews the lease. Returns false if another process holds it. Throws if the server cannot be
   * reached.
   */
  async hold(signal?: AbortSignal): Promise<boolean> {
    const held = this.#renewedAt !== undefined
    if (await this.#try(held ? this.#lease : undefined, signal)) return true
    // The conflict may come from a label; the lease may still be held by this process.
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
      // The start of the request is the latest time that other processes can have observed.
      this.#renewedAt = began
      return true
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error
      // Another process was faster, or the Lease was deleted. The known state is stale.
      this.#renewedAt = undefined
      return false
    }
  }

  /** Stops acting as the holder without a write to the Lease. */
  giveUp(): void {
    this.#renewedAt = undefined
  }

  /**
   * Clears the holder so that another process can acquire it at once. All work that the lease protects must have
   * ended.
   */
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
