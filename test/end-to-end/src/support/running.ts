import { Controllers, Informers } from '@crosstie/controller'
import type { KubeObject } from '@crosstie/kube'
import { type ManagedKind, type ManagedOptions, managedController, queryController } from '@crosstie/resources'
import type { Plane } from './plane.js'

/** Runs the controllers of some kinds and of their queries until disposal. */
export class Running implements AsyncDisposable {
  readonly events: string[] = []
  readonly #informers: Informers
  readonly #controllers: Controllers

  constructor({ client }: Plane, kinds: readonly ManagedKind[], options: Partial<ManagedOptions> = {}) {
    this.#informers = new Informers(client)
    this.#controllers = new Controllers({ informers: this.#informers, backoff: { baseMs: 20, maxMs: 500 } })
    const events = {
      event: (object: KubeObject, type: string, reason: string, message: string) => {
        this.events.push(`${object.kind}/${object.metadata.name} ${type} ${reason}: ${message}`)
      },
    }
    for (const kind of kinds) {
      const given = { client, events, pollSeconds: 1, unreadySeconds: 0.1, ...options }
      this.#controllers.start(managedController(kind, given))
      const queries = queryController(kind, given)
      if (queries) this.#controllers.start(queries)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#controllers.stop(0), this.#informers.stop()])
  }
}
