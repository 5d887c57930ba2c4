import type { Difference, Observed, Present } from '../../definition/external.js'
import { OutOfBudgetError } from '../../external/budget.js'
import type { Listing } from '../../external/listing.js'
import { createdWithin, finalizer, isDeleted } from '../../metadata/metadata.js'
import { createInDoubt, findLost, identityTags, nameOnlyByToken, tagsFor } from '../create/create.js'
import type { ManagedFacts } from '../decide.js'
import { type AggregateState, aggregateStateOf } from '../delete/orphaned-member.js'
import { callExternal } from '../external-call.js'
import { emptyFields } from '../late-initialization.js'
import { type Identified, identify, isNameDoubtful } from '../ownership/external-name.js'
import { describeForeign, isAdopted, isForeign } from '../ownership/ownership.js'
import { withOwnershipTags } from '../ownership/ownership-tags.js'
import { failure, isInSync, type Reconciliation, type Values } from '../reconciliation.js'
import { rotatedSecrets } from '../secrets/rotation.js'
import { withSensitiveValues } from '../secrets/secrets.js'
import { type RemovedKey, removedKeys } from '../update/applied-keys.js'
import { differencesOf, leaveAlone } from './difference.js'

/** The result of the gather step. */
export interface Gathered {
  readonly reconciliation: Reconciliation
  readonly client: unknown
  readonly observed: Observed
  /** The spec values, including sensitive values. */
  readonly forProvider: Values
  readonly aggregate: AggregateState
  readonly facts: ManagedFacts
  /** The target of an update. Ignored and immutable fields have their observed values. */
  readonly desired: Values
  /** The values for late initialization. */
  readonly fill: Values
  /** Differences that the user ignores, and those that cannot be changed. */
  readonly ignored: readonly Difference[]
  readonly immutable: readonly Difference[]
  /** Sensitive fields whose value changed in its Secret. */
  readonly rotated: readonly Difference[]
  /** Keys of shared maps that the control plane set and that the spec no longer contains. */
  readonly removed: readonly RemovedKey[]
}

/** Observes the external resource and computes the facts. */
export async function gather(reconciliation: Reconciliation, client: unknown): Promise<Gathered> {
  const { runtime } = reconciliation
  const { observed, forProvider, unknown } = await observeExternal(reconciliation, client)
  reconciliation.secrets.addConnection(observed.connection)
  runtime.metrics.observed(runtime.kind, reconciliation.managed.metadata.uid ?? '')
  // Nothing is reported about a resource that this object may not adopt.
  if (observed.exists && !unknown && !isForeign(reconciliation, observed)) reconciliation.saw(observed)
  const aggregate = observed.exists ? 'there' : await aggregateStateOf(reconciliation)
  return factsOf(reconciliation, client, observed, forProvider, aggregate, unknown)
}

async function observeExternal(
  reconciliation: Reconciliation,
  client: unknown,
): Promise<Identified & { readonly forProvider: Values }> {
  const { runtime } = reconciliation
  try {
    const forProvider =
      runtime.sensitiveFields.length > 0
        ? await withSensitiveValues(reconciliation, reconciliation.forProvider)
        : reconciliation.forProvider
    const listed = runtime.listing && (await observeFromList(reconciliation, runtime.listing, client, forProvider))
    if (listed) return { observed: listed, forProvider, unknown: false }
    const observed = await observe(reconciliation, client, forProvider)
    if (!reconciliation.history.attempted) return { ...(await identify(reconciliation, client, observed)), forProvider }
    if (observed.exists) return { observed, forProvider, unknown: false }
    return { observed: (await findLost(reconciliation, client)) ?? observed, forProvider, unknown: false }
  } catch (error) {
    if (error instanceof OutOfBudgetError) throw error
    throw failure({ reason: 'CannotObserveExternalResource', prefix: 'observe failed: ' }, error)
  }
}

