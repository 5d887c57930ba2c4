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

/** The state of one reconciliation of a claim. */
export interface ClaimReconciliation {
  readonly runtime: ClaimRuntime
  readonly signal: AbortSignal
  claim: KubeObject
  /** The type of the object that the claim refers to. */
  type: ResourceType | undefined
  bindable: KubeObject | undefined
}

/** The maximum number of steps. Fewer steps lead from a new claim to a bound one. */
const STEPS_MAX = 12

/**
 * Reconciles a claim: binds it to an object that satisfies it, and releases that object when the claim is deleted.
 *
 * It gathers facts, decides and acts until only waiting is left. Every write requires the revision that the
 * decision was based on. Of several concurrent processes one succeeds, and the others retry.
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

/**
 * Gathers the facts of a claim. Returns undefined if this process has no binding for the combination, which is then
 * ignored (CLM6).
 */
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
 * Returns the object that the claim refers to. With `surely`, absence has consequences, so a cache miss is verified
 * with data at least as new as this revision of the claim, whose author knew the object.
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
    // The object is reserved for a claim of this name that did not exist yet.
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

/** Reports an error of a reconciliation. All errors are reported here. */
async function reportFailure({ runtime, claim, signal }: ClaimReconciliation, error: unknown): Promise<Next> {
  // Another process changed the claim, or it is gone. A conflict is expected and is not reported.
  if (isConflict(error)) return { after: 'backoff' }
  const message = messageOf(error)
  const said: Condition[] = [conditions.reconcileError(message)]
  if (error instanceof NameTakenError) {
    said.unshift({ type: 'Ready', status: 'False', reason: 'ExternalNameTaken', message })
    runtime.events.event(claim, 'Warning', 'ExternalNameTaken', message)
  } else {
    runtime.events.event(claim, 'Warning', 'CannotReconcileClaim', message)
  }
  const written = report(runtime, runtime.kind.type, claim, {}, said, signal)
  await written.catch(ignoring(isConflict, isNotFound))
  return { after: 'backoff' }
}
