import type { KubeObject } from '@crosstie/kube'
import type { UserInfo } from '../access/user.js'
import type { WriteContext } from '../definitions/definition.js'
import type { Stored } from '../store/store.js'
import type { Engine } from './engine.js'
import type { Pace } from './pace.js'
import type { Served, View } from './served.js'

/** What a verb is asked about, by whom; the same for HTTP and for callers in the process. */
export interface Request {
  readonly served: Served
  /** Empty for cluster-scoped kinds, and for lists over all namespaces. */
  readonly namespace: string
  /** Empty for collections. */
  readonly name: string
  readonly subresource: string
  readonly user: UserInfo
  /** Filled while the request is worked on; shown to the user. */
  readonly warnings: string[]
  /** Filled by admission for the audit log, where one is kept. */
  readonly annotations?: Map<string, string>
  /** Aborts when nobody waits for the answer any more. Asked for only by what waits long: making one costs. */
  signal?(): AbortSignal | undefined
  /** Divides long work into slices; absent for callers in the process. */
  readonly pace?: Pace
}

export interface WriteRequest extends Request {
  readonly dryRun: boolean
  /** Already defaulted from the user agent. */
  readonly fieldManager: string
  /** Whether the client named it; only then others are told. */
  readonly fieldManagerNamed?: boolean
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
}

/** A body as it came, and what strict decoding has to say about it, such as keys that it had twice. */
export interface Body {
  readonly value: unknown
  readonly strictErrors: readonly string[]
  /** What was sent, for messages. */
  readonly raw?: Uint8Array
}

/** What a write came to, in the version that was asked for. */
export interface Outcome extends View {
  readonly created: boolean
}

export function contextOf(engine: Engine, request: WriteRequest): WriteContext {
  const { served, subresource, user, warnings } = request
  return { type: served.type, subresource, user, now: engine.clock.now(), warnings }
}

/** The outcome that shows a stored object. */
export async function outcomeOf(request: Request, stored: Stored, created = false): Promise<Outcome> {
  const { object, bytes } = await request.served.view(stored)
  return { object, bytes, created }
}

export function unstored(object: KubeObject, created = false): Outcome {
  return { object, bytes: undefined, created }
}

const customResets: Readonly<Record<string, readonly (readonly string[])[]>> = {
  '': [['status']],
  status: [['metadata'], ['spec']],
}

/** Fields that this request cannot change, and so nobody comes to own by it. */
export function resetFieldsOf({ served, subresource }: Request): readonly (readonly string[])[] | undefined {
  const { strategy } = served.definition
  if (!strategy.isolatesStatus) return strategy.resets?.[subresource]
  return served.version.subresources.status ? customResets[subresource] : undefined
}
