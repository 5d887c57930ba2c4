import { messageOf } from '@crosstie/kube'
import type { KindFailure, ManagedKind } from '@crosstie/resources'

type ConfigKind = NonNullable<ManagedKind['providerConfig']>

/** How the kinds of a provider come and go. All functions may throw. */
export interface KindLifecycle {
  startConfig(config: ConfigKind): Promise<void>
  stopConfig(config: ConfigKind): Promise<void>
  startKind(kind: ManagedKind): Promise<void>
  stopKind(kind: ManagedKind): Promise<void>
  /** Called after the kinds of an owner changed. */
  changed(owner: string, kinds: readonly ManagedKind[]): Promise<void>
}

/** The kinds that providers added at run time, by owner. Changes run one after the other. */
export class RuntimeKinds {
  readonly #lifecycle: KindLifecycle
  readonly #running = new Map<string, ReadonlySet<ManagedKind>>()
  readonly #configs = new Map<string, ConfigKind>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(lifecycle: KindLifecycle) {
    this.#lifecycle = lifecycle
  }

  /** All kinds that run now. */
  *all(): IterableIterator<ManagedKind> {
    for (const kinds of this.#running.values()) yield* kinds
  }

  /** The owners with the kinds of each that run now. */
  owners(): readonly { readonly name: string; readonly kinds: readonly ManagedKind[] }[] {
    return [...this.#running].map(([name, kinds]) => ({ name, kinds: [...kinds] }))
  }

  /** Resolves when no change is in progress. */
  async idle(): Promise<void> {
    await this.#last
  }

  /**
   * Starts the kinds that the owner did not have before and stops those that it no longer has. A kind that cannot be
   * started does not affect the others. It is tried again by the next call.
   */
  set(owner: string, kinds: readonly ManagedKind[]): Promise<readonly KindFailure[]> {
    const done = this.#last.then(() => this.#replace(owner, kinds))
    this.#last = done.catch(() => {})
    return done
  }

  async #replace(owner: string, kinds: readonly ManagedKind[]): Promise<readonly KindFailure[]> {
    const before = this.#running.get(owner) ?? new Set()
    const wanted = new Set(kinds)
    const stopped = [...before].filter((kind) => !wanted.has(kind))
    const added = kinds.filter((kind) => !before.has(kind))
    if (stopped.length === 0 && added.length === 0) return []
    await Promise.all(stopped.map((kind) => this.#lifecycle.stopKind(kind)))
    await this.#replaceConfig(owner, kinds[0]?.providerConfig)
    const started = await Promise.all(added.map((kind) => this.#start(kind)))
    const failed = started.filter((failure) => failure !== undefined)
    const failedKinds = new Set(failed.map(({ kind }) => kind))
    const running = kinds.filter((kind) => !failedKinds.has(kind))
    if (running.length > 0) this.#running.set(owner, new Set(running))
    else this.#running.delete(owner)
    await this.#lifecycle.changed(owner, running)
    return failed
  }

  async #replaceConfig(owner: string, config: ConfigKind | undefined): Promise<void> {
    const before = this.#configs.get(owner)
    if (before === config) return
    if (before) {
      await this.#lifecycle.stopConfig(before)
      this.#configs.delete(owner)
    }
    if (!config) return
    await this.#lifecycle.startConfig(config)
    this.#configs.set(owner, config)
  }

  async #start(kind: ManagedKind): Promise<KindFailure | undefined> {
    try {
      await this.#lifecycle.startKind(kind)
      return undefined
    } catch (error) {
      return { kind, message: messageOf(error) }
    }
  }
}
