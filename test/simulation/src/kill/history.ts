import assert from 'node:assert/strict'
import type { Event, Intent, Seen } from './events.js'

interface Attempt {
  readonly writes: readonly Intent[]
  readonly begunAfter: number
  acknowledged: readonly number[] | undefined
  refused: boolean
}

/**
 * All durable changes in order. Checks that every reported event is consistent with a linearizable history of every
 * key.
 */
export class History {
  readonly #changes: Seen[] = []
  readonly #byRevision = new Map<number, Seen>()
  readonly #watched: Seen[] = []
  acknowledged = 0
  unacknowledged = 0
  reads = 0

  /** The last revision that the watcher saw. */
  get watchedUntil(): number {
    return this.#watched.at(-1)?.revision ?? 1
  }

  get newest(): number {
    return this.#changes.at(-1)?.revision ?? 1
  }

  /** Returns the existing keys at the end as `key@revision`. */
  live(): Set<string> {
    const newest = new Map<string, string>()
    for (const { type, key, revision } of this.#changes) {
      if (type === 'DELETED') newest.delete(key)
      else newest.set(key, `${key}@${revision}`)
    }
    return new Set(newest.values())
  }

  /** Adds one run of the process: its reported events, and the changes found on disk after it. */
  life(events: readonly Event[], found: readonly Seen[]): void {
    const attempts = this.#attempts(events)
    for (const change of found) {
      assert.ok(change.revision > this.newest, 'revisions only grow')
      this.#changes.push(change)
      this.#byRevision.set(change.revision, change)
    }
    this.#checkWatcher(events)
    this.#checkReads(events)
    this.#checkAttempts(attempts, found)
    this.#checkExpectations(attempts, found)
  }

  /** Checks that a watcher which resumes after every kill has seen every change once, in order. */
  #checkWatcher(events: readonly Event[]): void {
    for (const event of events) {
      if (event.e !== 'saw') continue
      assert.deepEqual(event.change, this.#changes[this.#watched.length], 'the watcher missed or mistook a change')
      this.#watched.push(event.change)
    }
  }

  /** Checks that a reader sees only durable data, and all writes that were acknowledged before the read. */
  #checkReads(events: readonly Event[]): void {
    const acknowledged = new Map<string, number>()
    const begun = new Map<number, readonly Intent[]>()
    for (const event of events) {
      if (event.e === 'begin') begun.set(event.id, event.writes)
      if (event.e === 'acknowledged') {
        event.revisions.forEach((revision, i) => {
          const { key } = begun.get(event.id)![i]!
          acknowledged.set(key, Math.max(revision, acknowledged.get(key) ?? 0))
        })
      }
      if (event.e !== 'read') continue
      this.reads++
      const floor = acknowledged.get(event.key) ?? 0
      if (event.revision === 0) {
        if (floor > 0) assert.ok(this.#deletedSince(event.key, floor), `${event.key} was read as absent after ${floor}`)
        continue
      }
      assert.ok(event.revision >= floor, `${event.key} was read at ${event.revision} after ${floor} was acknowledged`)
      assert.equal(this.#byRevision.get(event.revision)?.id, event.id, 'somebody read what is not on disk')
    }
  }

  #checkAttempts(attempts: ReadonlyMap<number, Attempt>, found: readonly Seen[]): void {
    const parts = new Map<number, Seen[]>()
    for (const change of found) parts.set(change.id, [...(parts.get(change.id) ?? []), change])
    for (const [id, attempt] of attempts) {
      const there = parts.get(id) ?? []
      if (attempt.acknowledged) {
        this.acknowledged++
        const revisions = there.map(({ revision }) => revision)
        assert.deepEqual(revisions, attempt.acknowledged, `attempt ${id} was acknowledged, and is not as it was told`)
      } else if (attempt.refused) {
        assert.equal(there.length, 0, `attempt ${id} was refused, and is there`)
      } else if (there.length > 0) {
        this.unacknowledged++
        assert.equal(there.length, attempt.writes.length, `attempt ${id} is there by half`)
      }
      // A write that begins after an acknowledged one has a higher revision.
      for (const { revision } of there) assert.ok(revision > attempt.begunAfter, 'the order of time was not kept')
      parts.delete(id)
    }
    assert.deepEqual([...parts.keys()], [], 'changes that nobody asked for')
  }

  /** Replays every key: each successful write expected exactly the stored revision. */
  #checkExpectations(attempts: ReadonlyMap<number, Attempt>, found: readonly Seen[]): void {
    const newest = new Map<string, number>()
    for (const { key, revision, type } of this.#changes.slice(0, this.#changes.length - found.length)) {
      newest.set(key, type === 'DELETED' ? 0 : revision)
    }
    for (const { key, revision, type, id, part } of found) {
      const before = newest.get(key) ?? 0
      const { expect } = attempts.get(id)!.writes[part]!
      if (expect === 'absent') assert.equal(before, 0, `${key} was created at ${revision} though it was there`)
      if (typeof expect === 'number') assert.equal(before, expect, `${key} at ${revision} was built on something else`)
      assert.equal(type, type === 'DELETED' ? 'DELETED' : before === 0 ? 'ADDED' : 'MODIFIED')
      newest.set(key, type === 'DELETED' ? 0 : revision)
    }
  }

  #attempts(events: readonly Event[]): Map<number, Attempt> {
    const attempts = new Map<number, Attempt>()
    let acknowledged = this.newest
    for (const event of events) {
      if (event.e === 'begin') {
        const { id, writes } = event
        attempts.set(id, { writes, begunAfter: acknowledged, acknowledged: undefined, refused: false })
      } else if (event.e === 'acknowledged') {
        attempts.get(event.id)!.acknowledged = event.revisions
        acknowledged = Math.max(acknowledged, ...event.revisions)
      } else if (event.e === 'refused') attempts.get(event.id)!.refused = true
    }
    return attempts
  }

  #deletedSince(key: string, revision: number): boolean {
    return this.#changes.some((c) => c.key === key && c.revision >= revision && c.type === 'DELETED')
  }
}
