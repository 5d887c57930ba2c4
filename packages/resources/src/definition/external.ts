import type { Condition, Json, KubeObject } from '@crosstie/kube'

/** Connection details of an external resource, by key. They are written to a Secret and nowhere else. */
export type ConnectionDetails = Readonly<Record<string, string | undefined>>

/** An external resource that exists, as the provider reports it. */
export interface Present<A = Readonly<Record<string, Json>>> {
  readonly exists: true
  /** The external name. Defaults to the name that was observed. */
  readonly externalName?: string
  /** All fields that the provider reports, including parameters. Fields that it does not report are absent. */
  readonly atProvider: A
  /** Whether the resource can be used, or the condition Ready itself. Absent: the condition is not changed. */
  readonly ready?: boolean | Condition
  readonly connection?: ConnectionDetails
  /** The result of the comparison, for kinds that compare by themselves. */
  readonly upToDate?: boolean
  /** The differences, for kinds that compare by themselves. An empty list means that the resource is in sync. */
  readonly differences?: readonly Difference[]
  /** Additional differences that only the kind can detect, such as a password that is no longer valid. */
  readonly alsoDiffers?: readonly Difference[]
  /** The creation time, if the provider reports it. Helps to find a resource whose name was lost. */
  readonly createdAt?: string
}

/** One resource in the result of `list`. */
export interface Listed<A = Readonly<Record<string, Json>>, P = object> extends Present<A> {
  /** Returns what `observe` would return for an object with these parameters. Absent: the same for every object. */
  complete?(forProvider: P): Present<A>
}

/** An external resource that does not exist. */
export interface Absent {
  readonly exists: false
  /** Connection details that are already known. */
  readonly connection?: ConnectionDetails
}

/** The result of `observe`. Create it with `present` or `absent`. */
export type Observed<A = Readonly<Record<string, Json>>> = Present<A> | Absent

/** The result of `observe` for a resource that does not exist. */
export const absent: Absent = { exists: false }

/**
 * Returns the result of `observe` for a resource that exists.
 *
 * @example
 * ```ts
 * import { present } from '@crosstie/resources/provider'
 *
 * export const observed = present({
 *   externalName: 'bucket-1',
 *   atProvider: { region: 'eu-1', versioned: true },
 *   ready: true,
 *   connection: { endpoint: 'https://bucket-1.example.org' },
 * })
 * ```
 */
export function present<A>(found: Omit<Present<A>, 'exists'>): Present<A> {
  return { exists: true, ...found }
}

/** The result of `create`. */
export interface Created<A = Readonly<Record<string, Json>>> {
  /** The name that the provider assigned. */
  readonly externalName?: string | undefined
  readonly connection?: ConnectionDetails
  /** The resource as it is now, if the response contains all of it. Saves one call of `observe`. */
  readonly observed?: Present<A>
}

/** The result of `update`. */
export interface Updated {
  readonly connection?: ConnectionDetails
}

/** One field in which the external resource differs from the spec. */
export interface Difference {
  /** Below forProvider: `scalingConfig.desiredSize`, `tags.team`. */
  readonly path: string
  readonly desired: Json | undefined
  readonly observed: Json | undefined
}

/**
 * The provider rejected a request because of a rate limit. All calls with the same credentials are slowed down.
 *
 * @example
 * ```ts
 * import { ThrottledError } from '@crosstie/resources/provider'
 *
 * export function check(response: Response): void {
 *   if (response.status !== 429) return
 *   const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 1)
 *   throw new ThrottledError('too many requests', { retryAfterSeconds })
 * }
 * ```
 */
export class ThrottledError extends Error {
  override readonly name = 'ThrottledError'
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: ErrorOptions & { readonly retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** `create` failed because a resource with this name already exists. */
export class AlreadyExistsError extends Error {
  override readonly name = 'AlreadyExistsError'
}

/** `create` created the resource with this name, but did not complete it. The next reconciliation updates it. */
export class PartialCreateError extends Error {
  override readonly name = 'PartialCreateError'

  constructor(
    message: string,
    readonly externalName: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The input of every function of a kind. */
export interface ExternalCall<P, C> {
  readonly client: C
  /** The managed resource. */
  readonly managed: KubeObject
  readonly externalName: string
  /** The parameters, with resolved references and sensitive values. */
  readonly forProvider: P
  readonly signal: AbortSignal
}

/** The input of `observe`. */
export interface ObserveCall<P, C> extends ExternalCall<P, C> {
  /**
   * The tags that `create` set. Present while the external name is unknown and an interrupted create may have created
   * the resource. A kind with tags and without `list` finds the resource by them and returns its `externalName`.
   */
  readonly tags?: Readonly<Record<string, string>>
  /** Paths below forProvider that updates do not change (INI5), for kinds that compare by themselves. */
  readonly ignoreChanges?: readonly string[]
}

/** The input of `create`. */
export interface CreateCall<P, C> extends ExternalCall<P, C> {
  /** An idempotency token. It is the same for all attempts to create this resource, and differs between resources. */
  readonly token: string
  /** The tags to set: those of the spec and the ownership tags. */
  readonly tags: Readonly<Record<string, string>>
}

/** The type with all fields optional, at every level. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** The input of `update`. */
export interface UpdateCall<P, C> extends ExternalCall<P, C> {
  /** The fields of forProvider that differ. Maps and lists are complete. */
  readonly changed: DeepPartial<P>
  readonly differences: readonly Difference[]
  /** Keys to remove from shared maps, by the path of the map: `{ tags: ['team'] }`. */
  readonly removed: Readonly<Record<string, readonly string[]>>
  readonly tags: Readonly<Record<string, string>>
}

/**
 * Subscribes to change notifications of external resources, so that they need no polling. `topics` is the complete
 * list of topics that concern the object from now on. `subscribe` is called once for each new topic. It receives the
 * function to call on a change, and returns the function that ends the subscription. A subscription ends when a later
 * list omits its topic, when the object is gone, or when the controller stops.
 */
export type Follow = (topics: readonly string[], subscribe: (topic: string, changed: () => void) => () => void) => void

/**
 * The inputs of the functions of a kind, derived from its parameters and its client.
 *
 * @example
 * ```ts
 * import { type Calls, type Infer, s } from '@crosstie/resources/provider'
 *
 * const parameters = s.object({ region: s.string({ doc: 'The region.' }) })
 * type BucketCalls = Calls<Infer<typeof parameters>, Map<string, string>>
 *
 * export async function create({ client, externalName, forProvider }: BucketCalls['create']) {
 *   client.set(externalName, forProvider.region)
 *   return {}
 * }
 * ```
 */
export interface Calls<P, C> {
  readonly observe: ObserveCall<P, C>
  readonly create: CreateCall<P, C>
  readonly update: UpdateCall<P, C>
  readonly delete: ExternalCall<P, C>
}
