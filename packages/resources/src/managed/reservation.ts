import {
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
  parseApiVersion,
} from '@crosstie/kube'
import { type ReservationSpec, reservationType } from '../reservation/define.js'
import { type Decision, refusal, releaseUntouched } from './decide.js'
import type { Gathered } from './gather.js'
import { type ExternalIdentity, identityOf } from './identity.js'
import type { Kit } from './kit.js'
import { controllerReference, externalNameOf, isQueried, revisionOf, storedMeta } from './meta.js'
import { recordedCreate, taggedUid } from './ownership.js'
import { policiesOf } from './policy.js'
import { Failure, managedSpecOf, step, type Turn } from './turn.js'

/**
 * Two objects never manage the same external resource (XN1). An object whose external name a user chose, or
 * that adopts what exists, reserves the identity before it acts. An object that creates a resource under its own name
 * writes no reservation: it records the intent to create and then reads the reservation, and the reserver writes the
 * reservation and then reads the objects, so that one of them sees the other (decision 27).
 */

/** A managed resource that manages the same external resource already. */
interface Rival {
  readonly kind: string
  readonly name: string
  readonly uid?: string | undefined
}

/** The decision, unless another object has the right to manage the external resource. */
export async function reserved(gathered: Gathered, decision: Decision): Promise<Decision> {
  const { turn } = gathered
  const identity = identityToReserve(gathered, decision)
  if (!identity) return decision
  const rival = (await rivalByTag(gathered)) ?? (await rivalFor(turn, identity))
  const { kind } = turn.kit
  const { heldUp } = turn.kit.reservations
  const { name, uid } = storedMeta(turn.managed)
  if (!rival) {
    heldUp.delete(uid)
    return decision
  }
  heldUp.set(uid, { key: { name }, reservation: identity.key, owner: rival.uid })
  if (gathered.facts.deleted) return releaseUntouched(`${describe(rival)} manages the external resource`)
  return refusal(
    `external name "${identity.externalName}" is managed by ${describe(rival)}: ${kind.type.kind} ${name} changes nothing. ` +
      `Delete one of the two objects, or give this one managementPolicies ["Observe"]`,
  )
}

const describe = ({ kind, name }: Rival): string => `${kind} ${name}`
const uidOf = ({ metadata: { uid = '' } }: KubeObject): string => uid

/** Decisions after which no external call changes anything. */
const idle: ReadonlySet<string> = new Set<Decision['do']>(['fail', 'refuse', 'release', 'wait'])

/** Undefined when the object needs no reservation for what was decided. */
function identityToReserve({ turn, sight }: Gathered, decision: Decision): ExternalIdentity | undefined {
  const { kit, managed } = turn
  const { kind } = kit
  if (kind.shared || idle.has(decision.do)) return undefined
  if (!mayChange(turn.policies.may)) return undefined
  const created = recordedCreate(kind, managed)
  const adopts = sight.exists && created === 'no'
  if (!adopts && !isNameChosen(kit, managed, created)) return undefined
  return identityOf(kind, managed)
}

const mayChange = ({ create, update, delete: remove }: Turn['policies']['may']): boolean => create || update || remove

/** Did a user choose the external name, other than by naming the object? */
function isNameChosen({ kind }: Kit, managed: KubeObject, created: 'yes' | 'maybe' | 'no'): boolean {
  const name = externalNameOf(managed)
  return kind.name === 'chosen' ? name !== '' && name !== managed.metadata.name : name !== '' && created === 'no'
}

/** The live object whose uid the resource is tagged with: it may use another ProviderConfig of the same account. */
async function rivalByTag({ turn, sight }: Gathered): Promise<Rival | undefined> {
  const { kit, managed, signal } = turn
  const tagged = sight.exists ? taggedUid(kit.kind, sight) : undefined
  if (
    tagged === undefined ||
    tagged === managed.metadata.uid ||
    kit.reservations.strangers.get(uidOf(managed)) === tagged
  )
    return
  const { items } = await kit.api.list(kit.kind.type, { signal })
  const owner = items.find((object) => object.metadata.uid === tagged && manages(kit, object))
  if (owner) return rivalOf(owner)
  kit.reservations.strangers.set(uidOf(managed), tagged)
  return undefined
}

