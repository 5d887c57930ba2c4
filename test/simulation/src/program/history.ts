import assert from 'node:assert/strict'
import type { WatchEvent } from './api.js'
import type { Deed, Look, Outcome, Recording } from './recording.js'

/** A change of an object. */
export interface Change {
  readonly type: string
  readonly key: string
  readonly revision: number
  readonly id: string
  readonly uid: string
  /** The object is in the half that the watcher with a selector sees. */
  readonly picked: boolean
}

/**
 * All changes of one kind, as seen by a watcher that resumes after every crash. Checks that every response is
 * consistent with them. The server numbers its writes, so a history is linearizable if each response is true at
 * some revision between the newest one known at the request and the first one begun after the response.
 */
export class History {
  readonly #changes: Change[] = []
  readonly #byKey = new Map<string, Change[]>()
  readonly #ids = new Map<string, Change>()
  checked = 0
  /** The number of writes that took effect without a response. */
  surprises = 0

  constructor(readonly kind: string) {}

  get newest(): number {
    return this.#changes.at(-1)?.revision ?? 0
  }

  get length(): number {
    return this.#changes.length
  }

  /** Adds the next event of the watcher that always resumes. */
  add(event: WatchEvent): Change {
    const change = changeOf(event)
    const { key, revision, type, id } = change
    assert.ok(revision > this.newest, `${this.kind}: ${revision} came after ${this.newest}`)
    const past = this.#byKey.get(key) ?? []
    const there = past.length > 0 && past.at(-1)!.type !== 'DELETED'
    assert.equal(type === 'ADDED', !there, `${this.kind}: ${key} ${type} at ${revision}, though it was ${there}`)
    if (type !== 'DELETED') {
      assert.ok(!this.#ids.has(id), `${this.kind}: ${id} was written twice`)
      this.#ids.set(id, change)
    }
    this.#changes.push(change)
    this.#byKey.set(key, [...past, change])
    return change
  }

  since(revision: number): readonly Change[] {
    return this.#changes.filter((change) => change.revision > revision)
  }

  at(revision: number): Map<string, number> {
    const state = new Map<string, number>()
    for (const change of this.#changes) {
      if (change.revision > revision) break
      if (change.type === 'DELETED') state.delete(change.key)
      else state.set(change.key, change.revision)
    }
    return state
  }

  /** Checks all requests and responses of one run, once the history is complete. */
  check(recording: Recording, since: number): void {
    const begun = bounds(recording.deeds)
    const until = (ended: number) => begun(ended) - 1
    const deeds = recording.deeds.filter(({ kind }) => kind === this.kind)
    const looks = recording.looks.filter(({ kind }) => kind === this.kind)
    for (const deed of deeds) {
      this.checked++
      if (deed.told) this.#checkTold(deed, deed.told.outcome, until(deed.told.ended))
      else this.#checkUntold(deed)
    }
    for (const look of looks) {
      this.checked++
      this.#checkLook(look, until(look.ended))
    }
    this.#checkNobodyElse(deeds, since)
  }

  #checkTold(deed: Deed, outcome: Outcome, until: number): void {
    const { key, id, known } = deed
    const say = `${this.kind}: ${deed.do} ${key} (${id}) was told ${JSON.stringify(outcome)}`
    if (outcome.is === 'done') {
      const change = this.#ids.get(id)
      assert.equal(change?.revision, outcome.revision, `${say} and is not there like that`)
      assert.ok(outcome.revision > known, `${say}, older than what was known (${known})`)
      this.#checkBase(deed, change!)
      return
    }
    assert.ok(!this.#ids.has(id), `${say} and is there`)
    if (outcome.is === 'deleted') {
      const gone = this.#byKey.get(key)?.find(({ type, uid }) => type === 'DELETED' && uid === outcome.uid)
      assert.ok(gone && gone.revision > known && gone.revision <= until, `${say} and was not deleted then`)
    } else if (outcome.is === 'absent') this.#sometime(key, known, until, (revision) => revision === 0, say)
    else if (outcome.is === 'exists') this.#sometime(key, known, until, (revision) => revision > 0, say)
    else if (deed.expect) this.#sometime(key, known, until, (revision) => revision !== deed.expect, say)
  }

  /** Checks that a write was applied to the expected revision. */
  #checkBase({ do: act, key, expect }: Deed, { revision, type }: Change): void {
    const past = this.#byKey.get(key)!
    const before = past[past.findIndex((change) => change.revision === revision) - 1]
    const there = before && before.type !== 'DELETED' ? before.revision : 0
    if (act === 'create') assert.equal(type, 'ADDED')
    if (act === 'update' || act === 'patch') assert.equal(type, 'MODIFIED')
    if (expect) assert.equal(there, expect, `${this.kind}: ${key} at ${revision} was built on something else`)
  }

