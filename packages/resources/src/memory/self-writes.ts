import type { KubeObject } from '@crosstie/kube'

/** The maximum number of remembered writes. Watch events that never arrive, after an interrupted watch, are dropped. */
const REMEMBERED = 10_000

/** Tracks the revisions of objects that this process wrote. Their watch events contain nothing new. */
export class SelfWrites {
  readonly #revisions = new Set<string>()

  add({ metadata: { uid, resourceVersion } }: KubeObject): void {
    if (!uid || !resourceVersion) return
    this.#revisions.add(`${uid} ${resourceVersion}`)
    if (this.#revisions.size > REMEMBERED) this.#revisions.delete(this.#revisions.values().next().value!)
  }

  /** Returns true once for each write. */
  take({ metadata: { uid, resourceVersion } }: KubeObject): boolean {
    return this.#revisions.delete(`${uid} ${resourceVersion}`)
  }
}
