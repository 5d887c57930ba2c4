import { ignoring, isNotFound, type KubeObject } from '@crosstie/kube'
import { aggregateClassType } from '../definition/aggregate.js'
import type { Binding } from '../definition/claim.js'
import { type Reference, refersTo } from '../metadata/binding.js'
import { chosenBy } from './provision.js'
import type { BindingRuntime } from './runtime.js'
import type { Candidate } from './select-class.js'

/** A class, and the binding that it provisions for. */
export interface Contribution {
  readonly binding: Binding
  readonly class: KubeObject
}

/** Returns the classes that an aggregate class selects, limited to kinds with a binding for this kind of claim. */
export async function contributions(
  runtime: BindingRuntime,
  aggregateClass: KubeObject,
): Promise<readonly Contribution[]> {
  const rule = aggregateClass['aggregationRule'] as { classSelector?: unknown } | undefined
  const labels = chosenBy(rule?.classSelector)
  if (!labels) return []
  const found = await Promise.all(
    runtime.bindings.map(async (binding) => {
      const classes = await runtime.find(binding.managed.classType, labels)
      return classes.filter(({ metadata }) => !metadata.deletionTimestamp).map((each) => ({ binding, class: each }))
    }),
  )
  return found.flat()
}

/** Returns whether the aggregate class would provision a main resource for the claim (AGG4). */
export const isSuitable = (contributed: readonly Contribution[]): boolean =>
  contributed.some(({ binding }) => binding.role === 'main')

/** Returns every class that a claim of the kind could use. */
export async function candidates(runtime: BindingRuntime): Promise<readonly Candidate[]> {
  const main = runtime.bindings.filter(({ role }) => role === 'main')
  const [direct, aggregates] = await Promise.all([
    Promise.all(main.map(({ managed }) => runtime.find(managed.classType, {}))),
    runtime.find(aggregateClassType, {}),
  ])
  const aggregated = aggregates.map(async (each) => ({
    class: each,
    isSuitable: isSuitable(await contributions(runtime, each)),
  }))
  return [...direct.flat().map((each) => ({ class: each, isSuitable: true })), ...(await Promise.all(aggregated))]
}

/** Returns the referenced class. Returns undefined if it does not exist or its kind is unknown to `classTypeOf`. */
export async function readClass(
  runtime: BindingRuntime,
  reference: Reference,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const type = classTypeOf(runtime, reference)
  if (!type || !reference.name) return undefined
  const found = await runtime.client.get(type, { name: reference.name }, { signal }).catch(ignoring(isNotFound))
  return reference.uid && reference.uid !== found?.metadata.uid ? undefined : found
}

/** Returns the type of a referenced class, if it is an aggregate class or has a main binding in this process. */
export function classTypeOf(runtime: BindingRuntime, reference: Reference) {
  if (refersTo(reference, aggregateClassType)) return aggregateClassType
  const main = runtime.bindings.filter(({ role }) => role === 'main')
  return main.find(({ managed }) => refersTo(reference, managed.classType))?.managed.classType
}
