import {
  groupKind,
  groupResource,
  ignoring,
  isForbidden,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
  type ResourceType,
  systemClock,
  timestamp,
} from '@crosstie/kube'
import {
  type ClaimKind,
  distinctSubjects,
  failedPlan,
  Imagination,
  imagineClaim,
  inControllerVersion,
  type Plan,
  type PlannedResource,
  plan,
  planOf,
  type Subject,
  tryApply,
} from '@crosstie/resources'
import { callBudgets } from '../../daemon/budgets.js'
import { featureOptions, featuresOf } from '../../daemon/features.js'
import { providerOptions, terraformOptions } from '../../daemon/providers.js'
import type { ProviderRegistry } from '../../daemon/registry.js'
import { inOrder } from '../apply/apply.js'
import { type Command, type Input, textsOf, UsageError } from '../command.js'
import { type Api, accessOptions, namespaceOptions } from '../shared/access.js'
import type { ServedKind } from '../shared/kinds.js'
import { type Manifest, readManifests } from '../shared/manifests.js'
import { listAll } from '../shared/objects.js'
import { checkLocalOptions, localOption } from '../shared/requests.js'
import { registryOn } from '../shared/runtime-registry.js'
import { isManaged, placed, requestPlan, withAdvice } from './requesting.js'

/** Options of every command that plans. */
export const planningOptions: Command['options'] = {
  filename: {
    type: 'string',
    short: 'f',
    multiple: true,
    value: 'FILE',
    help: 'Plan these manifests as if they were applied: a file, a folder, or - (repeatable)',
  },
  all: { type: 'boolean', help: 'Plan every managed resource' },
  delete: { type: 'boolean', help: 'Plan as if the objects were deleted' },
  force: { type: 'boolean', help: 'With -f: take over fields that another manager applied' },
  'field-manager': {
    type: 'string',
    value: 'NAME',
    help: 'With -f: the field manager of new objects',
    default: 'crosstie',
  },
  ...namespaceOptions,
  ...localOption,
  ...providerOptions,
  ...terraformOptions,
  ...featureOptions,
  ...accessOptions,
}

/** A plan for what the command line names, by the control plane or with --local by this process. Changes nothing. */
export async function planFor(input: Input, api: Api): Promise<Plan> {
  const { values, words } = input
  const ways = [textsOf(values, 'filename').length > 0, words.length > 0, values['all'] === true]
  if (ways.filter(Boolean).length !== 1) throw new UsageError('name what to plan: -f FILE, KIND/NAME, KIND, or --all')
  checkLocalOptions(input, ['providers', ...Object.keys(featureOptions)])
  return values['local'] === true ? await planHere(input, api) : await requestPlan(input, api)
}

async function planHere(input: Input, api: Api): Promise<Plan> {
  const { values, signal, progress } = input
  const files = textsOf(values, 'filename')
  await using registry = await registryOn(input, api)
  const world = new Imagination(api.client)
  const scene: Scene = { input, api, world, registry }
  const {
    subjects: named,
    claims,
    failed,
  } = await progress.during('reading the objects', async () =>
    files.length > 0 ? await applied(scene, await readManifests(files)) : await chosen(scene),
  )
  const bindings = await servedBindings(api, registry)
  const met = await Promise.all(claims.map(({ kind, key }) => imagineClaim({ world, bindings }, kind, key, signal)))
  const subjects = distinctSubjects([...named, ...met.flatMap((claim) => claim.subjects)])
  if (values['delete']) await imagineDeletions(world, subjects)
  const options = {
    world,
    features: featuresOf(values),
    budgets: callBudgets(),
  }
  const { resources } = await progress.during(`observing ${subjects.length} external resources`, () =>
    plan(options, subjects, signal),
  )
  return planOf(
    [...resources, ...failed],
    met.map(({ claim }) => claim),
  )
}

/**
 * Returns the bindings whose kinds are served. The control plane may run with fewer providers than this process
 * knows.
 */
async function servedBindings(api: Api, { bindings }: ProviderRegistry): Promise<ProviderRegistry['bindings']> {
  const served = new Set((await api.kinds()).all.map(groupResource))
  return bindings.filter(({ managed: { type, classType } }) =>
    [type, classType].every((each) => served.has(groupResource(each))),
  )
}

interface Scene {
  readonly input: Input
  readonly api: Api
  readonly world: Imagination
  readonly registry: ProviderRegistry
}

type Mutable<T> = T extends readonly (infer E)[] ? E[] : never

interface Chosen {
  readonly subjects: readonly Subject[]
  readonly claims: readonly { readonly kind: ClaimKind; readonly key: ObjectKey }[]
  /** Resources that cannot be planned. */
  readonly failed: readonly PlannedResource[]
}

