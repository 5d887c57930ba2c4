import type { KubeObject } from '@crosstie/kube'
import { Slabs } from './slabs.js'
import type { State } from './state.js'
import { type Change, ObjectTooLargeError, PreconditionError, type Write } from './store.js'
import { bytesOf, type Parsed, Version, withRevision } from './version.js'

/** The result of accepted writes. */
export interface Accepted {
  readonly changes: readonly Change[]
  readonly bytes: number
}

/** The length of a key is stored in 16 bits. */
const KEY_BYTES_MAX = 0xffff

/** Accepts or refuses writes in order, based on the newest accepted state, which is ahead of the durable one. */
export class Acceptance {
  readonly #state: State
  readonly #parsed: Parsed
  readonly #slabs = new Slabs()
  /** The newest accepted version of keys whose change is not durable yet. */
  readonly #pending = new Map<string, Version>()
  #revision: number

  constructor(state: State, parsed: Parsed) {
    this.#state = state
    this.#parsed = parsed
    this.#revision = state.revision
  }

  tip(key: string): Version | undefined {
    const pending = this.#pending.get(key)
    if (pending) return pending.deleted ? undefined : pending
    return this.#state.head(key)
  }

  /** Accepts all writes or none. Everything that can fail comes before the first change. */
  accept(writes: readonly Write[]): Accepted {
    const changes: Change[] = []
    const own = writes.length > 1 ? new Map<string, Version>() : undefined
    let revision = this.#revision
    let bytes = 0
    for (const write of writes) {
      const mine = own?.get(write.key)
      const tip = mine ? (mine.deleted ? undefined : mine) : this.tip(write.key)
      if (!holds(write, tip)) throw new PreconditionError(write.key, tip)
      const change = this.#change(write, tip, ++revision)
      own?.set(write.key, change.now as Version)
      bytes += change.now.bytes.length
      changes.push(change)
    }
    for (const { key, now } of changes) this.#pending.set(key, now as Version)
    this.#revision = revision
    return { changes, bytes }
  }

  /** Called when the change is durable and visible. */
  becameVisible(change: Change): void {
    if (this.#pending.get(change.key) === change.now) this.#pending.delete(change.key)
  }

  /** Called when accepted changes failed to become durable. */
  drop(changes: Iterable<Change>): void {
    for (const { now } of changes) this.#parsed.retire(now as Version)
    this.#pending.clear()
  }

  #change(write: Write, tip: Version | undefined, revision: number): Change {
    const { key } = write
    if (key.length * 3 > KEY_BYTES_MAX && Buffer.byteLength(key) > KEY_BYTES_MAX) {
      throw new RangeError(`a key of ${Buffer.byteLength(key)} bytes is too long`)
    }
    const deleted = write.do === 'delete'
    const object = withRevision(write.object ?? (tip?.object as KubeObject), revision)
    const bytes = bytesOf(object, this.#slabs)
    if (write.do === 'put') checkSize(write, bytes.length, tip)
    const now = new Version(this.#parsed, key, revision, bytes, deleted)
    now.repeats = deleted && write.object === undefined
    this.#parsed.keep(now, object)
    const type = deleted ? 'DELETED' : tip ? 'MODIFIED' : 'ADDED'
    return { type, key, revision, now, before: tip }
  }
}

/** An earlier version of the server may have stored larger values. They may still shrink. */
function checkSize(write: Write & { readonly do: 'put' }, length: number, tip: Version | undefined): void {
  const { key, bytesMax } = write
  if (bytesMax === undefined || length <= Math.max(bytesMax, tip?.bytes.length ?? 0)) return
  throw new ObjectTooLargeError(key, length, bytesMax)
}

function holds(write: Write, tip: Version | undefined): boolean {
  if (write.do === 'delete' && !tip) return false
  if (write.expect === 'any') return true
  if (write.expect === 'absent') return tip === undefined
  return tip?.revision === write.expect
}
