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
import { type ReservationSpec, reservationType } from '../../definition/reservation.js'
import { controllerReference, externalNameOf, isQueried, revisionOf, storedMeta } from '../../metadata/metadata.js'
import { type Decision, refusal, releaseUntouched } from '../decide.js'
import type { Gathered } from '../observe/gather.js'
import { policiesOf } from '../policy/policy.js'
import { Failure, managedSpecOf, type Reconciliation, step } from '../reconciliation.js'
import type { KindRuntime } from '../runtime.js'
import { type ExternalIdentity, identityOf } from './identity.js'
import { recordedCreate, taggedUid } from './ownership.js'

/**
 * Ensures that two objects never manage the same external resource (XN1). An object whose external name a user
 * chose, or that adopts an existing resource, reserves the identity before it acts. An object that creates a
 * resource under its own name writes no reservation. It records the create intent and then reads the reservation.
 * The reserver writes the reservation and then reads the objects. So at least one of them sees the other (decision
 * 27).
 */

/** A managed resource that already manages the same external resource. */
interface Rival {
  readonly kind: string
  readonly name: string
  readonly uid?: string | undefined
}

/** Returns the decision. If another object has the right to manage the resource, returns a refusal or a release. */
export async function reserved(gathered: Gathered, decision: Decision): Promise<Decision> {
  const { reconciliation } = gathered
  const identity = identityToReserve(gathered, decision)
  if (!identity) return decision
  const rival = (await rivalByTag(gathered)) ?? (await rivalFor(reconciliation, identity))
  const { kind } = reconciliation.runtime
  const { heldUp } = reconciliation.runtime.reservations
  const { name, uid } = storedMeta(reconciliation.managed)
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

/** Decisions that are not followed by an external call that changes anything. */
const idle: ReadonlySet<string> = new Set<Decision['do']>(['fail', 'refuse', 'release', 'wait'])

/** Returns the identity to reserve; undefined if the decision needs no reservation. */
function identityToReserve({ reconciliation, observed }: Gathered, decision: Decision): ExternalIdentity | undefined {
  const { runtime, managed } = reconciliation
  const { kind } = runtime
  if (kind.shared || idle.has(decision.do)) return undefined
  if (!mayChange(reconciliation.policies.may)) return undefined
  const created = recordedCreate(kind, managed)
  const adopts = observed.exists && created === 'no'
  if (!adopts && !isNameChosen(runtime, managed, created)) return undefined
  return identityOf(kind, managed)
}

const mayChange = ({ create, update, delete: remove }: Reconciliation['policies']['may']): boolean =>
  create || update || remove

/** Reports whether a user chose the external name, other than by naming the object. */
function isNameChosen({ kind }: KindRuntime, managed: KubeObject, created: 'yes' | 'maybe' | 'no'): boolean {
  const name = externalNameOf(managed)
  return kind.naming === 'user-chosen' ? name !== '' && name !== managed.metadata.name : name !== '' && created === 'no'
}

/**
 * Returns the live object with the uid in the resource's tag. It may use another ProviderConfig of the same
 * account.
 */
async function rivalByTag({ reconciliation, observed }: Gathered): Promise<Rival | undefined> {
  const { runtime, managed, signal } = reconciliation
  const tagged = observed.exists ? taggedUid(runtime.kind, observed) : undefined
  if (
    tagged === undefined ||
    tagged === managed.metadata.uid ||
    runtime.reservations.strangers.get(uidOf(managed)) === tagged
  )
    return
  const { items } = await runtime.api.list(runtime.kind.type, { signal })
  const owner = items.find((object) => object.metadata.uid === tagged && manages(runtime, object))
  if (owner) return rivalOf(owner)
  runtime.reservations.strangers.set(uidOf(managed), tagged)
  return undefined
}

function rivalOf(object: KubeObject): Rival {
  const { name, uid } = storedMeta(object)
  return { kind: object.kind, name, uid }
}

/** Reserves the identity. Returns the other object if one already has it. */
async function rivalFor(reconciliation: Reconciliation, identity: ExternalIdentity): Promise<Rival | undefined> {
  const { runtime, managed } = reconciliation
  if (runtime.reservations.holds(identity.key, uidOf(managed))) return undefined
  return await step({ reason: 'CannotReserveExternalName', prefix: 'cannot reserve the external name: ' }, async () => {
    // An object that lost before does not reserve again, not even briefly, while it would lose again.
    const known = runtime.reservations.heldUp.has(uidOf(managed))
      ? await creatorOf(reconciliation, identity)
      : undefined
    const owner = known ?? (await ownerAfterReserving(reconciliation, identity))
    if (owner) return owner
    runtime.reservations.hold(identity.key, uidOf(managed))
    return undefined
  })
}

const ATTEMPTS = 5

/** Creates the reservation. Returns the owner of an existing reservation instead, if that owner still exists. */
async function ownerAfterReserving(
  reconciliation: Reconciliation,
  identity: ExternalIdentity,
): Promise<Rival | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const held = await readReservation(reconciliation, identity.key)
    if (held && ownerRefOf(held).uid === reconciliation.managed.metadata.uid) return undefined
    const owner = held && (await liveOwner(reconciliation, identity, held))
    if (owner) return owner
    if (held) await remove(reconciliation, held)
    const written = await createReservation(reconciliation, identity)
    if (written) return await creatorAfterReserving(reconciliation, identity, written)
  }
  throw new Error(`reservation ${identity.key} changes all the time; the reconciler retries`)
}

