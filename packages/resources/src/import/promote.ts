import {
  type Client,
  type Clock,
  conditionsOf,
  formatFieldPath,
  ignoring,
  isConflict,
  isNotFound,
  isObject,
  type Json,
  type KubeObject,
  messageOf,
  statusOf,
} from '@crosstie/kube'
import { applyMergePatch } from '@crosstie/kube/patch'
import type { ManagedKind } from '../definition/managed.js'
import type { Budgets } from '../external/budget.js'
import { emptyFields } from '../managed/late-initialization.js'
import { ownershipTags } from '../managed/ownership/ownership-tags.js'
import { policiesOf } from '../managed/policy/policy.js'
import { managedSpecOf, type Values } from '../managed/reconciliation.js'
import { controllerOf, isDeleted, isPaused, isQueried } from '../metadata/metadata.js'
import type { PlannedResource } from '../plan/document.js'
import { changedFields, type PlannedField } from '../plan/fields.js'
import { Imagination } from '../plan/imagined.js'
import { plan } from '../plan/plan.js'
import type { Surroundings } from '../providerconfig/use.js'

/**
 * Promotion of observed resources to managed ones (OBS2). The only change to the external resource is the addition
 * of ownership tags (MR13).
 */

/** The options of `promote`. */
export interface PromoteOptions {
  readonly client: Client
  /** The new management policies. */
  readonly policies: readonly string[]
  /** Report the result without writing. */
  readonly dryRun: boolean
  readonly clock?: Clock
  readonly surroundings?: Partial<Surroundings>
  /** Whether reads in the name of another user are sent as that user, as the controllers do. */
  readonly impersonates?: boolean
  readonly budgets?: Budgets
}

/** An object to promote. */
export interface Subject {
  readonly kind: ManagedKind
  readonly name: string
}

/** The result of a promotion. */
export interface Promotion extends Subject {
  /**
   * promoted: the object was changed. ready: it would be promoted. already: it is managed. refused: `because` has
   * the reason.
   */
  readonly outcome: 'promoted' | 'ready' | 'already' | 'refused'
  readonly because: string
  /** The changes to the object. */
  readonly changes: readonly PlannedField[]
  /** The tags that are added to the external resource. They name the object that manages it (MR13). */
  readonly tags?: readonly PlannedField[]
  /** If refused: the planned changes to the external resource. */
  readonly plan?: PlannedResource
  /** The merge patch that promotes the object. It applies only to the revision that was planned. */
  readonly patch?: Json
  /** The object after the promotion. */
  readonly object?: KubeObject
}

const FIELD_MANAGER = 'crosstie-promote'
const TRIES = 5

/**
 * Promotes one object, or returns the reason for a refusal. Observed values that the schema can hold are copied to
 * the spec. The plan for the result must contain no call to the provider, except an update that only adds ownership
 * tags. The promotion is a single write, so an interruption leaves each object either unchanged or promoted.
 */
export async function promote(options: PromoteOptions, subject: Subject, signal: AbortSignal): Promise<Promotion> {
  for (let tries = 1; ; tries++) {
    try {
      return await promoteOnce(options, subject, signal)
    } catch (error) {
      signal.throwIfAborted()
      // Another writer may have changed the facts that the promotion depends on, so it starts again.
      if (isConflict(error) && tries < TRIES) continue
      return { ...subject, outcome: 'refused', because: messageOf(error), changes: [] }
    }
  }
}

async function promoteOnce(options: PromoteOptions, subject: Subject, signal: AbortSignal): Promise<Promotion> {
  const { kind, name } = subject
  const { client, policies, dryRun } = options
  const held = await client.get(kind.type, { name }, { signal }).catch(ignoring(isNotFound))
  const refused = (because: string): Promotion => ({ ...subject, outcome: 'refused', because, changes: [] })
  if (!held) return refused(`there is no ${kind.type.kind} ${name}`)
  if (isManaged(kind, held))
    return { ...subject, outcome: 'already', because: 'it is managed', changes: [], object: held }
  const why = whyNot(kind, held)
  if (why) return refused(why)

  const change = { spec: promotedSpec(kind, held, policies) }
  const wanted = applyMergePatch(held, change) as KubeObject
  const changes = changedFields(held['spec'], wanted['spec'], { isSensitive: () => false, mask: (value) => value })
  const [planned] = await planFor(options, kind, wanted, signal)
  const tags = planned ? addedTags(kind, wanted, planned) : undefined
  if (!planned || !tags) {
    return {
      ...subject,
      outcome: 'refused',
      because: becauseOf(planned, isAddedTag(kind, wanted)),
      changes,
      ...(planned ? { plan: planned } : {}),
    }
  }
  const patch = { metadata: { resourceVersion: held.metadata.resourceVersion }, ...change } as unknown as Json
  const writing = { fieldManager: FIELD_MANAGER, dryRun, signal }
  const object = await client.patch(kind.type, { name }, { type: 'merge', patch }, writing)
  const outcome = dryRun ? 'ready' : 'promoted'
  const added = tags.length > 0 ? { tags } : {}
  return { ...subject, outcome, because: planned.because, changes, ...added, patch, object }
}

/**
 * Returns the ownership tags that a plan adds. Returns undefined if it changes anything else of the external
 * resource.
 */