  #checkUntold(deed: Deed): void {
    const change = this.#ids.get(deed.id)
    if (!change) return
    this.surprises++
    assert.ok(change.revision > deed.known, `${deed.id} is older than what was known when it was asked for`)
    this.#checkBase(deed, change)
  }

  #checkLook({ known, saw, revision, kind }: Look, until: number): void {
    if (saw instanceof Map) {
      assert.ok(revision! >= known, `a list of ${kind} at ${revision} is older than what was known (${known})`)
      assert.deepEqual(
        sorted(saw),
        sorted(this.at(revision!)),
        `a list of ${kind} is not what was there at ${revision}`,
      )
      return
    }
    const { key, revision: seen } = saw as { key: string; revision: number }
    const say = `${kind}: ${key} was read at ${seen} after ${known}`
    this.#sometime(key, known, until, (at) => at === seen, say)
  }

  /** Checks that every change was requested, and that no delete happened twice. */
  #checkNobodyElse(deeds: readonly Deed[], since: number): void {
    const asked = new Set(deeds.map(({ id }) => id))
    const deletes = new Map<string, number>()
    for (const { do: act, key, told } of deeds) {
      if (act === 'delete' && (!told || told.outcome.is === 'deleted')) deletes.set(key, (deletes.get(key) ?? 0) + 1)
    }
    for (const { type, id, key } of this.since(since)) {
      if (type !== 'DELETED') assert.ok(asked.has(id), `${this.kind}: nobody asked for ${id}`)
      else {
        const left = (deletes.get(key) ?? 0) - 1
        assert.ok(left >= 0, `${this.kind}: nobody asked for ${key} to be deleted`)
        deletes.set(key, left)
      }
    }
  }

  /** Reports whether the test holds for the key at some revision of the range. Revision 0 means absent. */
  #sometime(key: string, from: number, until: number, test: (revision: number) => boolean, say: string): void {
    let state = 0
    let holds = false
    for (const { type, revision } of this.#byKey.get(key) ?? []) {
      if (revision > until) break
      if (revision > from && test(state)) holds = true
      state = type === 'DELETED' ? 0 : revision
    }
    assert.ok(holds || test(state), `${say}, which it was not at any time`)
  }
}

/** Converts a watch event to a change. */
export function changeOf({ type, object }: WatchEvent): Change {
  const { name = '', uid = '', resourceVersion, annotations, labels } = object.metadata
  const id = annotations?.['id'] ?? ''
  return { type, key: name, revision: Number(resourceVersion), id, uid, picked: labels?.['half'] === 'a' }
}

/** Returns a function from a moment to the lowest revision of the writes that began after it. */
function bounds(deeds: readonly Deed[]): (moment: number) => number {
  const done = deeds.flatMap(({ begun, told }) =>
    told?.outcome.is === 'done' ? [{ begun, revision: told.outcome.revision }] : [],
  )
  done.sort((a, b) => b.begun - a.begun)
  const lowest: { begun: number; revision: number }[] = []
  let least = Number.POSITIVE_INFINITY
  for (const { begun, revision } of done) {
    least = Math.min(least, revision)
    lowest.push({ begun, revision: least })
  }
  return (moment) => {
    let low = 0
    let high = lowest.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (lowest[middle]!.begun > moment) low = middle + 1
      else high = middle
    }
    return low === 0 ? Number.POSITIVE_INFINITY : lowest[low - 1]!.revision
  }
}

function sorted(state: ReadonlyMap<string, number>): [string, number][] {
  return [...state].sort(([a], [b]) => (a < b ? -1 : 1))
}
