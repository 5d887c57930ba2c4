import {
  apiVersionOf,
  groupResource,
  ignoring,
  isForbidden,
  isNotFound,
  type KubeObject,
  messageOf,
  parseApiVersion,
} from '@crosstie/kube'
import {
  aggregateType,
  failedPlan,
  type Plan,
  type PlannedResource,
  type PlanRequestStatus,
  planOf,
  planRequestType,
  type RequestedObject,
  tryApply,
} from '@crosstie/resources'
import { inOrder } from '../apply/apply.js'
import { type Input, textsOf, UsageError } from '../command.js'
import type { Api } from '../shared/access.js'
import { adviceFor } from '../shared/advice.js'
import type { ServedKind } from '../shared/kinds.js'
import { type Manifest, readManifests } from '../shared/manifests.js'
import { listAll } from '../shared/objects.js'
import { requestAnswer } from '../shared/requests.js'

interface Named {
  readonly objects: readonly RequestedObject[]
  /** Objects that the server already refused. */
  readonly failed: readonly PlannedResource[]
}

/** A plan by the control plane for what the command line names. Nothing changes anywhere. */
export async function requestPlan(input: Input, api: Api): Promise<Plan> {
  const { values, progress } = input
  const files = textsOf(values, 'filename')
  const all = values['all'] === true
  const { objects, failed }: Named = await progress.during('reading the objects', async () => {
    if (all) return { objects: [], failed: [] }
    return files.length > 0 ? await applied(input, api, await readManifests(files)) : await named(input, api)
  })
  const nothing = !all && objects.length === 0
  const spec = { ...(all ? { all } : { objects }), ...(values['delete'] === true ? { delete: true } : {}) }
  const { plan }: PlanRequestStatus = nothing
    ? {}
    : await progress.during('the control plane observes the external resources', () =>
        requestAnswer<PlanRequestStatus>(input, api, planRequestType, spec),
      )
  const missing = all && plan ? await unplanned(input, api, plan.resources) : []
  return planOf([...(plan?.resources ?? []), ...failed, ...missing], plan?.claims ?? [])
}

/** The objects that the words of the command line name, as they are. */
async function named({ words, signal }: Input, api: Api): Promise<Named> {
  const objects: RequestedObject[] = []
  const targets = (await api.kinds()).targets(words)
  for (const { kind, name } of targets) {
    if (name === undefined || isManaged(kind) || kind.categories.includes('claim')) continue
    throw new UsageError(
      `${kind.kind} (${kind.group || 'core'}) has no plan: only managed resources and claims have one`,
    )
  }
  for (const { kind, name } of targets.filter((target) => target.name !== undefined || !isAggregate(target.kind))) {
    if (name !== undefined) objects.push(requested(kind, api.keyOf(kind, name)))
    else {
      const namespace = kind.namespaced ? { namespace: api.namespace } : {}
      const found = await listAll(api.client, kind, { ...namespace, signal })
      objects.push(...found.map(({ metadata }) => requested(kind, metadata)))
    }
  }
  return { objects, failed: [] }
}

/** The objects as they would be after the manifests were applied, in the order in which they need each other. */
async function applied(input: Input, api: Api, manifests: readonly Manifest[]): Promise<Named> {
  const kinds = await api.kinds()
  const known = inOrder(manifests).map((manifest) => ({ manifest, kind: kinds.of(manifest.object) }))
  const unknown = known.filter(({ kind }) => !kind).map(({ manifest: { object, source } }) => ({ object, source }))
  if (unknown.length > 0) {
    const line = ({ object, source }: Manifest) =>
      `${source}: the server does not serve ${object.kind} of ${object.apiVersion}`
    throw new UsageError(unknown.map(line).join('\n'))
  }
  const results: Named[] = []
  for (const { manifest, kind } of known) if (kind) results.push(await tried(input, api, kind, manifest))
  return { objects: results.flatMap(({ objects }) => objects), failed: results.flatMap(({ failed }) => failed) }
}