function rivalOf(object: KubeObject): Rival {
  const { name, uid } = storedMeta(object)
  return { kind: object.kind, name, uid }
}

/** Reserves the identity, unless another object has it. */
async function rivalFor(turn: Turn, identity: ExternalIdentity): Promise<Rival | undefined> {
  const { kit, managed } = turn
  if (kit.reservations.holds(identity.key, uidOf(managed))) return undefined
  return await step({ reason: 'CannotReserveExternalName', prefix: 'cannot reserve the external name: ' }, async () => {
    // An object that lost before does not reserve again, however shortly, while it would lose again.
    const known = kit.reservations.heldUp.has(uidOf(managed)) ? await creatorOf(turn, identity) : undefined
    const owner = known ?? (await ownerAfterReserving(turn, identity))
    if (owner) return owner
    kit.reservations.hold(identity.key, uidOf(managed))
    return undefined
  })
}

const ATTEMPTS = 5

/** Creates the reservation. Returns the owner of the one that is there instead, if that owner is alive. */
async function ownerAfterReserving(turn: Turn, identity: ExternalIdentity): Promise<Rival | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const held = await readReservation(turn, identity.key)
    if (held && ownerRefOf(held).uid === turn.managed.metadata.uid) return undefined
    const owner = held && (await liveOwner(turn, identity, held))
    if (owner) return owner
    if (held) await remove(turn, held)
    const written = await createReservation(turn, identity)
    if (written) return await creatorAfterReserving(turn, identity, written)
  }
  throw new Error(`reservation ${identity.key} changes all the time; the reconciler retries`)
}

/** Undefined when another object was quicker. */
async function createReservation({ kit, managed, signal }: Turn, identity: ExternalIdentity) {
  const reservation = reservationFor(managed, identity)
  return await kit.api.create(reservationType, reservation, { signal }).catch(ignoring(isAlreadyExists))
}

/** The reservation is removed again when an object without one created the external resource before. */
async function creatorAfterReserving(turn: Turn, identity: ExternalIdentity, written: KubeObject) {
  const creator = await creatorOf(turn, identity)
  if (creator) await remove(turn, written)
  return creator
}

function reservationFor(managed: KubeObject, { externalName, providerConfigName, key }: ExternalIdentity): KubeObject {
  const { apiVersion, kind } = managed
  const { name, uid } = managed.metadata
  const { blockOwnerDeletion: _, ...owner } = controllerReference(managed)
  return {
    apiVersion: `${reservationType.group}/${reservationType.version}`,
    kind: reservationType.kind,
    // Garbage collection removes it after the owner is gone, should the owner not do so itself.
    metadata: { name: key, ownerReferences: [owner] },
    spec: { externalName, providerConfigName, ownerRef: { apiVersion, kind, name, uid } },
  }
}

const ownerRefOf = (reservation: KubeObject): ReservationSpec['ownerRef'] =>
  (reservation['spec'] as ReservationSpec).ownerRef

async function readReservation({ kit, signal }: Turn, name: string): Promise<KubeObject | undefined> {
  return await kit.api.get(reservationType, { name }, { signal }).catch(ignoring(isNotFound))
}

/** The owner, if it is the same object as when it reserved and still wants this identity. */
async function liveOwner({ kit, signal }: Turn, identity: ExternalIdentity, held: KubeObject) {
  const { kind, name, uid, apiVersion } = ownerRefOf(held)
  const { type } = kit.kind
  // A reservation of another kind has another key. If a user wrote one by hand, it is respected.
  if (kind !== type.kind || parseApiVersion(apiVersion)?.group !== type.group) return { kind, name, uid }
  const owner = await kit.api.get(type, { name }, { signal }).catch(ignoring(isNotFound))
  if (!owner || owner.metadata.uid !== uid) return undefined
  return identityOf(kit.kind, owner)?.key === identity.key ? rivalOf(owner) : undefined
}

