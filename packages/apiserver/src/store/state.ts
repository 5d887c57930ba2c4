import { Ordered } from './ordered.js'
import { ownMemory } from './slabs.js'
import { type Change, CompactedError, FutureRevisionError, type ListRange, type StoredPage } from './store.js'
import type { Parsed, Version } from './version.js'

interface Entry {
  readonly key: string
  head: Version
}

/** A new store has revision 1, as etcd. For Kubernetes clients "0" means any revision. */
export const FIRST_REVISION = 1

/**
 * The state that readers see: the newest durable version of every key, and the versions and changes since the last
 * compaction.
 */
export class State {
  revision = FIRST_REVISION
  compacted = 0
  /** The bytes of JSON of the newest states. */
  liveBytes = 0
  /** The bytes of JSON of history. */
  historyBytes = 0
  readonly #parsed: Parsed
  readonly #entries = new Map<string, Entry>()
  readonly #live = new Ordered<Entry>()
  /** Deleted keys that are still part of history. */
  readonly #graves = new Ordered<Entry>()
  #history: Change[] = []
  #forgotten = 0

  constructor(parsed: Parsed) {
    this.#parsed = parsed
  }

  get historyLength(): number {
    return this.#history.length - this.#forgotten
  }

  get size(): number {
    return this.#live.size
  }

  /** Returns the newest version. Undefined for a deleted key. */
  head(key: string): Version | undefined {
    const head = this.#entries.get(key)?.head
    return head?.deleted ? undefined : head
  }

  get(key: string, revision?: number): Version | undefined {
    if (revision === undefined || revision === this.revision) return this.head(key)
    this.#checkReadable(revision)
    return liveAt(this.#entries.get(key)?.head, revision)
  }

  list(prefix: string, { revision = this.revision, after, limit = Infinity }: ListRange = {}): StoredPage {
    if (revision === this.revision) return this.#listNow(prefix, after, limit)
    this.#checkReadable(revision)
    const items = this.walk(prefix, revision, after, limit)
    const last = items.at(-1)
    const remaining = last && items.length >= limit ? this.#countAt(prefix, revision, last.key) : 0
    return { items, revision, remaining }
  }

  count(prefix: string): number {
    return this.#live.position(endOf(prefix)) - this.#live.position(prefix)
  }

  /** Makes one change visible. Changes must be applied in the order of their revisions. */
  apply(change: Change): void {
    const now = change.now as Version
    const before = change.before as Version | undefined
    const entry = this.#entries.get(change.key)
    if (!entry) {
      const added = { key: change.key, head: now }
      this.#entries.set(change.key, added)
      this.#live.insert(added)
    } else {
      now.previous = entry.head
      entry.head = now
      if (now.deleted) this.#move(entry, this.#live, this.#graves)
      else if (!before) this.#move(entry, this.#graves, this.#live)
    }
    if (before) this.#parsed.retire(before)
    if (now.deleted) this.#parsed.retire(now)
    this.revision = change.revision
    this.liveBytes += (now.deleted ? 0 : now.bytes.length) - (before?.bytes.length ?? 0)
    this.historyBytes += now.bytes.length
    this.#history.push(change)
  }

  /** Adds a version without history. */
  load(version: Version): void {
    const entry = { key: version.key, head: version }
    this.#entries.set(version.key, entry)
    this.#live.insert(entry)
    this.liveBytes += version.bytes.length
  }

  changesSince(revision: number, prefix?: string): readonly Change[] {
    if (revision < this.compacted) throw new CompactedError(revision, this.compacted)
    const start = this.#firstAfter(revision)
    if (!prefix) return this.#history.slice(start)
    const changes: Change[] = []
    for (let i = start; i < this.#history.length; i++) {
      if (this.#history[i]!.key.startsWith(prefix)) changes.push(this.#history[i]!)
    }
    return changes
  }

  /** Returns the n-th oldest change of history. */
  historyAt(index: number): Change | undefined {
    return this.#history[this.#forgotten + index]
  }

  /** Frees versions and changes that cannot be read after the compaction of the revision. */
  forget(revision: number): void {
    while (this.#forgotten < this.#history.length && this.#history[this.#forgotten]!.revision <= revision) {
      const { key, now } = this.#history[this.#forgotten]!
      this.#forgotten++
      this.historyBytes -= now.bytes.length
      const version = now as Version
      version.previous = undefined
      if (version.past && !version.deleted) continue
      if (this.#entries.get(key)?.head !== version) continue
      version.bytes = ownMemory(version.bytes)
      if (!version.deleted) continue
      this.#entries.delete(key)
      this.#graves.remove(key)
    }
    if (this.#forgotten > 1024 && this.#forgotten * 2 > this.#history.length) {
      this.#history = this.#history.slice(this.#forgotten)
      this.#forgotten = 0
    }
  }

  /** Returns the objects that existed at a revision, in order. History before the revision must be retained. */
  walk(prefix: string, revision: number, after: string | undefined, limit: number): readonly Version[] {
    const items: Version[] = []
    const start = after !== undefined && after >= prefix ? after : prefix
    const end = endOf(prefix)
    for (const entry of merged(this.#live.from(start), this.#graves.from(start))) {
      if (entry.key >= end) break
      if (entry.key === after) continue
      const version = liveAt(entry.head, revision)
      if (!version) continue
      items.push(version)
      if (items.length >= limit) break
    }
    return items
  }

  #listNow(prefix: string, after: string | undefined, limit: number): StoredPage {
    const items: Version[] = []
    // There is no key between a key and the same key followed by a NUL.
    const from = this.#live.position(after !== undefined && after >= prefix ? `${after}\0` : prefix)
    const end = this.#live.position(endOf(prefix))
    const to = Math.min(end, from + limit)
    this.#live.each(from, to, (entry) => items.push(entry.head))
    return { items, revision: this.revision, remaining: Math.max(0, end - to) }
  }

  /** Counts the objects after a key at a revision: those of now, with later changes reverted. */
  #countAt(prefix: string, revision: number, after: string): number {
    let count = this.#live.position(endOf(prefix)) - this.#live.position(`${after}\0`)
    for (let i = this.#firstAfter(revision); i < this.#history.length; i++) {
      const { type, key } = this.#history[i]!
      if (type === 'MODIFIED' || key <= after || !key.startsWith(prefix)) continue
      count += type === 'ADDED' ? -1 : 1
    }
    return count
  }

  #firstAfter(revision: number): number {
    let low = this.#forgotten
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#history[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  #checkReadable(revision: number): void {
    if (revision < this.compacted) throw new CompactedError(revision, this.compacted)
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
  }

  #move(entry: Entry, from: Ordered<Entry>, to: Ordered<Entry>): void {
    from.remove(entry.key)
    to.insert(entry)
  }
}

function liveAt(head: Version | undefined, revision: number): Version | undefined {
  let version = head
  while (version && version.revision > revision) version = version.previous
  return version?.deleted ? undefined : version
}

function endOf(prefix: string): string {
  return `${prefix}\uffff`
}

function* merged(a: Generator<Entry>, b: Generator<Entry>): Generator<Entry> {
  let left = a.next()
  let right = b.next()
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.key < right.value.key)) {
      yield left.value as Entry
      left = a.next()
    } else {
      yield right.value
      right = b.next()
    }
  }
}
