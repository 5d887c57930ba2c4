import { once } from 'node:events'
import { type Client, groupResource, type KubeObject, type ResourceType } from '@crosstie/kube'
import { sharedAbortController } from '../sleep.js'
import { Informer, type InformerOptions } from './informer.js'

/** Options of Informers. */
export interface InformersOptions extends InformerOptions {
  /** For a kind whose CRD is being installed: resolves when the server serves it. Absent or undefined: it is served. */
  served?(type: ResourceType): Promise<unknown> | undefined
}

/** Shares one informer, and thus one watch and one cache, among all users of a kind. */
export class Informers {
  readonly #client: Client
  readonly #options: InformersOptions
  readonly #running = new Map<string, RunningInformer>()
  #stopped = false

  constructor(client: Client, options: InformersOptions = {}) {
    this.#client = client
    this.#options = options
  }

  /** Returns the informer of the kind and starts it on first use, or once the kind is served. */
  of<T extends KubeObject = KubeObject>(type: ResourceType): Informer<T> {
    const running = this.#running.get(nameOf(type)) ?? this.#start(type)
    return running.informer as unknown as Informer<T>
  }

  /** Returns the informer of the kind if it was requested before. */
  known(type: ResourceType): Informer | undefined {
    return this.#running.get(nameOf(type))?.informer
  }

  *all(): IterableIterator<Informer> {
    for (const { informer } of this.#running.values()) yield informer
  }

  /** Stops the informer of a kind and drops its cache. Subscribers receive no more changes. */
  async forget(type: ResourceType): Promise<void> {
    const running = this.#running.get(nameOf(type))
    if (!running) return
    this.#running.delete(nameOf(type))
    running.stop.abort()
    await running.ended
  }

  #start(type: ResourceType): RunningInformer {
    const informer = new Informer(this.#client, type, this.#options)
    const stop = sharedAbortController()
    if (this.#stopped) stop.abort()
    const running = { informer, stop, ended: this.#run(informer, stop.signal) }
    this.#running.set(nameOf(type), running)
    return running
  }

  async #run(informer: Informer, signal: AbortSignal): Promise<void> {
    const served = this.#options.served?.(informer.type)
    if (served && !signal.aborted) await Promise.race([served, once(signal, 'abort')])
    await informer.run(signal)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const running = [...this.#running.values()]
    for (const { stop } of running) stop.abort()
    await Promise.all(running.map(({ ended }) => ended))
  }
}

interface RunningInformer {
  readonly informer: Informer
  readonly stop: AbortController
  readonly ended: Promise<void>
}

const nameOf = (type: ResourceType): string => `${groupResource(type)}/${type.version}`
