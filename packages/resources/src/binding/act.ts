import type { Next } from '@crosstie/controller'
import {
  apiVersionOf,
  type Condition,
  conditionsOf,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from '@crosstie/kube'
import { decoded, encoded, readConnection, writeConnection } from '../connection/copy.js'
import { secretType } from '../connection/publish.js'
import { aggregateType } from '../definition/aggregate.js'
import {
  aggregateFinalizer,
  type BindableSpec,
  type ClaimSpec,
  claimAnnotations,
  claimFinalizer,
  describeObject,
  describeReference,
  keyOf,
  type Phase,
  phaseOf,
  specOf,
} from '../metadata/binding.js'
import { annotations, externalNameOf, withFinalizer, withoutFinalizer } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { chooseClass } from './choose-class.js'
import { readClass } from './class-candidates.js'
import { convergeMembers, leavesQuickly, PROGRESS_SECONDS, whyUnsuitable } from './converge-members.js'
import type { ClaimDecision } from './decide.js'
import { attempts, bindableName } from './names.js'
import { aggregateFor, claimReference, managedFor } from './provision.js'
import { isReady, isReconciled, nameRefused, whyNotReady } from './readiness.js'
import type { ClaimReconciliation } from './reconcile.js'
import { change, report, setPhase } from './runtime.js'
import { refuseTakenNames } from './taken-names.js'

/** The action for each decision. An action returns undefined if the facts must be gathered again. */
export const act: Readonly<
  Record<ClaimDecision['do'], (reconciliation: ClaimReconciliation, because: string) => Promise<Next | undefined>>
> = {
  choose,
  keep,
  provision,
  rename,
  bind,
  note,
  activate,
  converge,
  wait,
  lose,
  release,
  retain,
  reclaim,
}

const waiting = (message: string): Condition => ({ type: 'Ready', status: 'False', reason: 'Waiting', message })

/**
 * Records the class and the name before any object is created, so that a reconciliation after a crash finds the
 * created object.
 */
async function choose(reconciliation: ClaimReconciliation): Promise<Next | undefined> {
  const { runtime, claim, signal } = reconciliation
  const chosen = await chooseClass(runtime, claim, signal)
  if (!chosen) return { after: 'never' }
  if (!('type' in chosen)) return await reportWaiting(reconciliation, chosen.because)
  const { type, classRef, because } = chosen
  reconciliation.claim = await change(
    runtime,
    runtime.kind.type,
    claim,
    {
      metadata: { finalizers: withFinalizer(claim.metadata.finalizers, claimFinalizer) },
      spec: { classRef, resourceRef: { apiVersion: apiVersionOf(type), kind: type.kind, name: bindableName(claim) } },
    },
    signal,
  )
  runtime.events.event(reconciliation.claim, 'Normal', 'ChoseClass', `Chose ${describeReference(classRef)}: ${because}`)
  return undefined
}

async function keep(reconciliation: ClaimReconciliation): Promise<undefined> {
  const { runtime, claim, signal } = reconciliation
  const finalizers = withFinalizer(claim.metadata.finalizers, claimFinalizer)
  reconciliation.claim = await change(runtime, runtime.kind.type, claim, { metadata: { finalizers } }, signal)
}

/**
 * Creates the object. Several processes may try; the name is deterministic, so all but the first find an existing
 * object.
 */
async function provision(reconciliation: ClaimReconciliation): Promise<Next | undefined> {
  const { runtime, claim, type, signal } = reconciliation
  const { classRef, resourceRef } = specOf<ClaimSpec>(claim)
  const given = classRef && (await readClass(runtime, classRef, signal))
  if (!given)
    return await reportWaiting(
      reconciliation,
      `waiting for ${classRef ? describeReference(classRef) : 'a class'}, which does not exist`,
    )
  const name = resourceRef!.name!
  const binding = runtime.bindings.find(({ role, managed }) => role === 'main' && managed.type === type)
  const object = binding
    ? managedFor(binding, { claim }, given, name)
    : aggregateFor(claim, claimReference(claim, { claim: runtime.kind }), given, name)
  if (binding) await refuseTakenNames(runtime, [{ binding, object }])
  try {
    const made = await runtime.client.create(type!, object, { signal })
    runtime.events.event(
      claim,
      'Normal',
      'Provisioned',
      `Provisioned ${describeObject(made)} with ${describeReference(classRef)}`,
    )
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  return undefined
}

async function rename(reconciliation: ClaimReconciliation): Promise<undefined> {
  const { runtime, claim, signal } = reconciliation
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const taken = attempts.findIndex((attempt) => bindableName(claim, attempt) === resourceRef!.name)
  if (taken + 1 >= attempts.length) throw new Error(`all names that were tried are taken, such as ${resourceRef!.name}`)
  const spec = { resourceRef: { ...resourceRef, name: bindableName(claim, taken + 1) } }
  reconciliation.claim = await change(runtime, runtime.kind.type, claim, { spec }, signal)
}

/** Binds the object from the revision in which it was free, so that at most one of several claims succeeds (CLM3). */
async function bind(reconciliation: ClaimReconciliation): Promise<Next | undefined> {
  const { runtime, claim, bindable, type, signal } = reconciliation
  if (type === aggregateType) {
    const nonsense = await whyUnsuitable(runtime, claim, bindable!)
    if (nonsense) return await reportWaiting(reconciliation, nonsense)
  }
  const finalizers =
    type === aggregateType
      ? { metadata: { finalizers: withFinalizer(bindable!.metadata.finalizers, aggregateFinalizer) } }
      : {}
  const claimRef = claimReference(claim, { claim: runtime.kind })
  await change(runtime, type!, bindable!, { ...finalizers, spec: { claimRef } }, signal)
  return undefined
}

async function note(reconciliation: ClaimReconciliation): Promise<undefined> {
  const { runtime, claim, bindable, signal } = reconciliation
  const spec = { resourceRef: { uid: bindable!.metadata.uid } }
  reconciliation.claim = await change(runtime, runtime.kind.type, claim, { spec }, signal)
}

async function activate(reconciliation: ClaimReconciliation): Promise<undefined> {
  const { runtime, bindable, type, signal } = reconciliation
  await change(
    runtime,
    type!,
    bindable!,
    { metadata: { annotations: { [claimAnnotations.provisioning]: null } } },
    signal,
  )
}

/** Reports the readiness of a claim whose binding is complete, and keeps its name and connection details up to date. */
async function converge(reconciliation: ClaimReconciliation): Promise<Next> {
  const { runtime, claim, bindable, type, signal } = reconciliation
  runtime.waiting.forget(claim.metadata.uid!)
  if (type === aggregateType) {
    runtime.bound.add(claim, bindable!)
    const { aggregate, ready, because, refused, reported, open } = await convergeMembers(
      runtime,
      claim,
      bindable!,
      signal,
    )
    reconciliation.bindable = aggregate
    const soon: Next = { after: 'poll', seconds: PROGRESS_SECONDS }
    if (!reported && phaseOf(claim) === 'Bound') return soon
    const next = await conclude(reconciliation, 'Bound', ready ? undefined : (refused ?? waiting(because)))
    return open ? soon : next
  }
  await copyExternalName(reconciliation)
  const ready = isReady(bindable!)
  const phase: Phase = ready || phaseOf(bindable!) === 'Bound' ? 'Bound' : 'Unbindable'
  if (phase === 'Bound' || isReconciled(bindable!)) await setPhase(runtime, type!, bindable!, phase, signal)
  const because =
    nameRefused([bindable!]) ?? waiting(`waiting for ${describeObject(bindable!)}: ${whyNotReady(bindable!)}`)
  return await conclude(reconciliation, phase === 'Bound' ? 'Bound' : 'Unbound', ready ? undefined : because)
}

/** Copies the external name from the managed resource to the claim, never in the opposite direction (XN3). */
async function copyExternalName(reconciliation: ClaimReconciliation): Promise<void> {
  const { runtime, claim, bindable, signal } = reconciliation
  const name = externalNameOf(bindable!)
  if (name === '' || name === externalNameOf(claim)) return
  const metadata = { annotations: { [annotations.externalName]: name } }
  reconciliation.claim = await change(runtime, runtime.kind.type, claim, { metadata }, signal)
}

async function conclude(
  reconciliation: ClaimReconciliation,
  phase: Phase,
  unready: Condition | undefined,
): Promise<Next> {
  const { runtime, claim, bindable, type, signal } = reconciliation
  const ready = unready === undefined
  await copyConnection(reconciliation, ready)
  const bound = phase === 'Bound' && phaseOf(claim) !== 'Bound'
  const said = [unready ?? conditions.available(), conditions.reconcileSuccess()]
  const news =
    unready && unready.reason !== 'Waiting' && conditionsOf(claim).every((c) => c.message !== unready.message)
  reconciliation.claim = await report(runtime, runtime.kind.type, claim, { bindingPhase: phase }, said, signal)
  if (news) runtime.events.event(claim, 'Warning', unready.reason, unready.message ?? '')
  if (bound) {
    runtime.events.event(claim, 'Normal', 'BoundToResource', `Bound to ${describeObject(bindable!)}`)
    runtime.events.event(bindable!, 'Normal', 'BoundToClaim', `Bound to ${describeObject(claim)}`)
  }
  if (type === aggregateType) await setPhase(runtime, type, bindable!, 'Bound', signal)
  return { after: 'poll', seconds: runtime.pollSeconds }
}

/**
 * Copies connection details for the first time when the resource is ready, so that applications never see a partial
 * set. Later changes are copied at once.
 */
async function copyConnection(
  { runtime, claim, bindable, signal }: ClaimReconciliation,
  ready: boolean,
): Promise<void> {
  const to = specOf<ClaimSpec>(claim).writeConnectionSecretToRef
  const { writeConnectionSecretToRef, writeConnectionSecretsToRef } = specOf<BindableSpec>(bindable!)
  const from = writeConnectionSecretToRef ?? writeConnectionSecretsToRef
  if (!to || !from) return
  const key = { namespace: claim.metadata.namespace!, name: to.name }
  for (const { namespace, name } of [from, key]) runtime.secretUsers.add(`${namespace}/${name}`, claim)
  if (!ready && !(await exists(runtime, key, signal))) return
  const data = await readConnection(runtime.client, bindable!, from, signal)
  if (!data) return
  const whole = { ...encoded(runtime.kind.connection(decoded(data))), ...data }
  const written = await writeConnection(runtime.client, claim, key, whole, signal)
  if (written) {
    runtime.selfWrites.add(written)
    runtime.events.event(claim, 'Normal', 'PropagatedConnection', `Wrote connection details to the Secret ${to.name}`)
  }
}

async function exists(
  runtime: ClaimReconciliation['runtime'],
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  return (await runtime.client.get(secretType, key, { signal }).catch(ignoring(isNotFound))) !== undefined
}

async function wait(reconciliation: ClaimReconciliation, because: string): Promise<Next> {
  return await reportWaiting(
    reconciliation,
    `waiting for ${describeReference(specOf<ClaimSpec>(reconciliation.claim).resourceRef!)}, ${because}`,
  )
}

/** Reports that the claim waits. A change of the awaited object triggers the next reconciliation. */
async function reportWaiting(reconciliation: ClaimReconciliation, because: string): Promise<Next> {
  const { runtime, claim, signal } = reconciliation
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const what = resourceRef?.name ? `${resourceRef.kind}/${resourceRef.name}` : ''
  runtime.waiting.add(claim, what)
  const phase = phaseOf(claim) ?? 'Unbound'
  const said = [waiting(because), conditions.reconcileSuccess()]
  reconciliation.claim = await report(runtime, runtime.kind.type, claim, { bindingPhase: phase }, said, signal)
  return { after: 'poll', seconds: runtime.pollSeconds }
}

async function lose(reconciliation: ClaimReconciliation, because: string): Promise<Next> {
  const { runtime, claim, signal } = reconciliation
  const message = `${describeReference(specOf<ClaimSpec>(claim).resourceRef!)} ${because}`
  const lost: Condition = { type: 'Ready', status: 'False', reason: 'Lost', message }
  const written = await report(runtime, runtime.kind.type, claim, {}, [lost, conditions.reconcileSuccess()], signal)
  if (written !== claim) runtime.events.event(claim, 'Warning', 'LostResource', message)
  return { after: 'never' }
}

async function release(reconciliation: ClaimReconciliation): Promise<Next> {
  const { runtime, claim, signal } = reconciliation
  runtime.memory.drop(claim.metadata.uid!)
  const finalizers = withoutFinalizer(claim.metadata.finalizers, claimFinalizer)
  await change(runtime, runtime.kind.type, claim, { metadata: { finalizers } }, signal).catch(ignoring(isNotFound))
  return { after: 'never' }
}

/**
 * Releases the object but keeps its claimRef, so that another claim cannot bind to it until an operator removes the
 * reference.
 */
async function retain(reconciliation: ClaimReconciliation): Promise<Next> {
  const { runtime, claim, bindable, type, signal } = reconciliation
  await setPhase(runtime, type!, bindable!, 'Released', signal)
  runtime.events.event(bindable!, 'Normal', 'Released', `Retained: ${describeObject(claim)} was deleted`)
  return await release(reconciliation)
}

async function reclaim(reconciliation: ClaimReconciliation): Promise<Next> {
  const { runtime, claim, bindable, type, signal } = reconciliation
  if (bindable!.metadata.deletionTimestamp === undefined) {
    const { uid } = bindable!.metadata
    await runtime.client
      .delete(type!, keyOf(bindable!), { preconditions: { uid: uid! }, signal })
      .catch(ignoring(isNotFound, isConflict))
    runtime.events.event(bindable!, 'Normal', 'Reclaimed', `Deleted: ${describeObject(claim)} was deleted`)
  }
  if (leavesQuickly(runtime, claim)) return { after: 'poll', seconds: PROGRESS_SECONDS }
  const message = `waiting for ${describeObject(bindable!)} to be deleted: ${whyNotReady(bindable!)}`
  const said: Condition = { ...conditions.deleting(), message }
  reconciliation.claim = await report(
    runtime,
    runtime.kind.type,
    claim,
    {},
    [said, conditions.reconcileSuccess()],
    signal,
  )
  return { after: 'poll', seconds: runtime.pollSeconds }
}
