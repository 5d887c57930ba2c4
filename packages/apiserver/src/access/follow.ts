import { setTimeout as delay } from 'node:timers/promises'
import { type Client, isExpired, type KubeObject, type ListOptions, type ResourceType } from '@crosstie/kube'

const RETRY_MIN = 100
const RETRY_MAX = 30_000

/** Waits; tests put their own in its place. Ends early, without an error, when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>

export const sleep: Sleep = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}

/** All objects of a kind (or those that a selector picks), kept up to date. */
export class Followed {
  readonly #objects = new Map<string, KubeObject>()

  get(namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`)
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values()
  }

  /** Lists, then watches, again and again until the signal aborts. Calls back for whatever came, changed or went. */
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

/**
 * Works on keys one after the other, each as long as it is asked for again;
 * a key whose work fails is tried again, later and later.
 */
export class Worker {
  readonly #work: (key: string) => Promise<void>
  readonly #failed: (key: string, error: unknown) => void
  readonly #signal: AbortSignal
  readonly #pause: Sleep
  readonly #pending = new Set<string>()
  readonly #failures = new Map<string, number>()
  #running = false

  constructor(
    work: (key: string) => Promise<void>,
    failed: (key: string, error: unknown) => void,
    signal: AbortSignal,
    pause: Sleep = sleep,
  ) {
    this.#work = work
    this.#failed = failed
    this.#signal = signal
    this.#pause = pause
  }

  ask(key: string): void {
    this.#pending.add(key)
    if (this.#running) return
    this.#running = true
    queueMicrotask(() => void this.#run())
  }

  async #run(): Promise<void> {
    for (const key of this.#pending) {
      if (this.#signal.aborted) break
      this.#pending.delete(key)
      try {
        await this.#work(key)
        this.#failures.delete(key)
      } catch (error) {
        if (!this.#signal.aborted) this.#retry(key, error)
      }
    }
    this.#running = false
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#failed(key, error)
    const wait = Math.min(RETRY_MIN * 2 ** (failures - 1), RETRY_MAX)
    void this.#pause(wait, this.#signal).then(() => {
      if (!this.#signal.aborted) this.ask(key)
    })
  }
}