function kindOf<K extends { readonly type: ResourceType }>(kinds: readonly K[], served: ResourceType): K | undefined {
  return kinds.find(({ type }) => groupKind(type) === groupKind(served))
}

/** Returns the objects that the command line names. */
async function chosen({ input, api, registry }: Scene): Promise<Chosen> {
  const { values, words, signal } = input
  const { kinds: managed } = registry
  const kinds = await api.kinds()
  const everything = kinds.all.filter((served) => kindOf(managed, served) || isManaged(served))
  const targets = values['all'] ? everything.map((kind) => ({ kind, name: undefined })) : kinds.targets(words)
  const subjects: Subject[] = []
  const claims: Mutable<Chosen['claims']> = []
  const strange: ServedKind[] = []
  for (const { kind: served, name } of targets) {
    const kind = kindOf(managed, served)
    const claim = kindOf(registry.claims, served)
    if (claim && name !== undefined) {
      await api.client.get(claim.type, api.keyOf(claim.type, name), { signal })
      claims.push({ kind: claim, key: api.keyOf(claim.type, name) })
      continue
    }
    if (!kind) {
      // A word such as `managed` may include kinds of other providers.
      if (name === undefined && (targets.length > 1 || values['all'])) {
        if (isManaged(served)) strange.push(served)
        continue
      }
      const from = 'only managed resources and claims of the providers of --providers can be planned'
      throw new UsageError(`${served.kind} (${served.group || 'core'}) cannot be planned: ${from}`)
    }
    if (name === undefined) {
      const objects = await listAll(api.client, kind.type, { signal })
      subjects.push(...objects.map(({ metadata }) => ({ kind, key: keyOf(metadata) })))
    } else {
      const key = api.keyOf(kind.type, name)
      await api.client.get(kind.type, key, { signal })
      subjects.push({ kind, key })
    }
  }
  await tellOfStrange(input, api, strange)
  return { subjects, claims, failed: [] }
}

/** Prints the kinds that are not planned, so that they do not appear as unchanged. */
async function tellOfStrange({ signal, err }: Input, { client }: Api, strange: readonly ServedKind[]): Promise<void> {
  for (const served of strange) {
    // Without permission to list them, nothing is printed.
    const { length = 0 } = (await listAll(client, served, { signal }).catch(ignoring(isForbidden))) ?? {}
    if (length > 0) err(`Not in the plan: ${length} ${groupResource(served)}. Name their provider with --providers.`)
  }
}

/** Returns the objects that manifests would create or change, in the order of their dependencies. */
async function applied({ input, api, world, registry }: Scene, manifests: readonly Manifest[]): Promise<Chosen> {
  const { values, signal } = input
  const kinds = await api.kinds()
  const subjects: Subject[] = []
  const claims: Mutable<Chosen['claims']> = []
  const failed: PlannedResource[] = []
  const how = { force: values['force'] === true, fieldManager: String(values['field-manager']), signal }
  for (const { object, source } of inOrder(manifests)) {
    const served = kinds.of(object)
    if (!served) throw new UsageError(`${source}: the server does not serve ${object.kind} in ${object.apiVersion}`)
    const kind = kindOf(registry.kinds, served)
    const claim = kindOf(registry.claims, served)
    const wanted = placed(object, served.namespaced ? api.namespace : undefined)
    try {
      const { object: after, as } = await tryApply(api.client, served, wanted, how)
      world.imagine(served, kind ? inControllerVersion(kind, after) : after)
      if (kind) subjects.push({ kind, key: keyOf(after.metadata), object: as })
      else if (isManaged(served)) failed.push(failedPlan({ type: served }, keyOf(after.metadata), UNKNOWN_PROVIDER))
      if (claim) claims.push({ kind: claim, key: keyOf(after.metadata) })
    } catch (error) {
      signal.throwIfAborted()
      // The namespace is in the same files, so that the object cannot be validated yet.
      if (!kind && isNotFound(error)) world.imagine(served, wanted)
      else if (kind) failed.push(failedPlan(kind, keyOf(wanted.metadata), `${source}: ${withAdvice(error)}`))
      else throw new Error(`${source}: ${object.kind} ${object.metadata.name}: ${messageOf(error)}`, { cause: error })
    }
  }
  return { subjects, claims, failed }
}

const UNKNOWN_PROVIDER = 'its provider is not in --providers: add it there'

async function imagineDeletions(world: Imagination, subjects: readonly Subject[]): Promise<void> {
  for (const { kind, key } of subjects) {
    const object = await world.find(kind.type, key)
    if (object) world.imagineDeleted(kind.type, object, timestamp(systemClock.now()))
  }
}

const keyOf = ({ name = '', namespace }: KubeObject['metadata']): ObjectKey => ({
  name,
  ...(namespace ? { namespace } : {}),
})
