import type { KubeObject, ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '../aggregate/define.js'
import type { ClaimKit } from '../claim/kit.js'
import { type ClaimSpec, called, calledBy, type Reference, referenceTo, refersTo, specOf } from '../claim/words.js'
import { candidates, classTypeOf, contributions, makesSense, readClass } from './candidates.js'
import { selectClass } from './select.js'

export type Chosen =
  | { readonly type: ResourceType; readonly classRef: Reference; readonly because: string }
  /** None yet, and why. */
  | { readonly because: string }

/**
 * The class of a claim and what it provisions: by reference, by selector, or
 * the default. Undefined when it refers to a kind of class that nobody here
 * provisions for such claims; that is left alone.
 */
export async function chooseClass(kit: ClaimKit, claim: KubeObject, signal: AbortSignal): Promise<Chosen | undefined> {
  const { classRef } = specOf<ClaimSpec>(claim)
  if (classRef?.name && !classTypeOf(kit, classRef)) return undefined
  if (classRef?.name) {
    const found = await readClass(kit, classRef, signal)
    if (!found) return { because: `waiting for ${calledBy(classRef)}, which does not exist` }
    return await provisionedBy(kit, claim, found, 'the claim refers to it')
  }
  const selected = selectClass(claim, await candidates(kit))
  if (!selected.class) return { because: selected.because }
  if (selected.others.length > 0) {
    const others = selected.others.map((each) => called(each)).join(', ')
    kit.events.event(
      claim,
      'Warning',
      'SeveralClasses',
      `Took ${called(selected.class)}, though there is ${others} too`,
    )
  }
  return await provisionedBy(kit, claim, selected.class, selected.because)
}

async function provisionedBy(kit: ClaimKit, claim: KubeObject, chosen: KubeObject, because: string): Promise<Chosen> {
  const classRef = referenceTo(chosen)
  const main = kit.bindings.find(({ role, managed }) => role === 'main' && refersTo(classRef, managed.classType))
  if (main) return { type: main.managed.type, classRef, because }
  if (refersTo(classRef, aggregateClassType) && makesSense(await contributions(kit, chosen))) {
    return { type: aggregateType, classRef, because }
  }
  return { because: `${called(chosen)} has nothing to offer to a ${claim.kind}` }
}
