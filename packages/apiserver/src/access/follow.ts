import { type Client, isExpired, type KubeObject, type ListOptions, type ResourceType } from '@crosstie/kube'
import { type Sleep, sleep } from '../workqueue.js'

const RETRY_MIN = 100
const RETRY_MAX = 30_000

/** A cache of the objects of a kind, or of those that a selector matches. */
export class Followed {
  readonly #objects = new Map<string, KubeObject>()

  get(namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`)
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values()
  }

  /** Lists and watches until the signal aborts. Calls back for each object that was added, changed or removed. */
  async run(
    client: Client,
    type: ResourceType,
    selection: Pick<ListOptions, 'fieldSelector' | 'labelSelector'>,
    changed: (object: KubeObject) => void,
    signal: AbortSignal,
    pause: Sleep = sleep,
  ): Promise<void> {
    let wait = RETRY_MIN
    while (!signal.aborted) {
      try {
        const { items, metadata } = await client.list(type, { ...selection, signal })
        this.#replace(items, changed)
        wait = RETRY_MIN
        const options = { ...selection, resourceVersion: metadata.resourceVersion, signal }
        for await (const event of client.watch(type, options)) {
          if (event.type === 'BOOKMARK') continue
          if (event.type === 'DELETED') this.#objects.delete(keyOf(event.object))
          else this.#objects.set(keyOf(event.object), event.object)
          changed(event.object)
        }
      } catch (error) {
        if (signal.aborted) return
        if (isExpired(error)) continue
        await pause(wait, signal)
        wait = Math.min(wait * 2, RETRY_MAX)
      }
    }
  }

  #replace(items: readonly KubeObject[], changed: (object: KubeObject) => void): void {
    const gone = new Map(this.#objects)
    this.#objects.clear()
    for (const item of items) {
      this.#objects.set(keyOf(item), item)
      gone.delete(keyOf(item))
    }
    for (const item of items) changed(item)
    for (const object of gone.values()) changed(object)
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`
