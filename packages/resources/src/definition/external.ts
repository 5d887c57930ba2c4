import type { Condition, Json, KubeObject } from '@crosstie/kube'

/** Values to reach an external resource with, by key. They only ever go into a Secret. */
export type ConnectionDetails = Readonly<Record<string, string | undefined>>

/** An external resource that is there, as raw as the provider reports it. */
export interface Present<A = Readonly<Record<string, Json>>> {
  readonly exists: true
  /** How the provider knows it. Absent: by the name it was looked for. */
  readonly externalName?: string
  /** All that the provider reports, parameters included; a field that it does not report is absent. */
  readonly atProvider: A
  /** Can it be used? A condition says more. Absent: nothing is said. */
  readonly ready?: boolean | Condition
  readonly connection?: ConnectionDetails
  /** Only for kinds that must compare by themselves: true or false settles the comparison. */
  readonly upToDate?: boolean
  /** Likewise, with the fields: where it differs, in words of the schema. None: it is as wanted. */
  readonly differences?: readonly Difference[]
  /** Differences beside those of the fields, which only the kind can see: a password that no longer fits. */
  readonly alsoDiffers?: readonly Difference[]
  /** When it was made, if the provider says: helps to find a resource whose name was lost. */
  readonly createdAt?: string
}

/** What a list tells of one resource, to which an object may add what it alone knows. */
export interface Listed<A = Readonly<Record<string, Json>>, P = object> extends Present<A> {
  /** What a look at this resource for this object would tell. Absent: the same for every object. */
  complete?(forProvider: P): Present<A>
}

export interface Absent {
  readonly exists: false
  /** What can be said already of how it will be reached. */
  readonly connection?: ConnectionDetails
}

export type Observed<A = Readonly<Record<string, Json>>> = Present<A> | Absent

export const absent: Absent = { exists: false }

export function present<A>(found: Omit<Present<A>, 'exists'>): Present<A> {
  return { exists: true, ...found }
}

/** What the provider answered to a create. */
export interface Created<A = Readonly<Record<string, Json>>> {
  /** The name that the provider assigned. */
  readonly externalName?: string | undefined
  readonly connection?: ConnectionDetails
  /** What is there now, when the answer says it all: saves the observe that would follow. */
  readonly observed?: Present<A>
}

export interface Updated {
  readonly connection?: ConnectionDetails
}

/** One field on which the spec and the external resource differ. */
export interface Difference {
  /** Below forProvider: `scalingConfig.desiredSize`, `tags.team`. */
  readonly path: string
  readonly desired: Json | undefined
  readonly observed: Json | undefined
}

/** The provider says that we ask too much. Slows down everything that uses the same credentials. */
export class ThrottledError extends Error {
  override readonly name = 'ThrottledError'
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: ErrorOptions & { readonly retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A create found that the name is taken. */
export class AlreadyExistsError extends Error {
  override readonly name = 'AlreadyExistsError'
}

/** A create made the resource, under this name, but did not finish. */
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

/** What every function of a kind is given. */
export interface ExternalCall<P, C> {
  readonly client: C
  /** The object that stands for the external resource. */
  readonly managed: KubeObject
  readonly externalName: string
  /** With references and sensitive values filled in. */
  readonly forProvider: P
  readonly signal: AbortSignal
}

export interface ObserveCall<P, C> extends ExternalCall<P, C> {
  /**
   * Only while the external name is unknown and a create may have happened:
   * what an interrupted create tagged the resource with. A kind that has tags
   * and no list must find it by them; its name is then the sight's.
   */
  readonly tags?: Readonly<Record<string, string>>
  /** Paths below forProvider that updates leave alone (INI5): for kinds that report differences themselves. */
  readonly ignoreChanges?: readonly string[]
}

export interface CreateCall<P, C> extends ExternalCall<P, C> {
  /** The same for every attempt to make this resource, and for no other. */
  readonly token: string
  /** The tags it must carry: the spec's and those that let us know our own. */
  readonly tags: Readonly<Record<string, string>>
}

export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

export interface UpdateCall<P, C> extends ExternalCall<P, C> {
  /** Of forProvider, only what differs; maps and lists as a whole. */
  readonly changed: DeepPartial<P>
  readonly differences: readonly Difference[]
  /** Keys to take out of shared maps, by the map's path (`{ tags: ['team'] }`): ours once, and wanted no longer. */
  readonly removed: Readonly<Record<string, readonly string[]>>
  readonly tags: Readonly<Record<string, string>>
}

/**
 * Subscribes to change notifications of external resources, so that they need no polling. `topics` is the complete list of
 * topics that concern the object from now on. `subscribe` is called once for each new topic. It receives the function to
 * call on a change, and returns the function that ends the subscription. Subscriptions to topics that left the list end, and
 * all of them end with the object or its controller.
 */
export type Follow = (topics: readonly string[], subscribe: (topic: string, changed: () => void) => () => void) => void
