import type { KubeObject, ObjectKey } from '@crosstie/kube'

/** Tracks which objects have read which Secrets, so that they are reconciled when those change or appear. */
export class SecretUsers {
  readonly #users = new Map<string, Map<string, ObjectKey>>()
  readonly #secrets = new Map<string, Set<string>>()

  /** Records that the object read `secret`, which is `<namespace>/<name>`. */
  add(secret: string, { metadata: { uid = '', name = '', namespace } }: KubeObject): void {
    const users = this.#users.get(secret) ?? new Map<string, ObjectKey>()
    if (users.has(uid)) return
    this.#users.set(secret, users.set(uid, { name, ...(namespace ? { namespace } : {}) }))
    this.#secrets.set(uid, (this.#secrets.get(uid) ?? new Set()).add(secret))
  }

  of({ metadata: { name, namespace } }: KubeObject): Iterable<ObjectKey> {
    return this.#users.get(`${namespace}/${name}`)?.values() ?? []
  }

  get size(): number {
    return this.#secrets.size
  }

  forget(uid: string): void {
    for (const secret of this.#secrets.get(uid) ?? []) {
      const users = this.#users.get(secret)
      users?.delete(uid)
      if (users?.size === 0) this.#users.delete(secret)
    }
    this.#secrets.delete(uid)
  }
}
