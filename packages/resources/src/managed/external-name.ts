import type { Present, Sight } from '../external/external.js'
import { callExternal } from './call.js'
import { identityTags } from './create.js'
import { differencesOf, mergeInit } from './difference.js'
import { annotations, externalNameOf, finalizer, isDeleted, withFinalizer } from './meta.js'
import { step, type Turn } from './turn.js'

/**
 * Protects the name of an external resource that exists (XN1). Admission refuses to remove or change the annotation, where
 * the policy is installed. This is the second line: a name that was lost or changed nevertheless is restored, the resource
 * is searched for by its tags, or the object stops. Nothing is created, updated or deleted on account of a wrong name.
 */

/** By how much the provider's clock may differ from the API server's. */
const CLOCK_SKEW_MS = 60_000

/** An object that is younger was never seen to lose anything: a search before its first create would find nothing. */
const YOUNG_MS = 60_000

/** Restores the annotation from the status, or from the memory of this process when the annotation is missing. */
export async function keepName(turn: Turn): Promise<void> {
  const { managed, recordedName, state } = turn
  const annotated = externalNameOf(managed)
  const name = recordedName || (annotated === '' ? state.externalName : '')
  if (name === '' || name === annotated) return
  const how = annotated === '' ? 'was removed' : `was changed to ${JSON.stringify(annotated)}`
  turn.event(
    'Warning',
    'ExternalNameRestored',
    `The annotation ${annotations.externalName} ${how}. It names the external resource ${JSON.stringify(name)} of this object and was restored. To manage another external resource, create another object`,
  )
  const finalizers = withFinalizer(managed.metadata.finalizers, finalizer)
  const keep = finalizers !== managed.metadata.finalizers && !isDeleted(managed)
  const notes = { [annotations.externalName]: name, ...restoredCreate(turn) }
  const reason = 'CannotUpdateManagedResource'
  await step({ reason, prefix: 'cannot restore the external name: ', both: true }, () =>
    turn.patchMetadata({ annotations: notes, ...(keep ? { finalizers } : {}) }),
  )
}

/** That a create succeeded was lost with the other annotations. Without it the next create would repeat its token. */
function restoredCreate({ kit, history }: Turn): Readonly<Record<string, string>> {
  if (kit.kind.idempotentCreate || history.succeeded !== undefined || history.attempted) return {}
  return { [annotations.createSucceeded]: new Date(kit.clock.now()).toISOString() }
}

/** Our finalizer says that there is an external resource, and nothing says which one. */
function isLost({ managed, history, recordedDoubt }: Turn): boolean {
  const held = managed.metadata.finalizers?.includes(finalizer) ?? false
  return externalNameOf(managed) === '' && held && !history.attempted && !recordedDoubt
}

/** This process knows another name than the annotation says, and the status, which would decide, is gone. */
function isContradicted({ managed, state, recordedName }: Turn): boolean {
  const annotated = externalNameOf(managed)
  return recordedName === '' && annotated !== '' && state.externalName !== '' && state.externalName !== annotated
}

/** The annotation is all that there is: the status has no record of what was created. */
function isUnconfirmed({ managed, history, state, recordedName }: Turn): boolean {
  const named = externalNameOf(managed) !== ''
  return named && history.succeeded !== undefined && recordedName === '' && state.externalName === ''
}

/** No name, although the object is old enough to have lost one together with everything else. */
function mayHaveLostAll({ kit, managed }: Turn): boolean {
  const age = kit.clock.now() - Date.parse(managed.metadata.creationTimestamp ?? '')
  return externalNameOf(managed) === '' && kit.kind.tags !== undefined && age >= YOUNG_MS
}

/** Is there a reason to search by tags, although the annotation does not say that a create was begun? */
export function isNameDoubtful(turn: Turn): boolean {
  if (turn.policies.onlyObserve) return false
  return isLost(turn) || isContradicted(turn) || isUnconfirmed(turn) || mayHaveLostAll(turn)
}

export interface Identified {
  readonly sight: Sight
  /** The object has an external resource, and it cannot be identified: nothing may be done. */
  readonly unknown: boolean
}

/** Makes sure that what was observed under a doubtful name is the external resource of this object, or finds that one. */
export async function identify(turn: Turn, client: unknown, sight: Sight): Promise<Identified> {
  const isOurs = sight.exists && carriesIdentity(turn, sight)
  if (isOurs || !isNameDoubtful(turn)) return { sight, unknown: false }
  const own = await search(turn, client)
  if (own) return { sight: own, unknown: false }
  return { sight, unknown: isContradicted(turn) || (isLost(turn) && !sight.exists) }
}

function carriesIdentity(turn: Turn, { atProvider }: Present): boolean {
  const { tags } = turn.kit.kind
  if (!tags) return false
  const held = (atProvider[tags.field] ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(identityTags(turn)).every(([key, value]) => held[key] === value)
}

/** The external resource of this object, by the tag that holds its uid, else by being the only one that it can be. */
async function search(turn: Turn, client: unknown): Promise<Present | undefined> {
  const { kind } = turn.kit
  if (!kind.tags && !isLost(turn)) return undefined
  if (!kind.external.list) return kind.tags && !kind.naturalKey ? await searchByObserving(turn, client) : undefined
  const tags = kind.tags ? { tags: identityTags(turn) } : {}
  const call = { client, forProvider: turn.forProvider, signal: turn.signal, ...tags }
  const listed = await callExternal(turn, 'List', () => kind.external.list!(call))
  const named = listed.filter(({ externalName }) => externalName)
  if (kind.tags) return named.find((candidate) => carriesIdentity(turn, candidate))
  return await onlyMatch(turn, named)
}

async function searchByObserving(turn: Turn, client: unknown): Promise<Present | undefined> {
  const { kit, managed, forProvider, signal } = turn
  const call = { client, managed, externalName: '', forProvider, tags: identityTags(turn), signal }
  const found = await callExternal(turn, 'Observe', () => kit.kind.external.observe(call))
  return found.exists && found.externalName ? found : undefined
}

/** Without tags only a resource counts that is as wanted, younger than the object, of no other object, and the only such one. */
async function onlyMatch(turn: Turn, candidates: readonly Present[]): Promise<Present | undefined> {
  const { kit, managed } = turn
  const since = Date.parse(managed.metadata.creationTimestamp ?? '') - CLOCK_SKEW_MS
  const wanted = mergeInit(kit.kind.parameters, turn.forProvider, turn.initProvider)
  const { items } = await kit.api.list(kit.kind.type, { signal: turn.signal })
  const taken = new Set(items.filter(({ metadata }) => metadata.uid !== managed.metadata.uid).map(externalNameOf))
  const fits = candidates.filter(
    ({ externalName, atProvider, createdAt }) =>
      createdAt !== undefined &&
      Date.parse(createdAt) >= since &&
      !taken.has(externalName!) &&
      differencesOf(kit.kind.parameters, wanted, atProvider).length === 0,
  )
  return fits.length === 1 ? fits[0] : undefined
}

/** The next step for a person when the external resource of an object cannot be identified. */
export function lostNameMessage({ managed, kit }: Turn): string {
  const { name } = managed.metadata
  const object = `${kit.kind.type.kind} ${JSON.stringify(name)}`
  return `${object} has an external resource, but the annotation ${annotations.externalName} that names it was removed or changed, and the resource cannot be found. Nothing is created, changed or deleted. Set the annotation to the name of the external resource. If that is gone, remove the finalizer ${finalizer} from the object`
}
