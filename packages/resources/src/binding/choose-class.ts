import type { KubeObject, ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '../definition/aggregate.js'
import {
  type ClaimSpec,
  describeObject,
  describeReference,
  type Reference,
  referenceTo,
  refersTo,
  specOf,
} from '../metadata/binding.js'
import { candidates, classTypeOf, contributions, isSuitable, readClass } from './class-candidates.js'
import type { ClaimRuntime } from './runtime.js'
import { selectClass } from './select-class.js'

/** The result of `chooseClass`. */
export type Chosen =
  | { readonly type: ResourceType; readonly classRef: Reference; readonly because: string }
  /** No class is available yet, for this reason. */
  | { readonly because: string }

/**
 * Chooses the class of a claim by reference, by selector or by default, and returns the type that it provisions.
 * Returns undefined if the claim refers to a kind of class without a binding in this process; such a claim is
 * ignored.
 */
export async function chooseClass(
  runtime: ClaimRuntime,
  claim: KubeObject,
  signal: AbortSignal,
): Promise<Chosen | undefined> {
  const { classRef } = specOf<ClaimSpec>(claim)
  if (classRef?.name && !classTypeOf(runtime, classRef)) return undefined
  if (classRef?.name) {
    const found = await readClass(runtime, classRef, signal)
    if (!found) return { because: `waiting for ${describeReference(classRef)}, which does not exist` }
    return await provisionedBy(runtime, claim, found, 'the claim refers to it')
  }
  const selected = selectClass(claim, await candidates(runtime))
  if (!selected.class) return { because: selected.because }
  if (selected.others.length > 0) {
    const others = selected.others.map((each) => describeObject(each)).join(', ')
    runtime.events.event(
      claim,
      'Warning',
      'SeveralClasses',
      `Took ${describeObject(selected.class)}, though there is ${others} too`,
    )
  }
  return await provisionedBy(runtime, claim, selected.class, selected.because)
}

async function provisionedBy(
  runtime: ClaimRuntime,
  claim: KubeObject,
  chosen: KubeObject,
  because: string,
): Promise<Chosen> {
  const classRef = referenceTo(chosen)
  const main = runtime.bindings.find(({ role, managed }) => role === 'main' && refersTo(classRef, managed.classType))
  if (main) return { type: main.managed.type, classRef, because }
  if (refersTo(classRef, aggregateClassType) && isSuitable(await contributions(runtime, chosen))) {
    return { type: aggregateType, classRef, because }
  }
  return { because: `${describeObject(chosen)} has nothing to offer to a ${claim.kind}` }
}
