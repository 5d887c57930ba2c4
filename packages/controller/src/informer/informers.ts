import { setMaxListeners } from 'node:events'
import { type Client, groupResource, type KubeObject, type ResourceType } from '@crosstie/kube'
import { stopper } from '../sleep.js'
import { Informer, type InformerOptions } from './informer.js'

/** One informer for each kind, however many ask: one watch, one copy of the objects. */
export class Informers {
  readonly #client: Client
  readonly #options: InformerOptions
  readonly #informers = new Map<string, Informer>()
  readonly #running: Promise<void>[] = []
  readonly #stop = stopper()

  constructor(client: Client, options: InformerOptions = {}) {
    this.#client = client
    this.#options = options
    // Every informer listens; there may be hundreds of kinds.
    setMaxListeners(0, this.#stop.signal)
  }

  /** The informer of the kind, running from the first time it is asked for. */
  of<T extends KubeObject = KubeObject>(type: ResourceType): Informer<T> {
    const name = `${groupResource(type)}/${type.version}`
    let informer = this.#informers.get(name)
    if (!informer) {
      informer = new Informer(this.#client, type, this.#options)
      this.#informers.set(name, informer)
      this.#running.push(informer.run(this.#stop.signal))
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

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }
}