/** Deletes just this reservation: another one of the same name stays. */
async function remove({ kit, signal }: Turn, reservation: KubeObject): Promise<void> {
  const { name } = storedMeta(reservation)
  const preconditions = revisionOf(reservation)
  const deleted = kit.api.delete(reservationType, { name }, { preconditions, signal })
  await deleted.catch(ignoring(isNotFound, isConflict))
}

/** Another object that created, or may have created, the external resource under this identity without a reservation. */
async function creatorOf({ kit, managed, signal }: Turn, identity: ExternalIdentity): Promise<Rival | undefined> {
  const { items } = await kit.api.list(kit.kind.type, { signal })
  const creator = items.find(
    (object) =>
      object.metadata.uid !== managed.metadata.uid &&
      recordedCreate(kit.kind, object) !== 'no' &&
      manages(kit, object) &&
      identityOf(kit.kind, object)?.key === identity.key,
  )
  return creator && rivalOf(creator)
}

/** May the object change the external resource at all? One that only observes shares it with a manager. */
function manages({ kind, features }: Kit, object: KubeObject): boolean {
  const options = { gate: features.managementPolicies, hasDeletionPolicy: kind.hasDeletionPolicy }
  return !isQueried(object) && mayChange(policiesOf(managedSpecOf(object), options).may)
}

/**
 * Called between the durable intent and the create call: throws when another object has reserved the identity. That
 * object wrote its reservation before it looked for objects with an intent.
 */
export async function refuseReserved(turn: Turn): Promise<void> {
  const { kit, managed } = turn
  const identity = kit.kind.shared ? undefined : identityOf(kit.kind, managed)
  if (!identity || kit.kind.name !== 'chosen') return
  const held = await readReservation(turn, identity.key)
  if (!held) {
    if (!kit.reservations.lose(identity.key)) return
    throw new Error(`reservation ${identity.key} was deleted; the reconciler reserves the name again`)
  }
  if (ownerRefOf(held).uid === managed.metadata.uid) return
  const owner = await liveOwner(turn, identity, held)
  if (!owner) return
  kit.reservations.lose(identity.key)
  throw new Failure({
    reason: 'ExternalNameTaken',
    message: `external name "${identity.externalName}" is managed by ${describe(owner)}: delete one of the two objects`,
  })
}

/** Gives the reservation back. Called only after the finalizer is gone: the object does nothing more from then on. */
export async function unreserve({ kit, managed, signal }: Turn): Promise<void> {
  const uid = uidOf(managed)
  const identity = identityOf(kit.kind, managed)
  if (!identity) return
  const name = identity.key
  const known = kit.reservations.holds(name, uid)
  if (!known && !isExplicit(kit, managed)) return
  try {
    const held = await kit.api.get(reservationType, { name }, { signal })
    if (ownerRefOf(held).uid !== uid) return
    await kit.api.delete(reservationType, { name }, { preconditions: revisionOf(held), signal })
  } catch (error) {
    // The object is gone, so that no retry follows. Garbage collection and the next object that wants the name remove it.
    if (!isNotFound(error) && !isConflict(error))
      kit.events.event(managed, 'Warning', 'CannotReleaseExternalName', messageOf(error))
  }
}

const isExplicit = (kit: Kit, managed: KubeObject): boolean =>
  isNameChosen(kit, managed, recordedCreate(kit.kind, managed))

/** Objects to reconcile when a reservation changes: those that wait for it. Its owner verifies it again. */
export function* waitingForReservation({ reservations }: Kit, changed: KubeObject): Iterable<ObjectKey> {
  const { name } = storedMeta(changed)
  for (const { key, reservation } of reservations.heldUp.values()) if (reservation === name) yield key
  reservations.lose(name)
}

/** Objects to reconcile when this object is deleted: those that wait for what it manages. */
export function* waitingForOwner({ reservations }: Kit, { metadata }: KubeObject): Iterable<ObjectKey> {
  if (metadata.deletionTimestamp === undefined) return
  for (const { key, owner } of reservations.heldUp.values()) if (owner === metadata.uid) yield key
}
