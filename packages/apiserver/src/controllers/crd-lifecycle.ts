import { equal, isConflict, isNotFound } from '@crosstie/kube'
import { acceptNames, setCondition } from '../definitions/accept.js'
import { CLEANUP_FINALIZER, type CustomResourceDefinition, isEstablished } from '../definitions/crd.js'
import { definitionOf } from '../definitions/custom.js'
import type { Definition } from '../definitions/definition.js'
import { inProgress } from '../definitions/terminate.js'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'
import { removeAll } from '../verbs/deletecollection.js'
import { apiServer, systemRequest } from '../verbs/system.js'
import { modify } from '../verbs/write-path.js'
import { WorkQueue } from '../workqueue.js'

const PREFIX = '/apiextensions.k8s.io/customresourcedefinitions/'
const CLEANUP_RETRY_MS = 500

/**
 * Serves the kinds of CRDs: accepts or refuses names, serves established CRDs in their newest version, and deletes
 * the objects of a deleted CRD.
 */
export class DefinitionLifecycle {
  readonly #engine: Engine
  readonly #work: WorkQueue
  #unsubscribe: () => void = () => {}

  constructor(engine: Engine, report: (key: string, error: unknown) => void) {
    this.#engine = engine
    this.#work = new WorkQueue((name) => this.#reconcile(name), report)
  }

  /** Serves the CRDs that are established, then follows changes. */
  start(): void {
    const { hub, store } = this.#engine
    for (const { object } of store.list(PREFIX).items) this.#look(object as CustomResourceDefinition)
    this.#unsubscribe = hub.follow(PREFIX, store.revision, ({ type, now }) => {
      const crd = now.object as CustomResourceDefinition
      if (type === 'DELETED') this.#gone(crd)
      else this.#look(crd)
    })
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#work.stop()
  }

  #look(crd: CustomResourceDefinition): void {
    // Checked here, on every start and change: the store may hold such a CRD from an earlier version of the server.
    if (isEstablished(crd) && !this.#engine.registry.isReserved(crd.spec.group)) this.#serve(crd)
    this.#work.add(crd.metadata.name!)
  }

  #serve(crd: CustomResourceDefinition): void {
    const { registry } = this.#engine
    const known = registry.definition(crd.spec.group, crd.spec.names.plural)
    const next = definitionOf(crd)
    const same = known?.identity === next.identity && known?.createRefusal === next.createRefusal
    // Names are accepted after the change that requested them, in the same generation.
    if (!same || !equal(known?.names, next.names)) registry.put(next)
  }

  #gone(crd: CustomResourceDefinition): void {
    const { group, names } = crd.spec
    if (this.#engine.registry.definition(group, names.plural)?.crdUid === crd.metadata.uid) {
      this.#engine.registry.remove(group, names.plural)
    }
    // Another CRD may wait for a name that this one used.
    for (const other of this.#all()) if (other.spec.group === group) this.#work.add(other.metadata.name!)
  }

  #all(): readonly CustomResourceDefinition[] {
    return this.#engine.store.list(PREFIX).items.map(({ object }) => object as CustomResourceDefinition)
  }

  async #reconcile(name: string): Promise<void> {
    const crd = this.#engine.store.get(PREFIX + name)?.object as CustomResourceDefinition | undefined
    if (!crd) return
    try {
      if (crd.metadata.deletionTimestamp) await this.#cleanUp(crd)
      else await this.#accept(crd)
    } catch (error) {
      if (isConflict(error)) this.#work.add(name)
      else if (!isNotFound(error)) throw error
    }
  }

  async #accept(crd: CustomResourceDefinition): Promise<void> {
    const others = this.#all().filter((other) => other.metadata.name !== crd.metadata.name)
    const request = this.#request(crd.metadata.name!, 'status')
    await modify(this.#engine, request, (live) => ({
      object: acceptNames(live as CustomResourceDefinition, others, this.#engine.clock.now()),
    }))
  }

  async #cleanUp(crd: CustomResourceDefinition): Promise<void> {
    if (!crd.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return
    await modify(this.#engine, this.#request(crd.metadata.name!, 'status'), (live) => ({
      object: setCondition(live as CustomResourceDefinition, inProgress, this.#engine.clock.now()),
    }))
    const definition = this.#definitionToClean(crd)
    if (definition) {
      const served = this.#engine.registry.storage(definition)
      await removeAll(this.#engine, systemRequest(apiServer, served), {}, {})
      if (this.#engine.store.count(served.prefix) > 0) {
        // Other controllers must remove their finalizers first.
        this.#work.addAfter(crd.metadata.name!, CLEANUP_RETRY_MS)
        return
      }
    }
    await modify(this.#engine, this.#request(crd.metadata.name!), (live) => {
      const finalizers = (live.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER)
      return { object: { ...live, metadata: { ...live.metadata, finalizers } } }
    })
  }

  /**
   * Returns the kind whose objects are deleted with the CRD. A CRD of a reserved group is not served, but an
   * earlier version of the server may have stored objects for it. Objects of built-in kinds are never deleted with
   * a CRD.
   */
  #definitionToClean(crd: CustomResourceDefinition): Definition | undefined {
    const { registry } = this.#engine
    const known = registry.definition(crd.spec.group, crd.spec.names.plural)
    if (known) return known.crdUid === crd.metadata.uid ? known : undefined
    return registry.isReserved(crd.spec.group) ? definitionOf(crd) : undefined
  }

  #request(name: string, subresource?: string): WriteRequest {
    const served = this.#engine.registry.resolve('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!
    return systemRequest(apiServer, served, { name }, subresource)
  }
}
