import { sleep } from '@crosstie/controller'
import { equal, ignoring, isNotFound, type KubeObject, messageOf, StatusError } from '@crosstie/kube'
import { didYouMean } from '../../options/suggest.js'
import { TimeoutError } from '../command.js'
import type { Api } from '../shared/access.js'
import { adviceFor, isUnreachable } from '../shared/advice.js'
import { type Kinds, readKinds, type ServedKind } from '../shared/kinds.js'
import type { Manifest } from '../shared/manifests.js'
import { listAll } from '../shared/objects.js'
import type { Progress } from '../shared/progress.js'

/** Options of {@link applyAll}. */
export interface ApplyAllOptions {
  readonly api: Api
  readonly manifests: readonly Manifest[]
  readonly fieldManager: string
  readonly force: boolean
  readonly dryRun: boolean
  /** How long to wait for a kind that is about to be served, in milliseconds. */
  readonly patienceMs: number
  /** Called for every object as soon as it is applied or rejected. */
  readonly report: (applied: Applied) => void
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** The result of applying one object. */
export interface Applied {
  readonly manifest: Manifest
  readonly kind?: ServedKind
  readonly object?: KubeObject
  readonly outcome?: 'created' | 'changed' | 'unchanged'
  readonly error?: unknown
}

/** Applies objects in the order of their dependencies. A rejected object does not stop the others. */
export async function applyAll(options: ApplyAllOptions): Promise<void> {
  const { manifests, progress, report, signal } = options
  const finder = new KindFinder(options)
  const ordered = inOrder(manifests)
  for (const [i, manifest] of ordered.entries()) {
    signal.throwIfAborted()
    const { kind, metadata } = manifest.object
    await progress.during(`applying ${i + 1} of ${ordered.length}: ${kind} ${metadata.name}`, async () => {
      try {
        report({ manifest, ...(await applyOne(options, await finder.kindOf(manifest), manifest.object)) })
      } catch (error) {
        signal.throwIfAborted()
        if (isUnreachable(error) || !(error instanceof StatusError || error instanceof UnservedError)) throw error
        const advice = adviceFor(error)
        report({ manifest, error: advice ? new Error(`${messageOf(error)}\n${advice}`) : error })
      }
    })
  }
}

async function applyOne(
  { api, fieldManager, force, dryRun, signal }: ApplyAllOptions,
  kind: ServedKind,
  object: KubeObject,
): Promise<Omit<Applied, 'manifest'>> {
  const name = object.metadata.name!
  const namespace = kind.namespaced ? (object.metadata.namespace ?? api.namespace) : undefined
  const before = await api.client
    .get(kind, { name, ...(namespace ? { namespace } : {}) }, { signal })
    .catch(ignoring(isNotFound))
  const { managedFields: _, resourceVersion: __, uid: ___, ...metadata } = object.metadata
  const wanted = { ...object, metadata: { ...metadata, name, ...(namespace ? { namespace } : {}) } }
  const after: KubeObject = await api.client.apply(kind, wanted, { fieldManager, force, dryRun, signal })
  const same = before && (dryRun ? saysTheSame(before, after) : revisionOf(before) === revisionOf(after))
  return { kind, object: after, outcome: !before ? 'created' : same ? 'unchanged' : 'changed' }
}

const revisionOf = ({ metadata }: KubeObject): string | undefined => metadata.resourceVersion

/** Compares two objects without their revisions: the result of a dry run is not stored and does not have one. */
function saysTheSame(a: KubeObject, b: KubeObject): boolean {
  const said = ({
    metadata: { managedFields: _, resourceVersion: __, generation: ___, ...metadata },
    ...rest
  }: KubeObject) => ({
    ...rest,
    metadata,
  })
  return equal(said(a), said(b))
}

/** The order of kinds: namespaces, definitions, roles, classes and configurations, then all others. */
const ranks: readonly ((object: KubeObject) => boolean)[] = [
  ({ kind, apiVersion }) => kind === 'Namespace' && apiVersion === 'v1',
  ({ kind }) => kind === 'CustomResourceDefinition',
  ({ kind }) => kind === 'ServiceAccount' || kind === 'Secret' || kind === 'ConfigMap',
  ({ kind }) => kind === 'ClusterRole' || kind === 'Role',
  ({ kind }) => kind === 'ClusterRoleBinding' || kind === 'RoleBinding',
  ({ kind }) => kind === 'ProviderConfig',
  ({ kind }) => kind.endsWith('Class'),
]

/** Sorts manifests so that dependencies come first. */
export function inOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  const rank = ({ object }: Manifest) => {
    const found = ranks.findIndex((has) => has(object))
    return found < 0 ? ranks.length : found
  }
  return manifests
    .map((manifest, i) => ({ manifest, i, rank: rank(manifest) }))
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .map(({ manifest }) => manifest)
}