/** Returns undefined if another object was faster. */
async function createReservation({ runtime, managed, signal }: Reconciliation, identity: ExternalIdentity) {
  const reservation = reservationFor(managed, identity)
  return await runtime.api.create(reservationType, reservation, { signal }).catch(ignoring(isAlreadyExists))
}

/** Removes the new reservation if an object without a reservation already created the external resource. */
async function creatorAfterReserving(reconciliation: Reconciliation, identity: ExternalIdentity, written: KubeObject) {
  const creator = await creatorOf(reconciliation, identity)
  if (creator) await remove(reconciliation, written)
  return creator
}

function reservationFor(managed: KubeObject, { externalName, providerConfigName, key }: ExternalIdentity): KubeObject {
  const { apiVersion, kind } = managed
  const { name, uid } = managed.metadata
  const { blockOwnerDeletion: _, ...owner } = controllerReference(managed)
  return {
    apiVersion: `${reservationType.group}/${reservationType.version}`,
    kind: reservationType.kind,
    // Garbage collection removes the reservation if the owner is gone and has not removed it.
    metadata: { name: key, ownerReferences: [owner] },
    spec: { externalName, providerConfigName, ownerRef: { apiVersion, kind, name, uid } },
  }
}

const ownerRefOf = (reservation: KubeObject): ReservationSpec['ownerRef'] =>
  (reservation['spec'] as ReservationSpec).ownerRef

async function readReservation({ runtime, signal }: Reconciliation, name: string): Promise<KubeObject | undefined> {
  return await runtime.api.get(reservationType, { name }, { signal }).catch(ignoring(isNotFound))
}

/** Returns the owner if it is the object that reserved and its identity is still the same. */
async function liveOwner({ runtime, signal }: Reconciliation, identity: ExternalIdentity, held: KubeObject) {
  const { kind, name, uid, apiVersion } = ownerRefOf(held)
  const { type } = runtime.kind
  // A reservation of another kind has another key. A reservation that a user wrote is respected.
  if (kind !== type.kind || parseApiVersion(apiVersion)?.group !== type.group) return { kind, name, uid }
  const owner = await runtime.api.get(type, { name }, { signal }).catch(ignoring(isNotFound))
  if (!owner || owner.metadata.uid !== uid) return undefined
  return identityOf(runtime.kind, owner)?.key === identity.key ? rivalOf(owner) : undefined
}

/** Deletes exactly this reservation. Another one with the same name stays. */
async function remove({ runtime, signal }: Reconciliation, reservation: KubeObject): Promise<void> {
  const { name } = storedMeta(reservation)
  const preconditions = revisionOf(reservation)
  const deleted = runtime.api.delete(reservationType, { name }, { preconditions, signal })
  await deleted.catch(ignoring(isNotFound, isConflict))
}