function addedTags(
  kind: ManagedKind,
  wanted: KubeObject,
  { outcome, steps }: PlannedResource,
): readonly PlannedField[] | undefined {
  if (outcome === 'none' || outcome === 'adjust') return []
  if (outcome !== 'update') return undefined
  const fields = steps.filter(({ action }) => action === 'update').flatMap((step) => step.fields)
  const isTag = isAddedTag(kind, wanted)
  return fields.length > 0 && fields.every(isTag) ? fields : undefined
}

function isAddedTag(kind: ManagedKind, wanted: KubeObject): (field: PlannedField) => boolean {
  const map = kind.tags?.field ?? ''
  const tags = Object.entries(ownershipTags(kind, wanted))
  const values = new Map(tags.map(([key, value]) => [formatFieldPath([{ field: map }, { field: key }]), value]))
  return ({ path, from, to }) => from === undefined && to !== undefined && values.get(path) === to
}

const policiesOfObject = (kind: ManagedKind, object: KubeObject) =>
  policiesOf(managedSpecOf(object), { gate: true, hasDeletionPolicy: kind.hasDeletionPolicy })

function isManaged(kind: ManagedKind, object: KubeObject): boolean {
  const { may } = policiesOfObject(kind, object)
  return !isQueried(object) && (may.create || may.update || may.delete)
}

/** Returns the reason why an object cannot be promoted, regardless of its external resource. */
function whyNot(kind: ManagedKind, object: KubeObject): string | undefined {
  const { name, generation } = object.metadata
  if (isDeleted(object)) return 'it is being deleted'
  if (isQueried(object)) {
    const query = controllerOf(object.metadata.ownerReferences)
    const whose = query ? `${query.kind} ${query.name}` : 'a query'
    return `it belongs to ${whose}, and goes with it: discover the resource and apply a ${kind.type.kind} of your own`
  }
  if (isPaused(object) || policiesOfObject(kind, object).paused) {
    return `it is paused: resume it first, with 'crosstie resume ${kind.type.kind.toLowerCase()}/${name}'`
  }
  const synced = conditionsOf(object).find(({ type }) => type === 'Synced')
  if (!synced || synced.observedGeneration !== generation) return 'it was not observed yet: wait until it is Synced'
  if (synced.status !== 'True') {
    return `its external resource is not seen (${synced.message ?? synced.reason}): check the external name and where it is looked for`
  }
  return undefined
}

/** Returns the changes to the spec as a merge patch. */
function promotedSpec(kind: ManagedKind, object: KubeObject, policies: readonly string[]): Values {
  const spec = managedSpecOf(object)
  const { atProvider = {} } = statusOf<{ atProvider: Values }>(object)
  const forProvider = spec.forProvider ?? {}
  const reported = withoutMasked(atProvider) as Values
  const copied = {
    ...requiredMaps(kind, forProvider, reported),
    ...emptyFields(kind.parameters, forProvider, spec.initProvider, reported),
  }
  return {
    managementPolicies: policies,
    ...(spec.managementPolicy === undefined ? {} : { managementPolicy: null }),
    ...(spec.deletionPolicy === 'Orphan' ? { deletionPolicy: null } : {}),
    ...(Object.keys(copied).length > 0 ? { forProvider: copied } : {}),
  }
}

/** Returns required shared maps. Late initialization skips shared maps, but required fields must be set. */
function requiredMaps({ parameters }: ManagedKind, forProvider: Values, reported: Values): Values {
  const fields = Object.entries(parameters.fields ?? {})
  const missing = fields.filter(([name, node]) => node.shared && !node.optional && forProvider[name] === undefined)
  return Object.fromEntries(missing.flatMap(([name]) => (reported[name] === undefined ? [] : [[name, reported[name]]])))
}

/** Removes values that were redacted in the status, since they are not real values. */
function withoutMasked(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('<redacted>') ? undefined : value
  if (Array.isArray(value)) {
    const items = value.map(withoutMasked)
    return items.includes(undefined) ? undefined : items
  }
  if (!isObject(value)) return value
  const kept = Object.entries(value).map(([key, inner]) => [key, withoutMasked(inner)] as const)
  return Object.fromEntries(kept.filter(([, inner]) => inner !== undefined))
}

/** Plans the next reconciliation of the promoted object. */
async function planFor(
  { client, clock, surroundings, budgets, impersonates = false }: PromoteOptions,
  kind: ManagedKind,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<readonly PlannedResource[]> {
  const world = new Imagination(client, { impersonates })
  // The spec changes, so the reported conditions belong to the previous generation.
  const generation = (wanted.metadata.generation ?? 0) + 1
  world.imagine(kind.type, { ...wanted, metadata: { ...wanted.metadata, generation } })
  const more = {
    ...(clock ? { clock } : {}),
    ...(surroundings ? { surroundings } : {}),
    ...(budgets ? { budgets } : {}),
  }
  const { resources } = await plan({ world, ...more }, [{ kind, key: { name: wanted.metadata.name! } }], signal)
  return resources
}

function becauseOf(planned: PlannedResource | undefined, isTag: (field: PlannedField) => boolean): string {
  if (!planned) return 'it could not be planned'
  if (planned.outcome === 'error') return `its plan fails: ${planned.because}`
  const differing = planned.steps.flatMap((step) => step.fields.filter((field) => !isTag(field)))
  const fields = differing.map(({ path }) => path)
  const which = fields.length > 0 ? ` (${fields.join(', ')})` : ''
  return `managing it would ${planned.outcome} the external resource${which}`
}
