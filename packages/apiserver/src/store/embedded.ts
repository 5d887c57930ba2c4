import { type Clock, messageOf, systemClock } from '@crosstie/kube'
import { Acceptance, type Accepted } from './acceptance.js'
import type { Horizon } from './horizon.js'
import type { State } from './state.js'
import {
  type BackupOptions,
  type Change,
  FutureRevisionError,
  type ListRange,
  type Store,
  StoreClosedError,
  type Stored,
  type StoredPage,
  type Write,
} from './store.js'
import type { Parsed } from './version.js'

/** Makes accepted changes durable. */
export interface Journal {
  /** Makes the whole batch durable or nothing of it. Rejects on failure, and may be called again afterwards. */
  append(batch: Batch): Promise<void>
  /**
   * Whether a commit of ordinary size would succeed. Called after a failure, because a full disk may still accept a
   * small write.
   */
  hasRoom(): Promise<boolean>
  /** Called after a batch is visible, and periodically. A time for background work. */
  afterVisible(): void
  /** Writes a consistent copy of the newest durable state. */
  backup(file: string, options: BackupOptions): Promise<{ readonly revision: number }>
  close(): Promise<void>
}

/** Changes that become durable together. */
export interface Batch {
  readonly changes: readonly Change[]
  /** The newest durable revision before this batch. */
  readonly before: number
  /** The compacted revision once the batch is durable. */
  readonly compacted: number
  readonly time: number
  /** Whether one writer waits for the batch and no other is queued. */
  readonly alone: boolean
}

/** One call of `write` or `compact` that waits for the disk. */
interface Waiting {
  readonly changes: readonly Change[]
  readonly bytes: number
  readonly compacted: number
  resolve(changes: readonly Change[]): void
  reject(error: unknown): void
}

/** A larger batch would delay readers when it becomes visible. */
const BATCH_BYTES_MAX = 1 << 20
const BATCH_WRITES_MAX = 1000
const TIDY_EVERY_MS = 10_000
/** While writes fail, an empty write is tried at this interval, so that health does not depend on writers. */
const PROBE_EVERY_MS = 1_000

const nothing: Accepted = { changes: [], bytes: 0 }

/** Calls that only wait for earlier ones need no frame. */
function saysSomething({ changes, compacted }: Batch, state: State): boolean {
  return changes.length > 0 || compacted > state.compacted
}

/** Called with the error when writes begin to fail, and with undefined when they succeed again. */
export type Health = (failure: Error | undefined) => void