/** Returns another object that created, or may have created, the external resource without a reservation. */
async function creatorOf(
  { runtime, managed, signal }: Reconciliation,
  identity: ExternalIdentity,
): Promise<Rival | undefined> {
  const { items } = await runtime.api.list(runtime.kind.type, { signal })
  const creator = items.find(
    (object) =>
      object.metadata.uid !== managed.metadata.uid &&
      recordedCreate(runtime.kind, object) !== 'no' &&
      manages(runtime, object) &&
      identityOf(runtime.kind, object)?.key === identity.key,
  )
  return creator && rivalOf(creator)
}

/**
 * Reports whether the object may change the external resource. An object that only observes may share it with a
 * manager.
 */
function manages({ kind, features }: KindRuntime, object: KubeObject): boolean {
  const options = { gate: features.managementPolicies, hasDeletionPolicy: kind.hasDeletionPolicy }
  return !isQueried(object) && mayChange(policiesOf(managedSpecOf(object), options).may)
}

/**
 * Throws if another object has reserved the identity. Called between the durable intent and the create call. The
 * other object wrote its reservation before it searched for objects with an intent.
 */
export async function refuseReserved(reconciliation: Reconciliation): Promise<void> {
  const { runtime, managed } = reconciliation
  const identity = runtime.kind.shared ? undefined : identityOf(runtime.kind, managed)
  if (!identity || runtime.kind.naming !== 'user-chosen') return
  const held = await readReservation(reconciliation, identity.key)
  if (!held) {
    if (!runtime.reservations.lose(identity.key)) return
    throw new Error(`reservation ${identity.key} was deleted; the reconciler reserves the name again`)
  }
  if (ownerRefOf(held).uid === managed.metadata.uid) return
  const owner = await liveOwner(reconciliation, identity, held)
  if (!owner) return
  runtime.reservations.lose(identity.key)
  throw new Failure({
    reason: 'ExternalNameTaken',
    message: `external name "${identity.externalName}" is managed by ${describe(owner)}: delete one of the two objects`,
  })
}

/** Releases the reservation. Called only after the finalizer is removed, when the object no longer acts. */
export async function unreserve({ runtime, managed, signal }: Reconciliation): Promise<void> {
  const uid = uidOf(managed)
  const identity = identityOf(runtime.kind, managed)
  if (!identity) return
  const name = identity.key
  const known = runtime.reservations.holds(name, uid)
  if (!known && !isExplicit(runtime, managed)) return
  try {
    const held = await runtime.api.get(reservationType, { name }, { signal })
    if (ownerRefOf(held).uid !== uid) return
    await runtime.api.delete(reservationType, { name }, { preconditions: revisionOf(held), signal })
  } catch (error) {
    // The object is gone, so there is no retry. Garbage collection or the next object that needs the name removes
    // it.
    if (!isNotFound(error) && !isConflict(error))
      runtime.events.event(managed, 'Warning', 'CannotReleaseExternalName', messageOf(error))
  }
}

const isExplicit = (runtime: KindRuntime, managed: KubeObject): boolean =>
  isNameChosen(runtime, managed, recordedCreate(runtime.kind, managed))

/** Returns the objects that wait for a reservation that changed. The owner verifies its reservation again. */
export function* waitingForReservation({ reservations }: KindRuntime, changed: KubeObject): Iterable<ObjectKey> {
  const { name } = storedMeta(changed)
  for (const { key, reservation } of reservations.heldUp.values()) if (reservation === name) yield key
  reservations.lose(name)
}

/** Returns the objects that wait for the external resource of an object that is being deleted. */
export function* waitingForOwner({ reservations }: KindRuntime, { metadata }: KubeObject): Iterable<ObjectKey> {
  if (metadata.deletionTimestamp === undefined) return
  for (const { key, owner } of reservations.heldUp.values()) if (owner === metadata.uid) yield key
}
