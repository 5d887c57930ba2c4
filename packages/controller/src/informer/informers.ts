import { once, setMaxListeners } from 'node:events'
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
  readonly #informers = new Map<string, Informer>()
  readonly #running: Promise<void>[] = []
  readonly #stop = sharedAbortController()

  constructor(client: Client, options: InformersOptions = {}) {
    this.#client = client
    this.#options = options
    // Every informer adds a listener; there may be hundreds of kinds.
    setMaxListeners(0, this.#stop.signal)
  }

  /** Returns the informer of the kind and starts it on first use, or once the kind is served. */
  of<T extends KubeObject = KubeObject>(type: ResourceType): Informer<T> {
    const name = `${groupResource(type)}/${type.version}`
    let informer = this.#informers.get(name)
    if (!informer) {
      informer = new Informer(this.#client, type, this.#options)
      this.#informers.set(name, informer)
      this.#running.push(this.#run(informer))
    }
    return informer as unknown as Informer<T>
  }

  /** Returns the informer of the kind if it was requested before. */
  known(type: ResourceType): Informer | undefined {
    return this.#informers.get(`${groupResource(type)}/${type.version}`)
  }

  all(): IterableIterator<Informer> {
    return this.#informers.values()
  }

  async #run(informer: Informer): Promise<void> {
    const { signal } = this.#stop
    const served = this.#options.served?.(informer.type)
    if (served && !signal.aborted) await Promise.race([served, once(signal, 'abort')])
    await informer.run(signal)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }
}
