import type { KubeObject, ObjectKey } from '@crosstie/kube'
import type { Follow } from '../../definition/external.js'

/** Subscriptions to change notifications from the provider, by the uid of the object. */
export class Subscriptions {
  readonly #ends = new Map<string, Map<string, () => void>>()
  #wake: (key: ObjectKey) => void = () => {}

  /** Sends notifications to `wake` from now on. Returns a function that ends all subscriptions. */
  begin(wake: (key: ObjectKey) => void): () => void {
    this.#wake = wake
    return () => {
      this.#wake = () => {}
      for (const uid of [...this.#ends.keys()]) this.forget(uid)
    }
  }

  of(object: KubeObject): Follow {
    return (topics, subscribe) => this.#follow(object, topics, subscribe)
  }

  #follow({ metadata }: KubeObject, ...[topics, subscribe]: Parameters<Follow>): void {
    const { uid = '', name = '', namespace } = metadata
    const key = { name, ...(namespace ? { namespace } : {}) }
    const held = this.#ends.get(uid)
    if (!held && topics.length === 0) return
    const next = new Map<string, () => void>()
    for (const topic of topics) {
      next.set(topic, held?.get(topic) ?? next.get(topic) ?? subscribe(topic, () => this.#wake(key)))
    }
    this.#ends.set(uid, next)
    for (const [topic, end] of held ?? []) if (!next.has(topic)) end()
  }

  get size(): number {
    return this.#ends.size
  }

  forget(uid: string): void {
    const held = this.#ends.get(uid)
    this.#ends.delete(uid)
    for (const end of held?.values() ?? []) end()
  }
}