/** The server does not serve the kind, and no definition of it exists. */
class UnservedError extends Error {
  override readonly name = 'UnservedError'
}

const LOOK_MS = 250
/** A starting server installs definitions one by one. After this time without a new one, it has all of them. */
const ARRIVAL_MS = 5_000

/** Finds the kinds of manifests, and waits for kinds whose definitions are being installed. */
class KindFinder {
  readonly #options: ApplyAllOptions
  readonly #began = Date.now()
  #kinds: Kinds | undefined

  constructor(options: ApplyAllOptions) {
    this.#options = options
  }

  async kindOf({ object }: Manifest): Promise<ServedKind> {
    const { api, patienceMs, progress, signal } = this.#options
    this.#kinds ??= await api.kinds()
    const found = this.#kinds.of(object)
    if (found) return found
    const deadline = Date.now() + patienceMs
    for (;;) {
      this.#kinds = await readKinds(api.client, signal)
      const served = this.#kinds.of(object)
      if (served) return served
      if (!(await this.#isComing(object))) throw this.#unserved(object)
      if (Date.now() > deadline) throw new TimeoutError(`${object.apiVersion} ${object.kind} was never served`)
      progress.say(`waiting until ${object.kind} (${object.apiVersion}) is served`)
      await sleep(LOOK_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** Reports whether a definition of this kind exists, or whether the server is still installing definitions. */
  async #isComing({ apiVersion, kind }: KubeObject): Promise<boolean> {
    const { api, manifests, dryRun, signal } = this.#options
    const group = apiVersion.split('/')[0]
    const defines = (object: KubeObject) => {
      const spec = (object['spec'] ?? {}) as { group?: string; names?: { kind?: string } }
      return object.kind === 'CustomResourceDefinition' && spec.group === group && spec.names?.kind === kind
    }
    if (manifests.some(({ object }) => defines(object))) return !dryRun
    const definitions = this.#kinds!.find('customresourcedefinitions')
    if (!definitions) return false
    const items = await listAll(api.client, definitions, { signal })
    const newest = Math.max(...items.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') || 0), 0)
    const stillComing = Date.now() - (newest || this.#began) < ARRIVAL_MS
    return stillComing || items.some(defines)
  }

  #unserved({ apiVersion, kind }: KubeObject): Error {
    const sameKind = this.#kinds!.all.filter((each) => each.kind === kind)
    if (sameKind.length > 0) {
      const versions = sameKind.map(({ group, version }) => (group ? `${group}/${version}` : version)).join(', ')
      return new UnservedError(`the server does not serve ${kind} in ${apiVersion}, but in ${versions}`)
    }
    const meant = didYouMean(
      kind,
      this.#kinds!.all.map((each) => each.kind),
    )
    return new UnservedError(
      `the server does not serve the kind ${kind} (${apiVersion}).${meant} Apply its CustomResourceDefinition too, or start its provider`,
    )
  }
}
