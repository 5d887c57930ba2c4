import { once, setMaxListeners } from 'node:events'
import { type Client, groupResource, type KubeObject, type ResourceType } from '@crosstie/kube'
import { stopper } from '../sleep.js'
import { Informer, type InformerOptions } from './informer.js'

export interface InformersOptions extends InformerOptions {
  /** Resolves when the server knows the kind, for one that is only being brought there. Absent: it does. */
  served?(type: ResourceType): Promise<unknown> | undefined
}

/** One informer for each kind, however many ask: one watch, one copy of the objects. */
export class Informers {
  readonly #client: Client
  readonly #options: InformersOptions
  readonly #informers = new Map<string, Informer>()
  readonly #running: Promise<void>[] = []
  readonly #stop = stopper()

  constructor(client: Client, options: InformersOptions = {}) {
    this.#client = client
    this.#options = options
    // Every informer listens; there may be hundreds of kinds.
    setMaxListeners(0, this.#stop.signal)
  }

  /** The informer of the kind, running from the first time it is asked for, or from when the kind is served. */
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

  /** The informer of the kind, if somebody asked for it before. */
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
