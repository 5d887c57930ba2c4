import {
  apiVersionOf,
  type Condition,
  conditionsOf,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from '@crosstie/kube'
import { aggregateType } from '../aggregate/define.js'
import { leavesQuickly, SETTLING_SECONDS, settleAggregate, whyNonsense } from '../aggregate/settle.js'
import { readClass } from '../class/candidates.js'
import { chooseClass } from '../class/choose.js'
import { aggregateFor, claimReference, managedFor } from '../class/provision.js'
import { refuseTakenNames } from '../class/taken.js'
import { decoded, encoded, readConnection, writeConnection } from '../connection/copy.js'
import { secretType } from '../connection/publish.js'
import { conditions } from '../managed/conditions.js'
import type { Next } from '../managed/kit.js'
import { annotations, externalNameOf, withFinalizer, withoutFinalizer } from '../managed/meta.js'
import type { Decision } from './decide.js'
import { change, report, setPhase } from './kit.js'
import { attempts, offerName } from './names.js'
import type { Turn } from './reconcile.js'
import { isLookedAfter, isReady, nameRefused, whyNotReady } from './why.js'
import {
  aggregateFinalizer,
  type ClaimSpec,
  called,
  calledBy,
  claimAnnotations,
  claimFinalizer,
  keyOf,
  type OfferSpec,
  type Phase,
  phaseOf,
  specOf,
} from './words.js'

/** What follows from each decision. Undefined: look at the facts again. */
export const act: Readonly<Record<Decision['do'], (turn: Turn, because: string) => Promise<Next | undefined>>> = {
  choose,
  keep,
  provision,
  rename,
  bind,
  note,
  activate,
  settle,
  wait,
  lose,
  release,
  retain,
  reclaim,
}

const waiting = (message: string): Condition => ({ type: 'Ready', status: 'False', reason: 'Waiting', message })

/** Class and name are written down before anything is made: a crash in between leaves a claim that knows what to look for. */
async function choose(turn: Turn): Promise<Next | undefined> {
  const { kit, claim, signal } = turn
  const chosen = await chooseClass(kit, claim, signal)
  if (!chosen) return { after: 'never' }
  if (!('type' in chosen)) return await waitHere(turn, chosen.because)
  const { type, classRef, because } = chosen
  turn.claim = await change(
    kit,
    kit.kind.type,
    claim,
    {
      metadata: { finalizers: withFinalizer(claim.metadata.finalizers, claimFinalizer) },
      spec: { classRef, resourceRef: { apiVersion: apiVersionOf(type), kind: type.kind, name: offerName(claim) } },
    },
    signal,
  )
  kit.events.event(turn.claim, 'Normal', 'ChoseClass', `Chose ${calledBy(classRef)}: ${because}`)
  return undefined
}

async function keep(turn: Turn): Promise<undefined> {
  const { kit, claim, signal } = turn
  const finalizers = withFinalizer(claim.metadata.finalizers, claimFinalizer)
  turn.claim = await change(kit, kit.kind.type, claim, { metadata: { finalizers } }, signal)
}

/** Many may try to make it; whoever comes second finds it made. */
async function provision(turn: Turn): Promise<Next | undefined> {
  const { kit, claim, type, signal } = turn
  const { classRef, resourceRef } = specOf<ClaimSpec>(claim)
  const given = classRef && (await readClass(kit, classRef, signal))
  if (!given)
    return await waitHere(turn, `waiting for ${classRef ? calledBy(classRef) : 'a class'}, which does not exist`)
  const name = resourceRef!.name!
  const binding = kit.bindings.find(({ role, managed }) => role === 'main' && managed.type === type)
  const object = binding
    ? managedFor(binding, { claim }, given, name)
    : aggregateFor(claim, claimReference(claim, { claim: kit.kind }), given, name)
  if (binding) await refuseTakenNames(kit, [{ binding, object }])
  try {
    const made = await kit.client.create(type!, object, { signal })
    kit.events.event(claim, 'Normal', 'Provisioned', `Provisioned ${called(made)} with ${calledBy(classRef)}`)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  return undefined
}

async function rename(turn: Turn): Promise<undefined> {
  const { kit, claim, signal } = turn
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const taken = attempts.findIndex((attempt) => offerName(claim, attempt) === resourceRef!.name)
  if (taken + 1 >= attempts.length) throw new Error(`all names that were tried are taken, such as ${resourceRef!.name}`)
  const spec = { resourceRef: { ...resourceRef, name: offerName(claim, taken + 1) } }
  turn.claim = await change(kit, kit.kind.type, claim, { spec }, signal)
}

/** From the revision in which it was free: of many claims that want it, one gets it (CLM3). */
async function bind(turn: Turn): Promise<Next | undefined> {
  const { kit, claim, offer, type, signal } = turn
  if (type === aggregateType) {
    const nonsense = await whyNonsense(kit, claim, offer!)
    if (nonsense) return await waitHere(turn, nonsense)
  }
  const finalizers =
    type === aggregateType
      ? { metadata: { finalizers: withFinalizer(offer!.metadata.finalizers, aggregateFinalizer) } }
      : {}
  const claimRef = claimReference(claim, { claim: kit.kind })
  await change(kit, type!, offer!, { ...finalizers, spec: { claimRef } }, signal)
  return undefined
}

async function note(turn: Turn): Promise<undefined> {
  const { kit, claim, offer, signal } = turn
  const spec = { resourceRef: { uid: offer!.metadata.uid } }
  turn.claim = await change(kit, kit.kind.type, claim, { spec }, signal)
}

async function activate(turn: Turn): Promise<undefined> {
  const { kit, offer, type, signal } = turn
  await change(kit, type!, offer!, { metadata: { annotations: { [claimAnnotations.provisioning]: null } } }, signal)
}

/** Bound to each other: now it is about being ready, and staying so. */
async function settle(turn: Turn): Promise<Next> {
  const { kit, claim, offer, type, signal } = turn
  kit.waiting.delete(claim.metadata.uid!)
  if (type === aggregateType) {
    kit.claimOf.set(offer!.metadata.name!, keyOf(claim))
    const { aggregate, ready, because, refused, told, open } = await settleAggregate(kit, claim, offer!, signal)
    turn.offer = aggregate
    const soon: Next = { after: 'poll', seconds: SETTLING_SECONDS }
    if (!told && phaseOf(claim) === 'Bound') return soon
    const next = await conclude(turn, 'Bound', ready ? undefined : (refused ?? waiting(because)))
    return open ? soon : next
  }
  await takeExternalName(turn)
  const ready = isReady(offer!)
  const phase: Phase = ready || phaseOf(offer!) === 'Bound' ? 'Bound' : 'Unbindable'
  if (phase === 'Bound' || isLookedAfter(offer!)) await setPhase(kit, type!, offer!, phase, signal)
  const because = nameRefused([offer!]) ?? waiting(`waiting for ${called(offer!)}: ${whyNotReady(offer!)}`)
  return await conclude(turn, phase === 'Bound' ? 'Bound' : 'Unbound', ready ? undefined : because)
}

/** The external name always flows from the managed resource to the claim (XN3). */
async function takeExternalName(turn: Turn): Promise<void> {
  const { kit, claim, offer, signal } = turn
  const name = externalNameOf(offer!)
  if (name === '' || name === externalNameOf(claim)) return
  const metadata = { annotations: { [annotations.externalName]: name } }
  turn.claim = await change(kit, kit.kind.type, claim, { metadata }, signal)
}

async function conclude(turn: Turn, phase: Phase, unready: Condition | undefined): Promise<Next> {
  const { kit, claim, offer, type, signal } = turn
  const ready = unready === undefined
  await copyConnection(turn, ready)
  const bound = phase === 'Bound' && phaseOf(claim) !== 'Bound'
  const said = [unready ?? conditions.available(), conditions.reconcileSuccess()]
  const news =
    unready && unready.reason !== 'Waiting' && conditionsOf(claim).every((c) => c.message !== unready.message)
  turn.claim = await report(kit, kit.kind.type, claim, { bindingPhase: phase }, said, signal)
  if (news) kit.events.event(claim, 'Warning', unready.reason, unready.message ?? '')
  if (bound) {
    kit.events.event(claim, 'Normal', 'BoundToResource', `Bound to ${called(offer!)}`)
    kit.events.event(offer!, 'Normal', 'BoundToClaim', `Bound to ${called(claim)}`)
  }
  if (type === aggregateType) await setPhase(kit, type, offer!, 'Bound', signal)
  return { after: 'poll', seconds: kit.pollSeconds }
}

/** First when all is ready, so that nobody starts with half of it; from then on whenever it changes. */
async function copyConnection({ kit, claim, offer, signal }: Turn, ready: boolean): Promise<void> {
  const to = specOf<ClaimSpec>(claim).writeConnectionSecretToRef
  const { writeConnectionSecretToRef, writeConnectionSecretsToRef } = specOf<OfferSpec>(offer!)
  const from = writeConnectionSecretToRef ?? writeConnectionSecretsToRef
  if (!to || !from) return
  const key = { namespace: claim.metadata.namespace!, name: to.name }
  for (const { namespace, name } of [from, key]) kit.secretUsers.add(`${namespace}/${name}`, claim)
  if (!ready && !(await exists(kit, key, signal))) return
  const data = await readConnection(kit.client, offer!, from, signal)
  if (!data) return
  const whole = { ...encoded(kit.kind.connection(decoded(data))), ...data }
  const written = await writeConnection(kit.client, claim, key, whole, signal)
  if (written) {
    kit.ownWrites.add(written)
    kit.events.event(claim, 'Normal', 'PropagatedConnection', `Wrote connection details to the Secret ${to.name}`)
  }
}

async function exists(
  kit: Turn['kit'],
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  return (await kit.client.get(secretType, key, { signal }).catch(ignoring(isNotFound))) !== undefined
}

async function wait(turn: Turn, because: string): Promise<Next> {
  return await waitHere(turn, `waiting for ${calledBy(specOf<ClaimSpec>(turn.claim).resourceRef!)}, ${because}`)
}

/** Whoever makes what is waited for wakes the claim. */
async function waitHere(turn: Turn, because: string): Promise<Next> {
  const { kit, claim, signal } = turn
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const what = resourceRef?.name ? `${resourceRef.kind}/${resourceRef.name}` : ''
  kit.waiting.set(claim.metadata.uid!, { key: keyOf(claim), what })
  const phase = phaseOf(claim) ?? 'Unbound'
  const said = [waiting(because), conditions.reconcileSuccess()]
  turn.claim = await report(kit, kit.kind.type, claim, { bindingPhase: phase }, said, signal)
  return { after: 'poll', seconds: kit.pollSeconds }
}

async function lose(turn: Turn, because: string): Promise<Next> {
  const { kit, claim, signal } = turn
  const message = `${calledBy(specOf<ClaimSpec>(claim).resourceRef!)} ${because}`
  const lost: Condition = { type: 'Ready', status: 'False', reason: 'Lost', message }
  const written = await report(kit, kit.kind.type, claim, {}, [lost, conditions.reconcileSuccess()], signal)
  if (written !== claim) kit.events.event(claim, 'Warning', 'LostResource', message)
  return { after: 'never' }
}

async function release(turn: Turn): Promise<Next> {
  const { kit, claim, signal } = turn
  kit.waiting.delete(claim.metadata.uid!)
  kit.secretUsers.forget(claim.metadata.uid!)
  const { name = '', uid = '' } = specOf<ClaimSpec>(claim).resourceRef ?? {}
  kit.claimOf.delete(name)
  kit.told.delete(uid)
  const finalizers = withoutFinalizer(claim.metadata.finalizers, claimFinalizer)
  await change(kit, kit.kind.type, claim, { metadata: { finalizers } }, signal).catch(ignoring(isNotFound))
  return { after: 'never' }
}

/** It keeps saying whose it was: nobody else gets at what is in it unless an operator says so. */
async function retain(turn: Turn): Promise<Next> {
  const { kit, claim, offer, type, signal } = turn
  await setPhase(kit, type!, offer!, 'Released', signal)
  kit.events.event(offer!, 'Normal', 'Released', `Retained: ${called(claim)} was deleted`)
  return await release(turn)
}

async function reclaim(turn: Turn): Promise<Next> {
  const { kit, claim, offer, type, signal } = turn
  if (offer!.metadata.deletionTimestamp === undefined) {
    const { uid } = offer!.metadata
    await kit.client
      .delete(type!, keyOf(offer!), { preconditions: { uid: uid! }, signal })
      .catch(ignoring(isNotFound, isConflict))
    kit.events.event(offer!, 'Normal', 'Reclaimed', `Deleted: ${called(claim)} was deleted`)
  }
  if (leavesQuickly(kit, claim)) return { after: 'poll', seconds: SETTLING_SECONDS }
  const message = `waiting for ${called(offer!)} to be deleted: ${whyNotReady(offer!)}`
  const said: Condition = { ...conditions.deleting(), message }
  turn.claim = await report(kit, kit.kind.type, claim, {}, [said, conditions.reconcileSuccess()], signal)
  return { after: 'poll', seconds: kit.pollSeconds }
}
