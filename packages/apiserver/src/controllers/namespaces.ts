import { isConflict, isNotFound, type KubeObject, timestamp } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'
import { removeAll } from '../verbs/deletecollection.js'
import { controller, systemRequest } from '../verbs/system.js'
import { modify } from '../verbs/write-path.js'
import { WorkQueue } from '../workqueue.js'

const PREFIX = '//namespaces/'
const RETRY_MS = 1_000

const writer = controller('namespace-controller')

/**
 * Deletes the content of a namespace under deletion, reports in its status what remains, then removes the
 * finalizer.
 */
export class NamespaceLifecycle {
  readonly #engine: Engine
  readonly #work: WorkQueue
  #unsubscribe: () => void = () => {}

  constructor(engine: Engine, report: (key: string, error: unknown) => void) {
    this.#engine = engine
    this.#work = new WorkQueue((name) => this.#empty(name), report)
  }

  start(): void {
    const { hub, store } = this.#engine
    this.#unsubscribe = hub.follow(PREFIX, store.revision, ({ type, now }) => {
      if (type !== 'DELETED') this.#look(now.object)
    })
    for (const { object } of store.list(PREFIX).items) this.#look(object)
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#work.stop()
  }

  #look({ metadata }: KubeObject): void {
    if (metadata.deletionTimestamp) this.#work.add(metadata.name!)
  }

  async #empty(name: string): Promise<void> {
    const namespace = this.#engine.store.get(PREFIX + name)?.object
    if (!namespace?.metadata.deletionTimestamp || finalizersOf(namespace).length === 0) return
    const remaining: Remaining[] = []
    for (const definition of this.#engine.registry.definitions()) {
      if (!definition.namespaced || definition.sharedWith || !definition.verbs.includes('deletecollection')) continue
      const served = this.#engine.registry.storage(definition)
      const prefix = `${served.prefix}${name}/`
      if (this.#engine.store.count(prefix) === 0) continue
      await removeAll(this.#engine, systemRequest(writer, served, { namespace: name }), {}, {})
      const left = this.#engine.store.list(prefix).items.map(({ object }) => object)
      if (left.length > 0) remaining.push({ resource: qualified(definition), objects: left })
    }
    try {
      if (remaining.length > 0) {
        await this.#explain(name, remaining)
        this.#work.addAfter(name, RETRY_MS)
      } else await this.#letGo(name)
    } catch (error) {
      if (isConflict(error)) this.#work.add(name)
      else if (!isNotFound(error)) throw error
    }
  }

  async #letGo(name: string): Promise<void> {
    await modify(this.#engine, this.#request(name, 'finalize'), (live) => {
      const finalizers = finalizersOf(live).filter((finalizer) => finalizer !== 'kubernetes')
      return { object: { ...live, spec: { ...(live['spec'] as object), finalizers } } }
    })
  }

  async #explain(name: string, remaining: readonly Remaining[]): Promise<void> {
    const now = timestamp(this.#engine.clock.now())
    await modify(this.#engine, this.#request(name, 'status'), (live) => {
      const status = (live['status'] ?? {}) as { conditions?: readonly Condition[] }
      return {
        object: { ...live, status: { ...status, conditions: conditionsOf(status.conditions ?? [], remaining, now) } },
      }
    })
  }

  #request(name: string, subresource: string): WriteRequest {
    const served = this.#engine.registry.resolve('', 'v1', 'namespaces')!
    return systemRequest(writer, served, { name }, subresource)
  }
}

interface Remaining {
  readonly resource: string
  readonly objects: readonly KubeObject[]
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
}

function conditionsOf(
  before: readonly Condition[],
  remaining: readonly Remaining[],
  now: string,
): readonly Condition[] {
  const finalizers = new Map<string, number>()
  for (const { objects } of remaining) {
    for (const { metadata } of objects) {
      for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
    }
  }
  const counts = remaining.map(({ resource, objects }) => `${resource} has ${objects.length} resource instances`).sort()
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`).sort()
  const wanted: [string, string, string, string][] = [
    ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    [
      'NamespaceDeletionContentFailure',
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain', `Some resources are remaining: ${counts.join(', ')}`],
    held.length > 0
      ? [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        ]
      : [
          'NamespaceFinalizersRemaining',
          'False',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ],
  ]
  return wanted.map(([type, status, reason, message]) => {
    const old = before.find((condition) => condition.type === type)
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now
    return { type, status, lastTransitionTime, reason, message }
  })
}

function finalizersOf(namespace: KubeObject): readonly string[] {
  const { finalizers = [] } = (namespace['spec'] ?? {}) as { finalizers?: readonly string[] }
  return finalizers
}

function qualified({ group, names }: { group: string; names: { plural: string } }): string {
  return group === '' ? `${names.plural}.` : `${names.plural}.${group}`
}