/** Has the server try out one manifest. */
async function tried(input: Input, api: Api, served: ServedKind, { object, source }: Manifest): Promise<Named> {
  const { values, signal } = input
  const wanted = placed(object, served.namespaced ? api.namespace : undefined)
  const how = { force: values['force'] === true, fieldManager: String(values['field-manager']), signal }
  try {
    const { object: manifest, as: change } = await tryApply(api.client, served, wanted, how)
    return { objects: assumed(served, manifest, change), failed: [] }
  } catch (error) {
    signal.throwIfAborted()
    const problem = `${source}: ${withAdvice(error)}`
    if (isManaged(served)) return { objects: [], failed: [failedPlan({ type: served }, keyOf(wanted), problem)] }
    // Its namespace is among the same files and does not exist yet. The server cannot check the object before.
    if (isNotFound(error)) return { objects: assumed(served, wanted, 'new'), failed: [] }
    throw new Error(`${source}: ${object.kind} ${object.metadata.name}: ${messageOf(error)}`, { cause: error })
  }
}

/** An object as it would be. Values of Secrets stay here: existing Secrets are read by the control plane itself. */
function assumed(
  kind: ServedKind,
  manifest: KubeObject,
  change: 'new' | 'changed' | 'unchanged',
): readonly RequestedObject[] {
  const isSecret = kind.group === '' && kind.kind === 'Secret'
  if (isSecret && change !== 'new') return []
  const sent = isSecret ? withoutValues(manifest) : manifest
  return [{ ...requested(kind, manifest.metadata), apiVersion: manifest.apiVersion, manifest: sent, change }]
}

const HIDDEN = Buffer.from('(not sent)').toString('base64')

function withoutValues(secret: KubeObject): KubeObject {
  const keys = ['data', 'stringData'].flatMap((field) => Object.keys(secret[field] ?? {}))
  const { apiVersion, kind, metadata } = secret
  // kubectl apply keeps the whole manifest in an annotation, and with it the values.
  const { name, namespace } = metadata
  return {
    apiVersion,
    kind,
    metadata: { ...(name ? { name } : {}), ...(namespace ? { namespace } : {}) },
    data: Object.fromEntries(keys.map((key) => [key, HIDDEN])),
  }
}

function requested(kind: ServedKind, { name = '', namespace }: KubeObject['metadata']): RequestedObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, ...(namespace ? { namespace } : {}) }
}

/** Objects of managed kinds that no provider of the control plane manages must not pass for unchanged. */
async function unplanned(
  { signal }: Input,
  api: Api,
  resources: readonly PlannedResource[],
): Promise<readonly PlannedResource[]> {
  const planned = new Set(resources.map(({ apiVersion, kind }) => `${kind}.${parseApiVersion(apiVersion)?.group}`))
  const kinds = (await api.kinds()).all.filter((kind) => isManaged(kind) && !planned.has(`${kind.kind}.${kind.group}`))
  const missing: PlannedResource[] = []
  for (const kind of kinds) {
    const objects = (await listAll(api.client, kind, { signal }).catch(ignoring(isForbidden))) ?? []
    const problem = `no provider of this control plane manages ${groupResource(kind)}`
    missing.push(...objects.map((object) => failedPlan({ type: kind }, keyOf(object), problem)))
  }
  return missing
}

/** Returns the message of an error with advice on the next step, if there is any. */
export function withAdvice(error: unknown): string {
  const advice = adviceFor(error)
  return advice ? `${messageOf(error)}. ${advice}` : messageOf(error)
}

const isAggregate = (kind: ServedKind): boolean => groupResource(kind) === groupResource(aggregateType)

/** Reports whether a kind is managed. Aggregates have no external resource of their own. */
export const isManaged = (kind: ServedKind): boolean => kind.categories.includes('managed') && !isAggregate(kind)

/** Returns the object in a namespace, unless it names one. */
export function placed(object: KubeObject, namespace: string | undefined): KubeObject {
  return namespace && !object.metadata.namespace ? { ...object, metadata: { ...object.metadata, namespace } } : object
}

const keyOf = ({ metadata: { name = '', namespace } }: KubeObject) => ({ name, ...(namespace ? { namespace } : {}) })