function observe(reconciliation: Reconciliation, client: unknown, forProvider: Values): Promise<Observed> {
  const { runtime, managed, externalName, signal } = reconciliation
  const call = { client, managed, externalName, forProvider, ignoreChanges: ignoredPaths(reconciliation), signal }
  const lost =
    externalName === '' && (reconciliation.history.attempted || isNameDoubtful(reconciliation)) && runtime.kind.tags
  const told = lost ? { ...call, tags: identityTags(reconciliation) } : call
  return callExternal(reconciliation, 'Observe', () => runtime.kind.external.observe(told))
}

/**
 * Observes an object through one list call for many objects. Only objects that are in sync or may only observe use
 * it. If the listed resource differs or is not ready, the object is observed on its own before anything is done.
 */
async function observeFromList(
  reconciliation: Reconciliation,
  listing: Listing,
  client: unknown,
  forProvider: Values,
): Promise<Present | undefined> {
  const { runtime, managed, externalName, signal } = reconciliation
  const { kind } = runtime
  const uid = managed.metadata.uid ?? ''
  const place = placeOf(reconciliation)
  listing.expect(place, uid)
  if (externalName === '' || !(isInSync(reconciliation) || onlyObserves(reconciliation))) return undefined
  const list = () => callExternal(reconciliation, 'List', () => kind.external.list!({ client, forProvider, signal }))
  const listed = await listing.find(place, externalName, reconciliation.state.touched, list)
  const seen = listed?.complete?.(forProvider) ?? listed
  if (!seen || seen.ready === false || seen.upToDate === false || seen.alsoDiffers?.length) return undefined
  const wanted = withOwnershipTags(reconciliation, seen, forProvider)
  return differencesOf(kind.parameters, wanted, seen.atProvider).length === 0 ? seen : undefined
}

const onlyObserves = (reconciliation: Reconciliation): boolean =>
  reconciliation.policies.onlyObserve && !isDeleted(reconciliation.managed) && !reconciliation.request

/** Objects with the same credentials and identifiers are on the same list. */
function placeOf({ runtime, spec, forProvider }: Reconciliation): string {
  const identifiers = Object.entries(runtime.kind.parameters.fields ?? {}).filter(([, field]) => field.identifier)
  return JSON.stringify([spec.providerConfigRef?.name, ...identifiers.map(([name]) => forProvider[name])])
}

function factsOf(
  reconciliation: Reconciliation,
  client: unknown,
  observed: Observed,
  forProvider: Values,
  aggregate: AggregateState,
  nameUnknown: boolean,
): Gathered {
  const { runtime, managed, policies, history } = reconciliation
  const atProvider: Values = observed.exists ? observed.atProvider : {}
  const compared = compare(reconciliation, observed, forProvider)
  const rotated = observed.exists && !isDeleted(managed) ? rotatedSecrets(reconciliation) : []
  const removed = observed.exists && observed.upToDate !== true ? ourRemovedKeys(reconciliation, atProvider) : []
  const { desired, ignored, immutable } = compared
  const differences = [...compared.differences, ...removed, ...rotated]
  const empty = observed.exists
    ? emptyFields(runtime.kind.parameters, reconciliation.forProvider, reconciliation.initProvider, atProvider)
    : {}
  const fill = withoutSecrets(reconciliation, empty)
  const { finalizers = [] } = managed.metadata
  const facts: ManagedFacts = {
    deleted: isDeleted(managed),
    otherFinalizers:
      finalizers.some((name) => name !== finalizer) && (observed.exists || finalizers.includes(finalizer)),
    nameUnknown,
    exists: observed.exists,
    createdRecently: createdWithin(history, runtime.kind.consistencySeconds * 1000, runtime.clock.now()),
    createInDoubt: createInDoubt(reconciliation),
    nameOnlyByToken: nameOnlyByToken(reconciliation),
    abandoned: aggregate !== 'there',
    lateInitialize: Object.keys(fill).length > 0,
    differences,
    upToDate: observed.exists && observed.upToDate !== false && differences.length === 0,
    may: policies.may,
    onlyObserve: policies.onlyObserve,
    ...adoptionFacts(reconciliation, observed),
  }
  return {
    reconciliation,
    client,
    observed,
    forProvider,
    aggregate,
    facts,
    desired,
    fill,
    ignored,
    immutable,
    rotated,
    removed,
  }
}

