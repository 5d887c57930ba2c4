import {
  type Condition,
  ignoring,
  isConflict,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
  type ResourceType,
} from '@crosstie/kube'
import { NameTakenError } from '../class/taken.js'
import { conditions } from '../managed/conditions.js'
import type { Next } from '../managed/kit.js'
import { isDeleted, isPaused } from '../managed/meta.js'
import { act } from './act.js'
import { decide, type Facts, type OfferFacts } from './decide.js'
import { type ClaimKit, offerType, report } from './kit.js'
import { isOfferName } from './names.js'
import { tidyAfter } from './tidy.js'
import { type ClaimSpec, claimAnnotations, claimFinalizer, type OfferSpec, type Reference, specOf } from './words.js'

/** One turn of a claim: what is known of it by now. */
export interface Turn {
  readonly kit: ClaimKit
  readonly signal: AbortSignal
  claim: KubeObject
  /** What the claim refers to, and its kind. */
  type: ResourceType | undefined
  offer: KubeObject | undefined
}

/** From being asked for to being bound there are fewer steps than this. */
const STEPS_MAX = 12

/**
 * Brings a claim and what meets it together, and apart again.
 *
 * Gather facts, decide, act, until there is nothing to do but wait. Every step
 * is written from the revision that it was decided on, so that of many who
 * try, one does it and the others look again.
 */
export async function reconcileClaim(kit: ClaimKit, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  const claim = await read(kit, key, signal)
  await tidyAfter(kit, key, claim, signal)
  if (!claim || isPaused(claim)) return { after: 'never' }
  const turn: Turn = { kit, signal, claim, type: undefined, offer: undefined }
  try {
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const facts = await gather(turn)
      if (!facts) return { after: 'never' }
      const decision = decide(facts)
      const next = await act[decision.do](turn, 'because' in decision ? decision.because : '')
      if (next) return next
    }
    return { after: 'backoff' }
  } catch (error) {
    return await reportFailure(turn, error)
  }
}

async function read(kit: ClaimKit, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return await kit.client.get(kit.kind.type, key, { signal }).catch(ignoring(isNotFound))
}

/** Undefined when nobody here owns the combination, which is then left alone (CLM6). */
async function gather(turn: Turn): Promise<Facts | undefined> {
  const { kit, claim, signal } = turn
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const name = resourceRef?.name
  turn.type = name ? offerType(kit, resourceRef) : undefined
  const kept = claim.metadata.finalizers?.includes(claimFinalizer) ?? false
  if (name && !turn.type) return undefined
  if (isDeleted(claim) && !kept) return undefined
  turn.offer = name ? await readOffer(turn, name, isDeleted(claim) || resourceRef.uid !== undefined, signal) : undefined
  return {
    deleted: isDeleted(claim),
    named: name !== undefined,
    ownName: name !== undefined && isOfferName(claim, name),
    noted: resourceRef?.uid !== undefined,
    kept,
    offer: turn.offer && offerFacts(turn.offer, claim, resourceRef),
  }
}

/**
 * What the claim refers to. `surely`: that there is none has consequences, so
 * it is not enough that we have not heard of it yet. Whoever wrote this
 * revision of the claim had.
 */
async function readOffer(
  { kit, type, claim }: Turn,
  name: string,
  surely: boolean,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { resourceVersion } = claim.metadata
  for (const options of [{ signal }, ...(surely && resourceVersion ? [{ resourceVersion, signal }] : [])]) {
    try {
      return await kit.client.get(type!, { name }, options)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return undefined
}

function offerFacts(offer: KubeObject, claim: KubeObject, reference: Reference | undefined): OfferFacts {
  const { claimRef, aggregateRef, reclaimPolicy = 'Retain' } = specOf<OfferSpec>(offer)
  const holder = (): OfferFacts['holder'] => {
    if (aggregateRef?.name) return 'an aggregate'
    if (!claimRef?.name) return 'nobody'
    if (claimRef.uid) return claimRef.uid === claim.metadata.uid ? 'this claim' : 'another claim'
    // Set aside for a claim of this name, before there was one.
    const { namespace, name } = claim.metadata
    return claimRef.namespace === namespace && claimRef.name === name && (claimRef.kind ?? claim.kind) === claim.kind
      ? 'nobody'
      : 'another claim'
  }
  return {
    holder: holder(),
    same: !reference?.uid || reference.uid === offer.metadata.uid,
    provisioning: offer.metadata.annotations?.[claimAnnotations.provisioning] !== undefined,
    deleted: isDeleted(offer),
    reclaim: reclaimPolicy,
  }
}

/** The one place where failures are told of. */
async function reportFailure({ kit, claim, signal }: Turn, error: unknown): Promise<Next> {
  // Others work on the same claim, or it is gone: that is ordinary life, not news.
  if (isConflict(error)) return { after: 'backoff' }
  const message = messageOf(error)
  const said: Condition[] = [conditions.reconcileError(message)]
  if (error instanceof NameTakenError) {
    said.unshift({ type: 'Ready', status: 'False', reason: 'ExternalNameTaken', message })
    kit.events.event(claim, 'Warning', 'ExternalNameTaken', message)
  } else {
    kit.events.event(claim, 'Warning', 'CannotReconcileClaim', message)
  }
  const told = report(kit, kit.kind.type, claim, {}, said, signal)
  await told.catch(ignoring(isConflict, isNotFound))
  return { after: 'backoff' }
}
