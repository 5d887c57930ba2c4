import type { Observed, Present } from '../../definition/external.js'
import { annotations, externalNameOf, finalizer, isDeleted, withFinalizer } from '../../metadata/metadata.js'
import { identityTags } from '../create/create.js'
import { callExternal } from '../external-call.js'
import { differencesOf, mergeInit } from '../observe/difference.js'
import { type Reconciliation, step } from '../reconciliation.js'

/**
 * Protects the name of an external resource that exists (XN1). Where the policy is installed, admission refuses to
 * remove or change the annotation. This module is the second line of defense: it restores a lost or changed name,
 * searches for the resource by its tags, or stops. Nothing is created, updated or deleted because of a wrong name.
 */

/** The maximum difference between the clocks of the provider and of the API server. */
const CLOCK_SKEW_MS = 60_000

/**
 * The age below which an object without a name is not searched for: a search before its first create would find
 * nothing.
 */
const YOUNG_MS = 60_000

/** Restores the annotation from the status, or from the in-memory state if the annotation is missing. */
export async function restoreName(reconciliation: Reconciliation): Promise<void> {
  const { managed, recordedName, state } = reconciliation
  const annotated = externalNameOf(managed)
  const name = recordedName || (annotated === '' ? state.externalName : '')
  if (name === '' || name === annotated) return
  const how = annotated === '' ? 'was removed' : `was changed to ${JSON.stringify(annotated)}`
  reconciliation.event(
    'Warning',
    'ExternalNameRestored',
    `The annotation ${annotations.externalName} ${how}. It names the external resource ${JSON.stringify(name)} of this object and was restored. To manage another external resource, create another object`,
  )
  const finalizers = withFinalizer(managed.metadata.finalizers, finalizer)
  const keep = finalizers !== managed.metadata.finalizers && !isDeleted(managed)
  const notes = { [annotations.externalName]: name, ...restoredCreate(reconciliation) }
  const reason = 'CannotUpdateManagedResource'
  await step({ reason, prefix: 'cannot restore the external name: ', both: true }, () =>
    reconciliation.patchMetadata({ annotations: notes, ...(keep ? { finalizers } : {}) }),
  )
}

/**
 * Restores the record of a successful create that was lost with the other annotations. Without it, the next create
 * would reuse the token.
 */
function restoredCreate({ runtime, history }: Reconciliation): Readonly<Record<string, string>> {
  if (runtime.kind.idempotentCreate || history.succeeded !== undefined || history.attempted) return {}
  return { [annotations.createSucceeded]: new Date(runtime.clock.now()).toISOString() }
}

/** Reports whether the finalizer indicates an external resource whose name is not recorded. */
function isLost({ managed, history, recordedDoubt }: Reconciliation): boolean {
  const held = managed.metadata.finalizers?.includes(finalizer) ?? false
  return externalNameOf(managed) === '' && held && !history.attempted && !recordedDoubt
}

/** Reports whether the in-memory name differs from the annotation and the status, which would decide, is missing. */
function isContradicted({ managed, state, recordedName }: Reconciliation): boolean {
  const annotated = externalNameOf(managed)
  return recordedName === '' && annotated !== '' && state.externalName !== '' && state.externalName !== annotated
}

/** Reports whether the annotation is the only record: the status does not contain the created resource. */
function isUnconfirmed({ managed, history, state, recordedName }: Reconciliation): boolean {
  const named = externalNameOf(managed) !== ''
  return named && history.succeeded !== undefined && recordedName === '' && state.externalName === ''
}

/** Reports whether the object has no name and is old enough to have lost it together with all other records. */
function mayHaveLostAll({ runtime, managed }: Reconciliation): boolean {
  const age = runtime.clock.now() - Date.parse(managed.metadata.creationTimestamp ?? '')
  return externalNameOf(managed) === '' && runtime.kind.tags !== undefined && age >= YOUNG_MS
}

/** Reports whether to search by tags, although the annotations do not show that a create was started. */
export function isNameDoubtful(reconciliation: Reconciliation): boolean {
  if (reconciliation.policies.onlyObserve) return false
  return (
    isLost(reconciliation) ||
    isContradicted(reconciliation) ||
    isUnconfirmed(reconciliation) ||
    mayHaveLostAll(reconciliation)
  )
}