/** The parts of an embedded store that do not depend on the disk. */
export class EmbeddedStore implements Store {
  readonly #state: State
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #horizon: Horizon
  readonly #acceptance: Acceptance
  readonly #listeners = new Set<(changes: readonly Change[]) => void>()
  readonly #tidying: NodeJS.Timeout
  readonly #reportHealth: Health
  #probing: NodeJS.Timeout | undefined
  #failure: Error | undefined
  #waiting: Waiting[] = []
  #draining: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(
    state: State,
    parsed: Parsed,
    journal: Journal,
    horizon: Horizon,
    clock: Clock = systemClock,
    reported: Health = () => {},
  ) {
    this.#state = state
    this.#journal = journal
    this.#clock = clock
    this.#reportHealth = reported
    this.#horizon = horizon
    this.#acceptance = new Acceptance(state, parsed)
    this.#tidying = setInterval(() => this.#tidy(), TIDY_EVERY_MS)
    this.#tidying.unref()
  }

  get revision(): number {
    return this.#state.revision
  }

  get compacted(): number {
    return this.#state.compacted
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  get(key: string, revision?: number): Stored | undefined {
    return this.#state.get(key, revision)
  }

  list(prefix: string, options?: ListRange): StoredPage {
    return this.#state.list(prefix, options)
  }

  count(prefix: string): number {
    return this.#state.count(prefix)
  }

  tip(key: string): Stored | undefined {
    return this.#acceptance.tip(key)
  }

  write(writes: readonly Write[]): Promise<readonly Change[]> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    if (writes.length === 0) return this.#draining ? this.#enqueue(nothing, 0) : Promise.resolve([])
    let accepted: Accepted
    try {
      accepted = this.#acceptance.accept(writes)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#enqueue(accepted, 0)
  }

  subscribe(listener: (changes: readonly Change[]) => void): () => void {
    // A function may subscribe twice. It is then called twice.
    const own = (changes: readonly Change[]) => listener(changes)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  changesSince(revision: number, prefix?: string): readonly Change[] {
    return this.#state.changesSince(revision, prefix)
  }

  async compact(revision: number): Promise<void> {
    if (this.#closing) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision <= this.compacted) return
    await this.#enqueue(nothing, revision)
  }

  backup(file: string, options: BackupOptions = {}): Promise<{ readonly revision: number }> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    return this.#journal.backup(file, options)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    clearInterval(this.#tidying)
    clearTimeout(this.#probing)
    await this.#draining
    await this.#journal.close()
  }

  #enqueue({ changes, bytes }: Accepted, compacted: number): Promise<readonly Change[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, bytes, compacted, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Group commit: changes that are accepted while one batch is written form the next batch. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Yields once to the event loop. Writers that were just acknowledged can add their next write to this batch.
      await new Promise((resolve) => setImmediate(resolve))
      const group = this.#takeGroup()
      const batch = this.#batchOf(group)
      try {
        if (this.#failure || saysSomething(batch, this.#state)) await this.#journal.append(batch)
        if (this.#failure) await this.#recover()
      } catch (error) {
        this.#fail(group, error)
        continue
      }
      this.#publish(group, batch)
    }
    this.#draining = undefined
  }

  #takeGroup(): readonly Waiting[] {
    let bytes = 0
    let count = 0
    const most = Math.min(this.#waiting.length, BATCH_WRITES_MAX)
    while (count < most && bytes < BATCH_BYTES_MAX) bytes += this.#waiting[count++]!.bytes
    return this.#waiting.splice(0, count)
  }

  #batchOf(group: readonly Waiting[]): Batch {
    const changes: Change[] = []
    let compacted = this.#state.compacted
    for (const waiting of group) {
      for (const change of waiting.changes) changes.push(change)
      compacted = Math.max(compacted, waiting.compacted)
    }
    const alone = group.length === 1 && this.#waiting.length === 0
    return { changes, before: this.#state.revision, compacted, time: this.#clock.now(), alone }
  }

  #publish(group: readonly Waiting[], batch: Batch): void {
    for (const change of batch.changes) {
      this.#state.apply(change)
      this.#acceptance.becameVisible(change)
    }
    this.#horizon.passed(batch.time)
    if (batch.compacted > this.#state.compacted) this.#horizon.compact(batch.compacted)
    if (batch.changes.length > 0) this.#tell(batch.changes)
    for (const { resolve, changes } of group) resolve(changes)
    this.#tidy()
  }

  /**
   * Later writes may depend on failed ones, so they fail, too. Their revisions are never reused, because a writer
   * may have seen them in a tip.
   */
  #fail(group: readonly Waiting[], error: unknown): void {
    const waiting = [...group, ...this.#waiting]
    this.#waiting = []
    this.#acceptance.drop(waiting.flatMap(({ changes }) => changes))
    const first = this.#failure === undefined
    this.#failure = error instanceof Error ? error : new Error(messageOf(error))
    if (first) this.#reportHealth(this.#failure)
    this.#probeLater()
    for (const { reject } of waiting) reject(error)
  }

  #probeLater(): void {
    this.#probing ??= setTimeout(() => this.#probe(), PROBE_EVERY_MS).unref()
  }

  #probe(): void {
    this.#probing = undefined
    if (this.#failure && !this.#closing) this.#enqueue(nothing, 0).catch(() => {}) // `failure` holds the error.
  }

  /** Called when a write succeeds again. Health is reported only when larger writes would succeed, too. */
  async #recover(): Promise<void> {
    if (!(await this.#journal.hasRoom())) return this.#probeLater()
    this.#failure = undefined
    clearTimeout(this.#probing)
    this.#probing = undefined
    this.#reportHealth(undefined)
  }

  #tell(changes: readonly Change[]): void {
    for (const listener of [...this.#listeners]) {
      if (!this.#listeners.has(listener)) continue
      try {
        listener(changes)
      } catch (error) {
        // The write is durable. An error of a listener must not fail it.
        process.emitWarning(`a listener of the store failed: ${messageOf(error)}`)
      }
    }
  }

  #tidy(): void {
    this.#horizon.advance(this.#clock.now())
    this.#journal.afterVisible()
  }
}
