import { OutOfBudgetError } from '../external/budget.js'
import type { Difference, Present, Sight } from '../external/external.js'
import type { Listing } from '../external/listing.js'
import { type Aggregated, aggregateOf } from './abandoned.js'
import { callExternal } from './call.js'
import { createInDoubt, identityTags, nameOnlyByToken, searchLost, tagsFor } from './create.js'
import type { Facts } from './decide.js'
import { differencesOf, emptyFields, leaveAlone } from './difference.js'
import { type Identified, identify, isNameDoubtful } from './external-name.js'
import { createdWithin, finalizer, isDeleted } from './meta.js'
import { describeForeign, isAdopted, isForeign } from './ownership.js'
import { withOwnershipTags } from './ownership-tags.js'
import { type RemovedKey, removedKeys } from './ownkeys.js'
import { rotatedSecrets } from './rotation.js'
import { withSensitiveValues } from './secrets.js'
import { failure, isSettled, type Turn, type Values } from './turn.js'

/** All that was found out in a turn. */
export interface Gathered {
  readonly turn: Turn
  readonly client: unknown
  readonly sight: Sight
  /** With sensitive values. */
  readonly forProvider: Values
  readonly aggregate: Aggregated
  readonly facts: Facts
  /** As an update should make it: what must be left alone is as it is now. */
  readonly desired: Values
  /** What late initialization would fill in. */
  readonly fill: Values
  /** Differences that the user told us to leave alone, and those that cannot be changed. */
  readonly ignored: readonly Difference[]
  readonly immutable: readonly Difference[]
  /** Sensitive fields whose value changed in its Secret. */
  readonly rotated: readonly Difference[]
  /** Keys of shared maps that we set and that the spec names no longer. */
  readonly removed: readonly RemovedKey[]
}

/** Looks at the external resource and draws up the facts. */
export async function gather(turn: Turn, client: unknown): Promise<Gathered> {
  const { kit } = turn
  const { sight, forProvider, unknown } = await look(turn, client)
  turn.secrets.addConnection(sight.connection)
  kit.metrics.observed(kit.kind, turn.managed.metadata.uid ?? '')
  // Of a resource that this object may not adopt nothing is reported.
  if (sight.exists && !unknown && !isForeign(turn, sight)) turn.saw(sight)
  const aggregate = sight.exists ? 'there' : await aggregateOf(turn)
  return factsOf(turn, client, sight, forProvider, aggregate, unknown)
}

async function look(turn: Turn, client: unknown): Promise<Identified & { readonly forProvider: Values }> {
  const { kit } = turn
  try {
    const forProvider =
      kit.sensitiveFields.length > 0 ? await withSensitiveValues(turn, turn.forProvider) : turn.forProvider
    const listed = kit.listing && (await lookAtList(turn, kit.listing, client, forProvider))
    if (listed) return { sight: listed, forProvider, unknown: false }
    const sight = await observe(turn, client, forProvider)
    if (!turn.history.attempted) return { ...(await identify(turn, client, sight)), forProvider }
    if (sight.exists) return { sight, forProvider, unknown: false }
    return { sight: (await searchLost(turn, client)) ?? sight, forProvider, unknown: false }
  } catch (error) {
    if (error instanceof OutOfBudgetError) throw error
    throw failure({ reason: 'CannotObserveExternalResource', prefix: 'observe failed: ' }, error)
  }
}

function observe(turn: Turn, client: unknown, forProvider: Values): Promise<Sight> {
  const { kit, managed, externalName, signal } = turn
  const call = { client, managed, externalName, forProvider, ignoreChanges: ignoredPaths(turn), signal }
  const lost = externalName === '' && (turn.history.attempted || isNameDoubtful(turn)) && kit.kind.tags
  const told = lost ? { ...call, tags: identityTags(turn) } : call
  return callExternal(turn, 'Observe', () => kit.kind.external.observe(told))
}

/**
 * A settled object of many is looked at by way of one list for all of them, and
 * so is from the first one that may only be looked at: nothing is done on its
 * account. Whatever is not as wanted there is looked at by itself before anything is done.
 */
async function lookAtList(
  turn: Turn,
  listing: Listing,
  client: unknown,
  forProvider: Values,
): Promise<Present | undefined> {
  const { kit, managed, externalName, signal } = turn
  const { kind } = kit
  const uid = managed.metadata.uid ?? ''
  const place = placeOf(turn)
  listing.expect(place, uid)
  if (externalName === '' || !(isSettled(turn) || onlyLooks(turn))) return undefined
  const list = () => callExternal(turn, 'List', () => kind.external.list!({ client, forProvider, signal }))
  const listed = await listing.find(place, externalName, turn.state.touched, list)
  const seen = listed?.complete?.(forProvider) ?? listed
  if (!seen || seen.ready === false || seen.upToDate === false || seen.alsoDiffers?.length) return undefined
  const wanted = withOwnershipTags(turn, seen, forProvider)
  return differencesOf(kind.parameters, wanted, seen.atProvider).length === 0 ? seen : undefined
}

const onlyLooks = (turn: Turn): boolean => turn.policies.onlyObserve && !isDeleted(turn.managed) && !turn.request