/** The observed resource, and whether it could be identified. */
export interface Identified {
  readonly observed: Observed
  /** The object has an external resource that cannot be identified, so nothing may be changed. */
  readonly unknown: boolean
}

/**
 * Verifies that the resource observed under a doubtful name belongs to this object, or searches for the one that
 * does.
 */
export async function identify(
  reconciliation: Reconciliation,
  client: unknown,
  observed: Observed,
): Promise<Identified> {
  const isOurs = observed.exists && carriesIdentity(reconciliation, observed)
  if (isOurs || !isNameDoubtful(reconciliation)) return { observed, unknown: false }
  const own = await search(reconciliation, client)
  if (own) return { observed: own, unknown: false }
  return { observed, unknown: isContradicted(reconciliation) || (isLost(reconciliation) && !observed.exists) }
}

function carriesIdentity(reconciliation: Reconciliation, { atProvider }: Present): boolean {
  const { tags } = reconciliation.runtime.kind
  if (!tags) return false
  const held = (atProvider[tags.field] ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(identityTags(reconciliation)).every(([key, value]) => held[key] === value)
}

/** Searches for the external resource of this object: by the tag with its uid, or else as the only possible match. */
async function search(reconciliation: Reconciliation, client: unknown): Promise<Present | undefined> {
  const { kind } = reconciliation.runtime
  if (!kind.tags && !isLost(reconciliation)) return undefined
  if (!kind.external.list)
    return kind.tags && !kind.naturalKey ? await searchByObserving(reconciliation, client) : undefined
  const tags = kind.tags ? { tags: identityTags(reconciliation) } : {}
  const call = { client, forProvider: reconciliation.forProvider, signal: reconciliation.signal, ...tags }
  const listed = await callExternal(reconciliation, 'List', () => kind.external.list!(call))
  const named = listed.filter(({ externalName }) => externalName)
  if (kind.tags) return named.find((candidate) => carriesIdentity(reconciliation, candidate))
  return await onlyMatch(reconciliation, named)
}

async function searchByObserving(reconciliation: Reconciliation, client: unknown): Promise<Present | undefined> {
  const { runtime, managed, forProvider, signal } = reconciliation
  const call = { client, managed, externalName: '', forProvider, tags: identityTags(reconciliation), signal }
  const found = await callExternal(reconciliation, 'Observe', () => runtime.kind.external.observe(call))
  return found.exists && found.externalName ? found : undefined
}

/** Returns the only resource that equals the spec, is younger than the object and belongs to no other object. */
async function onlyMatch(reconciliation: Reconciliation, candidates: readonly Present[]): Promise<Present | undefined> {
  const { runtime, managed } = reconciliation
  const since = Date.parse(managed.metadata.creationTimestamp ?? '') - CLOCK_SKEW_MS
  const wanted = mergeInit(runtime.kind.parameters, reconciliation.forProvider, reconciliation.initProvider)
  const { items } = await runtime.api.list(runtime.kind.type, { signal: reconciliation.signal })
  const taken = new Set(items.filter(({ metadata }) => metadata.uid !== managed.metadata.uid).map(externalNameOf))
  const fits = candidates.filter(
    ({ externalName, atProvider, createdAt }) =>
      createdAt !== undefined &&
      Date.parse(createdAt) >= since &&
      !taken.has(externalName!) &&
      differencesOf(runtime.kind.parameters, wanted, atProvider).length === 0,
  )
  return fits.length === 1 ? fits[0] : undefined
}

/** Returns a message with the next step for the user if the external resource of an object cannot be identified. */
export function lostNameMessage({ managed, runtime }: Reconciliation): string {
  const { name } = managed.metadata
  const object = `${runtime.kind.type.kind} ${JSON.stringify(name)}`
  return `${object} has an external resource, but the annotation ${annotations.externalName} that names it was removed or changed, and the resource cannot be found. Nothing is created, changed or deleted. Set the annotation to the name of the external resource. If that is gone, remove the finalizer ${finalizer} from the object`
}
