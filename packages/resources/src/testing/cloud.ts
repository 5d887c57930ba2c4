import { type Clock, equal } from '@crosstie/kube'
import { AlreadyExistsError, ThrottledError } from '../definition/external.js'

/** The capabilities of the API of a simulated provider. */
export interface CloudCapabilities {
  readonly naming: 'user-chosen' | 'provider-assigned'
  /** Resources have tags and can be found by them. */
  readonly tags: boolean
  /** Creates are idempotent by token. A create with a used token and different values fails. */
  readonly tokens: boolean
  readonly list: boolean
}

/** The options of a simulated cloud. */
export interface CloudOptions extends CloudCapabilities {
  readonly clock: Clock
  /** How long a read may miss a new resource. */
  readonly consistencySeconds?: number
  /** How long a new resource takes to become ready. */
  readonly createSeconds?: number
  /** Called before a call takes effect. Throw to reject the call. */
  readonly before?: (call: CloudCall) => void | Promise<void>
  /** Called after a call took effect. Throw to lose the response. */
  readonly after?: (call: CloudCall) => void | Promise<void>
}

/** The calls of the API of a simulated cloud. */
export type CloudCall = 'create' | 'get' | 'list' | 'update' | 'delete'

/** A resource in the simulated cloud. */
export interface CloudResource {
  readonly name: string
  readonly region: string
  readonly values: Readonly<Record<string, unknown>>
  readonly tags: Readonly<Record<string, string>>
  readonly createdAt: number
}

interface Kept extends CloudResource {
  /** The values of the create request. */
  readonly asked: Readonly<Record<string, unknown>>
  readonly token: string | undefined
  readonly visibleAt: number
  readonly readyAt: number
}

/**
 * An in-memory provider API with a clock that the test controls. It is eventually consistent, slow, and fails where
 * the test requires it. It counts all resources ever created, to detect duplicates and leaks.
 */
export class SimulatedCloud {
  readonly options: CloudOptions
  readonly #resources = new Map<string, Kept>()
  readonly #tokens = new Map<string, string>()
  #made = 0
  /** The number of calls of each kind, including failed ones. */
  readonly calls: Record<CloudCall, number> = { create: 0, get: 0, list: 0, update: 0, delete: 0 }
  /** The maximum number of resources that existed at the same time. */
  mostAtOnce = 0

  constructor(options: CloudOptions) {
    this.options = options
  }

  /** All resources, including those that reads do not return yet. */
  get resources(): readonly CloudResource[] {
    return [...this.#resources.values()]
  }

  /** The number of resources ever created. */
  get made(): number {
    return this.#made
  }

  async create(wanted: {
    readonly name: string
    readonly region: string
    readonly values: Readonly<Record<string, unknown>>
    readonly tags: Readonly<Record<string, string>>
    readonly token: string
  }): Promise<CloudResource> {
    return await this.#call('create', () => {
      const { naming, tokens, tags, clock, consistencySeconds = 0, createSeconds = 0 } = this.options
      const token = tokens ? wanted.token : undefined
      const known = token === undefined ? undefined : this.#resources.get(this.#tokens.get(token) ?? '')
      if (known) {
        if (!equal(known.asked, wanted.values)) throw new Error('the token was used before, for something else')
        return known
      }
      const name = naming === 'user-chosen' ? wanted.name : `${wanted.region}-${String(++this.#made).padStart(4, '0')}`
      if (naming === 'user-chosen') this.#made++
      if (this.#resources.has(name)) {
        this.#made--
        throw new AlreadyExistsError(`${name} exists already`)
      }
      const now = clock.now()
      const { region, values } = wanted
      this.#resources.set(name, {
        name,
        region,
        values,
        asked: values,
        tags: tags ? wanted.tags : {},
        token,
        createdAt: now,
        visibleAt: now + consistencySeconds * 1000,
        readyAt: now + createSeconds * 1000,
      })
      if (token !== undefined) this.#tokens.set(token, name)
      this.mostAtOnce = Math.max(this.mostAtOnce, this.#resources.size)
      return this.#resources.get(name)!
    })
  }

  async get(name: string): Promise<(CloudResource & { readonly ready: boolean }) | undefined> {
    return await this.#call('get', () => {
      const held = this.#resources.get(name)
      return held && this.#seen([held])[0]
    })
  }

  /** Returns all visible resources that have these tags. */
  async list(tags: Readonly<Record<string, string>> = {}): Promise<readonly (CloudResource & { ready: boolean })[]> {
    return await this.#call('list', () =>
      this.#seen([...this.#resources.values()]).filter((resource) =>
        Object.entries(tags).every(([key, value]) => resource.tags[key] === value),
      ),
    )
  }

  async update(
    name: string,
    values: Readonly<Record<string, unknown>>,
    tags: Readonly<Record<string, string>> = {},
    untag: readonly string[] = [],
  ): Promise<void> {
    await this.#call('update', () => {
      const held = this.#resources.get(name)
      if (!held) throw new Error(`there is no ${name}`)
      const kept = Object.entries({ ...held.tags, ...tags }).filter(([key]) => !untag.includes(key))
      this.#resources.set(name, { ...held, values: { ...held.values, ...values }, tags: Object.fromEntries(kept) })
    })
  }

  /** Deletes a resource. Succeeds if it does not exist. */
  async delete(name: string): Promise<void> {
    await this.#call('delete', () => this.#resources.delete(name))
  }

  /** Changes a resource from outside the control plane. */
  meddle(name: string, values: Readonly<Record<string, unknown>>, tags: Readonly<Record<string, string>> = {}): void {
    const held = this.#resources.get(name)!
    this.#resources.set(name, { ...held, values: { ...held.values, ...values }, tags: { ...held.tags, ...tags } })
  }

  /** Returns the visible resources, as reads return them. */
  #seen(resources: readonly Kept[]): readonly (CloudResource & { readonly ready: boolean })[] {
    const now = this.options.clock.now()
    return resources
      .filter(({ visibleAt }) => visibleAt <= now)
      .map((resource) => ({ ...resource, ready: resource.readyAt <= now }))
  }

  async #call<T>(call: CloudCall, run: () => T): Promise<T> {
    this.calls[call]++
    await this.options.before?.(call)
    const answer = run()
    await this.options.after?.(call)
    return answer
  }
}

/** The interface of a simulated cloud, which may run in another process. */
export type Cloud = Pick<SimulatedCloud, 'options' | 'create' | 'get' | 'list' | 'update' | 'delete'>

/** Returns the error of a simulated cloud that throttles requests. */
export const throttled = (): ThrottledError => new ThrottledError('slow down')
