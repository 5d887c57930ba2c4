import type { Next } from '@crosstie/controller'
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
import {
  type BindableSpec,
  type ClaimSpec,
  claimAnnotations,
  claimFinalizer,
  type Reference,
  specOf,
} from '../metadata/binding.js'
import { isDeleted, isPaused } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { act } from './act.js'
import { type BindableFacts, type ClaimFacts, decide } from './decide.js'
import { isBindableName } from './names.js'
import { releaseUnclaimed } from './release-unclaimed.js'
import { bindableType, type ClaimRuntime, report } from './runtime.js'
import { NameTakenError } from './taken-names.js'

/** One turn of a claim: what is known of it by now. */
export interface ClaimReconciliation {
  readonly runtime: ClaimRuntime
  readonly signal: AbortSignal
  claim: KubeObject
  /** What the claim refers to, and its kind. */
  type: ResourceType | undefined
  bindable: KubeObject | undefined
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
export async function reconcileClaim(runtime: ClaimRuntime, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  const claim = await read(runtime, key, signal)
  await releaseUnclaimed(runtime, key, claim, signal)
  if (!claim || isPaused(claim)) return { after: 'never' }
  const reconciliation: ClaimReconciliation = { runtime, signal, claim, type: undefined, bindable: undefined }
  try {
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const facts = await gather(reconciliation)
      if (!facts) return { after: 'never' }
      const decision = decide(facts)
      const next = await act[decision.do](reconciliation, 'because' in decision ? decision.because : '')
      if (next) return next
    }
    return { after: 'backoff' }
  } catch (error) {
    return await reportFailure(reconciliation, error)
  }
}

async function read(runtime: ClaimRuntime, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return await runtime.client.get(runtime.kind.type, key, { signal }).catch(ignoring(isNotFound))
}

/** Undefined when nobody here owns the combination, which is then left alone (CLM6). */
async function gather(reconciliation: ClaimReconciliation): Promise<ClaimFacts | undefined> {
  const { runtime, claim, signal } = reconciliation
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const name = resourceRef?.name
  reconciliation.type = name ? bindableType(runtime, resourceRef) : undefined
  const kept = claim.metadata.finalizers?.includes(claimFinalizer) ?? false
  if (name && !reconciliation.type) return undefined
  if (isDeleted(claim) && !kept) return undefined
  reconciliation.bindable = name
    ? await readBindable(reconciliation, name, isDeleted(claim) || resourceRef.uid !== undefined, signal)
    : undefined
  return {
    deleted: isDeleted(claim),
    named: name !== undefined,
    ownName: name !== undefined && isBindableName(claim, name),
    noted: resourceRef?.uid !== undefined,
    kept,
    bindable: reconciliation.bindable && bindableFacts(reconciliation.bindable, claim, resourceRef),
  }
}

/**
 * What the claim refers to. `surely`: that there is none has consequences, so
 * it is not enough that we have not heard of it yet. Whoever wrote this
 * revision of the claim had.
 */
async function readBindable(
  { runtime, type, claim }: ClaimReconciliation,
  name: string,
  surely: boolean,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { resourceVersion } = claim.metadata
  for (const options of [{ signal }, ...(surely && resourceVersion ? [{ resourceVersion, signal }] : [])]) {
    try {
      return await runtime.client.get(type!, { name }, options)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return undefined
}

function bindableFacts(bindable: KubeObject, claim: KubeObject, reference: Reference | undefined): BindableFacts {
  const { claimRef, aggregateRef, reclaimPolicy = 'Retain' } = specOf<BindableSpec>(bindable)
  const holder = (): BindableFacts['holder'] => {
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
    same: !reference?.uid || reference.uid === bindable.metadata.uid,
    provisioning: bindable.metadata.annotations?.[claimAnnotations.provisioning] !== undefined,
    deleted: isDeleted(bindable),
    reclaim: reclaimPolicy,
  }
}

/** The one place where failures are told of. */
async function reportFailure({ runtime, claim, signal }: ClaimReconciliation, error: unknown): Promise<Next> {
  // Others work on the same claim, or it is gone: that is ordinary life, not news.
  if (isConflict(error)) return { after: 'backoff' }
  const message = messageOf(error)
  const said: Condition[] = [conditions.reconcileError(message)]
  if (error instanceof NameTakenError) {
    said.unshift({ type: 'Ready', status: 'False', reason: 'ExternalNameTaken', message })
    runtime.events.event(claim, 'Warning', 'ExternalNameTaken', message)
  } else {
    runtime.events.event(claim, 'Warning', 'CannotReconcileClaim', message)
  }
  const told = report(runtime, runtime.kind.type, claim, {}, said, signal)
  await told.catch(ignoring(isConflict, isNotFound))
  return { after: 'backoff' }
}
