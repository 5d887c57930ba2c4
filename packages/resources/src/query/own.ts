import {
  apiVersionOf,
  equal,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Json,
  type KubeObject,
} from '@crosstie/kube'
import { forEachLimited } from '../concurrency.js'
import {
  annotations,
  controllerOf,
  controllerReference,
  externalNameOf,
  isDeleted,
  queryLabel,
} from '../metadata/metadata.js'
import type { NamedResource } from './list-external.js'
import { nameFor } from './names.js'
import { type QueryRuntime, type QuerySpec, specOf } from './runtime.js'

/** An external resource that matches, and the name of its object. */
export interface Match {
  readonly externalName: string
  readonly name: string
}

/** The result of `own`. */
export interface Owned {
  readonly matches: readonly Match[]
  /** Names that objects of other owners already have. */
  readonly taken: readonly string[]
  /** Whether objects that are being deleted block the creation of others. */
  readonly unfinished: boolean
}

/** The maximum number of concurrent writes. */
const AT_ONCE = 8

/**
 * Creates one observe-only object for each match, and deletes objects that no longer match. It changes only objects
 * that this query controls, and no external resources.
 */
export async function own(
  runtime: QueryRuntime,
  query: KubeObject,
  matches: readonly NamedResource[],
  signal: AbortSignal,
): Promise<Owned> {
  const wanted = new Map(matches.map(({ externalName }) => [externalName, objectFor(runtime, query, externalName)]))
  const labelSelector = `${queryLabel}=${query.metadata.uid}`
  const { items } = await runtime.client.list(runtime.kind.type, { labelSelector, signal })
  const held = new Map<string, KubeObject>()
  const gone: KubeObject[] = []
  for (const object of items.filter((each) => isOurs(query, each))) {
    const ours = wanted.get(externalNameOf(object))
    if (ours && !isDeleted(object) && isSame(ours, object)) held.set(externalNameOf(object), object)
    else gone.push(object)
  }
  await forEachLimited(gone, AT_ONCE, (object) => letGo(runtime, object, signal))
  const taken: string[] = []
  let unfinished = gone.some(({ metadata }) =>
    [...wanted.values()].some((ours) => ours.metadata.name === metadata.name),
  )
  await forEachLimited([...wanted], AT_ONCE, async ([externalName, object]) => {
    const outcome = await keep(runtime, query, object, held.get(externalName), signal)
    if (outcome === 'taken') taken.push(object.metadata.name!)
    if (outcome === 'later') unfinished = true
  })
  const shown = [...wanted].filter(([, { metadata }]) => !taken.includes(metadata.name!))
  return {
    matches: shown.map(([externalName, { metadata }]) => ({ externalName, name: metadata.name! })),
    taken: taken.sort(),
    unfinished,
  }
}

function isOurs(query: KubeObject, object: KubeObject): boolean {
  return controllerOf(object.metadata.ownerReferences)?.uid === query.metadata.uid
}

/** Returns whether both objects have the same identifiers, which are immutable. */
function isSame(wanted: KubeObject, object: KubeObject): boolean {
  const [ours, theirs] = [specOf(wanted), specOf(object)]
  const identifiers = Object.entries(ours.forProvider ?? {})
  return identifiers.every(([name, value]) => equal(value, theirs.forProvider?.[name]))
}

function objectFor({ kind }: QueryRuntime, query: KubeObject, externalName: string): KubeObject {
  const { forProvider = {}, providerConfigRef, template }: QuerySpec = specOf(query)
  const { labels = {}, annotations: notes = {} } = template?.metadata ?? {}
  return {
    apiVersion: apiVersionOf(kind.type),
    kind: kind.type.kind,
    metadata: {
      name: `${query.metadata.name}-${nameFor(externalName)}`,
      labels: { ...labels, [queryLabel]: query.metadata.uid! },
      annotations: { ...notes, [annotations.externalName]: externalName },
      ownerReferences: [controllerReference(query)],
    },
    spec: {
      managementPolicies: ['Observe'],
      forProvider,
      ...(providerConfigRef ? { providerConfigRef: { name: providerConfigRef.name } } : {}),
    },
  }
}

/** Deletes the object only if it still has the same uid. */
async function letGo({ kind, client }: QueryRuntime, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
  if (metadata.deletionTimestamp) return
  await client
    .delete(kind.type, { name: metadata.name! }, { preconditions: { uid: metadata.uid! }, signal })
    .catch(ignoring(isNotFound, isConflict))
}

type Kept = 'kept' | 'taken' | 'later'

async function keep(
  runtime: QueryRuntime,
  query: KubeObject,
  wanted: KubeObject,
  held: KubeObject | undefined,
  signal: AbortSignal,
): Promise<Kept> {
  const { kind, client } = runtime
  if (held) return await mend(runtime, wanted, held, signal)
  try {
    await client.create(kind.type, wanted, { signal })
    return 'kept'
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const there = await client.get(kind.type, { name: wanted.metadata.name! }, { signal }).catch(ignoring(isNotFound))
  if (!there || isDeleted(there)) return 'later'
  if (!isOurs(query, there)) return 'taken'
  return await mend(runtime, wanted, there, signal)
}

/** Reverts changes of other writers to an object of the query. Additions are kept. */
async function mend(runtime: QueryRuntime, wanted: KubeObject, held: KubeObject, signal: AbortSignal): Promise<Kept> {
  const { labels, annotations: notes } = wanted.metadata
  const spec = held['spec'] as { managementPolicies?: unknown; providerConfigRef?: { name?: string } }
  const { managementPolicies, providerConfigRef } = wanted['spec'] as typeof spec
  const same =
    isWithin(labels, held.metadata.labels) &&
    isWithin(notes, held.metadata.annotations) &&
    equal(spec.managementPolicies, managementPolicies) &&
    (!providerConfigRef || spec.providerConfigRef?.name === providerConfigRef.name)
  if (same) return 'kept'
  const patch = {
    metadata: { resourceVersion: held.metadata.resourceVersion, labels, annotations: notes },
    spec: { managementPolicies, ...(providerConfigRef ? { providerConfigRef } : {}) },
  }
  try {
    await runtime.client.patch(
      runtime.kind.type,
      { name: held.metadata.name! },
      { type: 'merge', patch: patch as unknown as Json },
      { signal },
    )
    return 'kept'
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return 'later'
    throw error
  }
}

function isWithin(wanted: Readonly<Record<string, string>> = {}, held: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => held[name] === value)
}
