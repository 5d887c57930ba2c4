import type { KubeObject } from './object.js'

/** One of an object's status.conditions. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}

/** Condition types whose meaning belongs to the control plane. Others are free for anybody to use. */
export const systemConditionTypes: readonly string[] = ['Ready', 'Synced', 'Healthy', 'UpToDate', 'Drifted', 'Approved']

/**
 * Do two conditions say the same? When they were last changed does not matter,
 * and a condition that names no generation says it of any.
 */
export function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.type === b.type &&
    a.status === b.status &&
    a.reason === b.reason &&
    (a.message ?? '') === (b.message ?? '') &&
    (!a.observedGeneration || !b.observedGeneration || a.observedGeneration === b.observedGeneration)
  )
}

/**
 * The conditions with some of them set. One that says what is there already
 * leaves that one as it is, time included; others take its place, and new
 * types go to the end. When nothing changed the same array comes back.
 */
export function setConditions(conditions: readonly Condition[], ...set: readonly Condition[]): readonly Condition[] {
  let result = conditions
  for (const condition of set) {
    const at = result.findIndex(({ type }) => type === condition.type)
    if (at < 0) result = [...result, condition]
    else if (!sameCondition(result[at]!, condition)) result = result.with(at, condition)
  }
  return result
}

/** The condition of the type, or one that says it is unknown. */
export function getCondition(conditions: readonly Condition[], type: string): Condition {
  return conditions.find((condition) => condition.type === type) ?? { type, status: 'Unknown', reason: '' }
}

/** Do two sets of conditions say the same, in whatever order? */
export function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  return (
    a.length === b.length &&
    a.every((condition) => b.some((other) => other.type === condition.type && sameCondition(condition, other)))
  )
}

/** An object's conditions; none when it has no status yet. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = object['status'] as { conditions?: readonly Condition[] } | undefined
  return status?.conditions ?? []
}