/** Objects with the same credentials and identifiers are found on the same list. */
function placeOf({ kit, spec, forProvider }: Turn): string {
  const identifiers = Object.entries(kit.kind.parameters.fields ?? {}).filter(([, field]) => field.identifier)
  return JSON.stringify([spec.providerConfigRef?.name, ...identifiers.map(([name]) => forProvider[name])])
}

function factsOf(
  turn: Turn,
  client: unknown,
  sight: Sight,
  forProvider: Values,
  aggregate: Aggregated,
  nameUnknown: boolean,
): Gathered {
  const { kit, managed, policies, history } = turn
  const atProvider: Values = sight.exists ? sight.atProvider : {}
  const compared = compare(turn, sight, forProvider)
  const rotated = sight.exists && !isDeleted(managed) ? rotatedSecrets(turn) : []
  const removed = sight.exists && sight.upToDate !== true ? ourRemovedKeys(turn, atProvider) : []
  const { desired, ignored, immutable } = compared
  const differences = [...compared.differences, ...removed, ...rotated]
  const empty = sight.exists ? emptyFields(kit.kind.parameters, turn.forProvider, turn.initProvider, atProvider) : {}
  const fill = withoutSecrets(turn, empty)
  const { finalizers = [] } = managed.metadata
  const facts: Facts = {
    deleted: isDeleted(managed),
    otherFinalizers: finalizers.some((name) => name !== finalizer) && (sight.exists || finalizers.includes(finalizer)),
    nameUnknown,
    exists: sight.exists,
    createdRecently: createdWithin(history, kit.kind.consistencySeconds * 1000, kit.clock.now()),
    createInDoubt: createInDoubt(turn),
    nameOnlyByToken: nameOnlyByToken(turn),
    abandoned: aggregate !== 'there',
    lateInitialize: Object.keys(fill).length > 0,
    differences,
    upToDate: sight.exists && sight.upToDate !== false && differences.length === 0,
    may: policies.may,
    onlyObserve: policies.onlyObserve,
    ...adoptionFacts(turn, sight),
  }
  return { turn, client, sight, forProvider, aggregate, facts, desired, fill, ignored, immutable, rotated, removed }
}

/** Facts about a resource that exists and that this object did not create. */
function adoptionFacts(turn: Turn, sight: Sight): Pick<Facts, 'foreign' | 'adopted'> {
  if (!sight.exists) return {}
  if (isForeign(turn, sight)) return { foreign: describeForeign(turn) }
  return { adopted: isAdopted(turn, sight) }
}

/** Tags by which we know the resource stay, even if the spec named them once. */
function ourRemovedKeys(turn: Turn, atProvider: Values): readonly RemovedKey[] {
  const removed = removedKeys(turn, atProvider)
  if (removed.length === 0) return removed
  const own = tagsFor(turn, {})
  return removed.filter(({ map, key }) => map !== turn.kit.kind.tags?.field || own[key] === undefined)
}

/** A sensitive value that the provider reports in some other field must not become part of the spec. */
function withoutSecrets({ secrets }: Turn, fill: Values): Values {
  if (!secrets.holds(fill)) return fill
  return Object.fromEntries(Object.entries(fill).filter(([, value]) => !secrets.holds(value)))
}

/** Where spec and external resource differ, and which of that is not to be, or cannot be, corrected. */
function compare(
  turn: Turn,
  sight: Sight,
  forProvider: Values,
): Pick<Gathered, 'desired' | 'ignored' | 'immutable'> & Pick<Facts, 'differences'> {
  const { parameters } = turn.kit.kind
  if (!sight.exists || sight.upToDate === true)
    return { desired: forProvider, differences: [], ignored: [], immutable: [] }
  if (sight.differences) return { desired: forProvider, differences: sight.differences, ignored: [], immutable: [] }
  const patterns = ignoredPaths(turn)
  const { alsoDiffers = [] } = sight
  const wanted = withOwnershipTags(turn, sight, forProvider)
  const all = [...differencesOf(parameters, wanted, sight.atProvider), ...alsoDiffers]
  if (all.length === 0) return { desired: wanted, differences: all, ignored: all, immutable: all }
  const immutable = all.filter(({ path }) => isImmutable(turn, path))
  if (patterns.length === 0 && immutable.length === 0) {
    return { desired: wanted, differences: all, ignored: [], immutable: [] }
  }
  const left = leaveAlone(wanted, patterns, sight.atProvider)
  const alsoMinded = alsoDiffers.filter(({ path }) => !patterns.includes(path))
  const minded = [...differencesOf(parameters, left, sight.atProvider), ...alsoMinded]
  const fixed = minded.filter(({ path }) => isImmutable(turn, path))
  return {
    desired: leaveAlone(
      left,
      fixed.map(({ path }) => path),
      sight.atProvider,
    ),
    differences: minded.filter((difference) => !fixed.includes(difference)),
    ignored: all.filter(({ path }) => !minded.some((difference) => difference.path === path)),
    immutable: fixed,
  }
}

function ignoredPaths({ kit, spec }: Turn): readonly string[] {
  return kit.features.ignoreChanges ? (spec.ignoreChanges ?? []) : []
}

function isImmutable({ kit }: Turn, path: string): boolean {
  let node = kit.kind.parameters
  for (const name of path.split('.')) {
    const field = node.fields?.[name]
    if (!field) return false
    if (field.immutable) return true
    node = field
  }
  return false
}
