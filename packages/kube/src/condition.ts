import type { KubeObject } from './object.js'

/** An entry of status.conditions. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}

/** Condition types that the control plane defines. Providers and users may add other types. */
export const systemConditionTypes: readonly string[] = ['Ready', 'Synced', 'Healthy', 'UpToDate', 'Drifted', 'Approved']

/**
 * Reports whether two conditions are equal apart from their transition times. A condition without
 * observedGeneration equals one of any generation.
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
 * Returns the conditions with some of them set. A condition that is equal to the existing one keeps its transition
 * time. New types are appended. Returns the same array if nothing changed.
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

/** Returns the condition of a type, or one with status Unknown. */
export function getCondition(conditions: readonly Condition[], type: string): Condition {
  return conditions.find((condition) => condition.type === type) ?? { type, status: 'Unknown', reason: '' }
}

/** Reports whether two lists of conditions are equal in any order. */
export function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  return (
    a.length === b.length &&
    a.every((condition) => b.some((other) => other.type === condition.type && sameCondition(condition, other)))
  )
}

/** Returns the conditions of an object. The list is empty if the object does not have a status. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = object['status'] as { conditions?: readonly Condition[] } | undefined
  return status?.conditions ?? []
}
