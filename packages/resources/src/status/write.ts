import {
  type Client,
  type Condition,
  conditionsOf,
  equal,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
  setConditions,
  statusOf,
  timestamp,
} from '@crosstie/kube'

type Values = Readonly<Record<string, unknown>>

/** The new content of a status. */
export interface StatusChange {
  /** Conditions to set, in order. Conditions of other types stay. */
  readonly conditions?: readonly Condition[]
  /** Fields to set beside the conditions. */
  readonly fields?: Values
  /** The status to start from. Defaults to the status of the object. A status given here is always written. */
  readonly base?: Values
  /** The transition time of a condition that changed. Undefined stands for now. */
  readonly transitionTime?: (condition: Condition) => string | undefined
}

/** The current time, and the signal that cancels the request. */
export interface StatusWriteOptions {
  readonly now: number
  readonly signal?: AbortSignal
}

/** Returns the conditions as statements about the current generation of the object. */
export function forGeneration({ metadata: { generation } }: KubeObject, conditions: readonly Condition[]) {
  if (!generation) return conditions
  return conditions.map((condition) => ({ ...condition, observedGeneration: generation }))
}

/**
 * Writes the status of an object with one update, based on the revision that was read. This is the only place that
 * writes conditions. Sends nothing and returns the same object if the status would not change.
 *
 * @throws a conflict if the object was written since it was read
 */
export async function writeStatus(
  client: Client,
  type: ResourceType,
  object: KubeObject,
  { conditions = [], fields = {}, base, transitionTime }: StatusChange,
  { now, signal }: StatusWriteOptions,
): Promise<KubeObject> {
  const old = statusOf<Values>(object)
  const held = conditionsOf(object)
  const set = setConditions(held, ...conditions)
  const unchanged = Object.entries(fields).every(([name, value]) => equal(value, old[name]))
  if (set === held && unchanged && !base) return object
  const lastTransitionTime = timestamp(now)
  const written = set.map((each) =>
    conditions.includes(each) ? { ...each, lastTransitionTime: transitionTime?.(each) ?? lastTransitionTime } : each,
  )
  const status = { ...(base ?? old), ...fields, ...(conditions.length > 0 ? { conditions: written } : {}) }
  return await client.update(type, { ...object, status }, { subresource: 'status', ...(signal ? { signal } : {}) })
}

/** Sets fields of a status that another controller owns. Nothing else of the status is written. */
export async function patchStatus(
  client: Client,
  type: ResourceType,
  key: ObjectKey,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  await client.patch(type, key, { type: 'merge', patch: { status: fields } }, { subresource: 'status', signal })
}
