import { type Clock, equal } from '@crosstie/kube'
import { AlreadyExistsError, ThrottledError } from '../definition/external.js'

/** What the API of a simulated provider offers. */
export interface CloudCapabilities {
  readonly naming: 'user-chosen' | 'provider-assigned'
  /** Resources carry tags, and can be looked up by them. */
  readonly tags: boolean
  /** A create with a token that was used before gives what that one made, and is refused when it asks for something else. */
  readonly tokens: boolean
  readonly list: boolean
}

export interface CloudOptions extends CloudCapabilities {
  readonly clock: Clock
  /** How long a read may miss a resource that was just made. */
  readonly consistencySeconds?: number
  /** How long a new resource takes until it is ready. */
  readonly createSeconds?: number
  /** Called before a call takes effect: throw to refuse it. */
  readonly before?: (call: CloudCall) => void | Promise<void>
  /** Called after a call took effect: throw to lose its answer. */
  readonly after?: (call: CloudCall) => void | Promise<void>
}

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
  /** What the create asked for. */
  readonly asked: Readonly<Record<string, unknown>>
  readonly token: string | undefined
  readonly visibleAt: number
  readonly readyAt: number
}

/**
 * A provider's API in memory, on a clock that the test owns: eventually
 * consistent, slow, and failing where the test says. It keeps count of all
 * that was ever made, so that nothing made twice or left behind goes unseen.
 */
export class SimulatedCloud {
  readonly options: CloudOptions
  readonly #resources = new Map<string, Kept>()
  readonly #tokens = new Map<string, string>()
  #made = 0
  /** How many calls of each kind were answered or refused. */
  readonly calls: Record<CloudCall, number> = { create: 0, get: 0, list: 0, update: 0, delete: 0 }
  /** The most resources that were there at once. */
  mostAtOnce = 0

  constructor(options: CloudOptions) {
    this.options = options
  }

  /** Everything that is there, whether reads show it yet or not. */
  get resources(): readonly CloudResource[] {
    return [...this.#resources.values()]
  }

  /** How many were ever made. */
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

  /** All that reads show, or those with all of these tags. */
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

  /** Deleting what is not there is no error. */
  async delete(name: string): Promise<void> {
    await this.#call('delete', () => this.#resources.delete(name))
  }

  /** Something outside of the control plane changes a resource. */
  meddle(name: string, values: Readonly<Record<string, unknown>>, tags: Readonly<Record<string, string>> = {}): void {
    const held = this.#resources.get(name)!
    this.#resources.set(name, { ...held, values: { ...held.values, ...values }, tags: { ...held.tags, ...tags } })
  }

  /** Those that reads show, as they show them. */
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

/** What a kind needs of a simulated cloud, which may be in another process. */
export type Cloud = Pick<SimulatedCloud, 'options' | 'create' | 'get' | 'list' | 'update' | 'delete'>

/** An error by which the simulated cloud says that it is asked too much. */
export const throttled = (): ThrottledError => new ThrottledError('slow down')
