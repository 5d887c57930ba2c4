import type { KubeObject } from '@crosstie/kube'

/** Changes that never come back, since a watch was interrupted, are forgotten past so many. */
const REMEMBERED = 10_000

/** Which revisions of objects we made ourselves: between those and the ones before is nothing that we do not know. */
export class SelfWrites {
  readonly #revisions = new Set<string>()

  add({ metadata: { uid, resourceVersion } }: KubeObject): void {
    if (!uid || !resourceVersion) return
    this.#revisions.add(`${uid} ${resourceVersion}`)
    if (this.#revisions.size > REMEMBERED) this.#revisions.delete(this.#revisions.values().next().value!)
  }

  /** True once for each write. */
  take({ metadata: { uid, resourceVersion } }: KubeObject): boolean {
    return this.#revisions.delete(`${uid} ${resourceVersion}`)
  }
}
