import type { KubeObject } from '@crosstie/kube'
import type { UserInfo } from '../access/user.js'
import type { WriteContext } from '../definitions/definition.js'
import type { Stored } from '../store/store.js'
import type { Engine } from './engine.js'
import type { Pace } from './pace.js'
import type { Served, View } from './served.js'

/** A request to a verb: kind, object and user. HTTP and callers in the process use the same. */
export interface Request {
  readonly served: Served
  /** Empty for cluster-scoped kinds and for lists of all namespaces. */
  readonly namespace: string
  /** Empty for collections. */
  readonly name: string
  readonly subresource: string
  readonly user: UserInfo
  /** Verbs add warnings for the client. */
  readonly warnings: string[]
  /** Admission adds annotations for the audit log, if there is one. */
  readonly annotations?: Map<string, string>
  /**
   * Returns a signal that aborts when the client disconnects. Only long waits call it, because creating the signal
   * has a cost.
   */
  signal?(): AbortSignal | undefined
  /** Divides long work into slices. Absent for callers in the process. */
  readonly pace?: Pace
}

/** A request that writes. */
export interface WriteRequest extends Request {
  readonly dryRun: boolean
  /** The field manager, with the default from the user agent. */
  readonly fieldManager: string
  /** Whether the client named the field manager. Only then admission sees it. */
  readonly fieldManagerNamed?: boolean
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
}

/** A decoded body, with the complaints of strict decoding such as duplicate keys. */
export interface Body {
  readonly value: unknown
  readonly strictErrors: readonly string[]
  /** The bytes of the body, for messages. */
  readonly raw?: Uint8Array
}

/** The result of a write in the version of the request. */
export interface Outcome extends View {
  readonly created: boolean
}

/** Returns the context of a write for strategies. */
export function contextOf(engine: Engine, request: WriteRequest): WriteContext {
  const { served, subresource, user, warnings } = request
  return { type: served.type, subresource, user, now: engine.clock.now(), warnings }
}

/** Returns the outcome of a stored object. */
export async function outcomeOf(request: Request, stored: Stored, created = false): Promise<Outcome> {
  const { object, bytes } = await request.served.view(stored)
  return { object, bytes, created }
}

/** Returns the outcome of an object that is not stored. */
export function unstored(object: KubeObject, created = false): Outcome {
  return { object, bytes: undefined, created }
}

const customResets: Readonly<Record<string, readonly (readonly string[])[]>> = {
  '': [['status']],
  status: [['metadata'], ['spec']],
}

/** Returns the fields that this request cannot change. It does not take ownership of them. */
export function resetFieldsOf({ served, subresource }: Request): readonly (readonly string[])[] | undefined {
  const { strategy } = served.definition
  if (!strategy.isolatesStatus) return strategy.resets?.[subresource]
  return served.version.subresources.status ? customResets[subresource] : undefined
}