/** Returns the facts about the adoption of a resource that exists. */
function adoptionFacts(reconciliation: Reconciliation, observed: Observed): Pick<ManagedFacts, 'foreign' | 'adopted'> {
  if (!observed.exists) return {}
  if (isForeign(reconciliation, observed)) return { foreign: describeForeign(reconciliation) }
  return { adopted: isAdopted(reconciliation, observed) }
}

/** Identity tags stay on the resource, even if the spec contained them once. */
function ourRemovedKeys(reconciliation: Reconciliation, atProvider: Values): readonly RemovedKey[] {
  const removed = removedKeys(reconciliation, atProvider)
  if (removed.length === 0) return removed
  const own = tagsFor(reconciliation, {})
  return removed.filter(({ map, key }) => map !== reconciliation.runtime.kind.tags?.field || own[key] === undefined)
}

/** A sensitive value that the provider reports in another field must not become part of the spec. */
function withoutSecrets({ secrets }: Reconciliation, fill: Values): Values {
  if (!secrets.holds(fill)) return fill
  return Object.fromEntries(Object.entries(fill).filter(([, value]) => !secrets.holds(value)))
}

/** Returns the differences between spec and external resource, and which of them are ignored or immutable. */
function compare(
  reconciliation: Reconciliation,
  observed: Observed,
  forProvider: Values,
): Pick<Gathered, 'desired' | 'ignored' | 'immutable'> & Pick<ManagedFacts, 'differences'> {
  const { parameters } = reconciliation.runtime.kind
  if (!observed.exists || observed.upToDate === true)
    return { desired: forProvider, differences: [], ignored: [], immutable: [] }
  if (observed.differences)
    return { desired: forProvider, differences: observed.differences, ignored: [], immutable: [] }
  const patterns = ignoredPaths(reconciliation)
  const { alsoDiffers = [] } = observed
  const wanted = withOwnershipTags(reconciliation, observed, forProvider)
  const all = [...differencesOf(parameters, wanted, observed.atProvider), ...alsoDiffers]
  if (all.length === 0) return { desired: wanted, differences: all, ignored: all, immutable: all }
  const immutable = all.filter(({ path }) => isImmutable(reconciliation, path))
  if (patterns.length === 0 && immutable.length === 0) {
    return { desired: wanted, differences: all, ignored: [], immutable: [] }
  }
  const left = leaveAlone(wanted, patterns, observed.atProvider)
  const alsoMinded = alsoDiffers.filter(({ path }) => !patterns.includes(path))
  const minded = [...differencesOf(parameters, left, observed.atProvider), ...alsoMinded]
  const fixed = minded.filter(({ path }) => isImmutable(reconciliation, path))
  return {
    desired: leaveAlone(
      left,
      fixed.map(({ path }) => path),
      observed.atProvider,
    ),
    differences: minded.filter((difference) => !fixed.includes(difference)),
    ignored: all.filter(({ path }) => !minded.some((difference) => difference.path === path)),
    immutable: fixed,
  }
}

function ignoredPaths({ runtime, spec }: Reconciliation): readonly string[] {
  return runtime.features.ignoreChanges ? (spec.ignoreChanges ?? []) : []
}

function isImmutable({ runtime }: Reconciliation, path: string): boolean {
  let node = runtime.kind.parameters
  for (const name of path.split('.')) {
    const field = node.fields?.[name]
    if (!field) return false
    if (field.immutable) return true
    node = field
  }
  return false
}

/** Returns the observed values as an optional property. */
export const observedIn = (observed: Observed): { observed?: Values } =>
  observed.exists ? { observed: observed.atProvider } : {}
