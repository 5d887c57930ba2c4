import assert from 'node:assert/strict'
import type { KubeObject } from '@crosstie/kube'
import { openStore } from './durable.js'
import { stateOf } from './scenario.js'
import { SimulatedDisk, seeded } from './simulated-disk.js'
import { type Change, CompactedError, PreconditionError, type Store, type Write } from './store.js'

/** One call of `write` that the store accepted. */
interface Attempt {
  readonly changes: { readonly key: string; readonly text: string; readonly deleted: boolean }[]
  /** Set when the write is acknowledged. */
  revisions: readonly number[]
  outcome: 'open' | 'acknowledged' | 'refused'
}

interface Recorded {
  readonly type: Change['type']
  readonly key: string
  readonly revision: number
  readonly json: string
  readonly text: string
  readonly time: number
}

/** Options of a simulation. */
export interface SimulationOptions {
  readonly seed: number
  /** The number of power losses on one disk. */
  readonly crashes: number
  readonly keyFile: string
}

const DIRECTORY = '/data'
const history = { age: 20_000, changes: 200, bytes: 200_000 }
/** A part of every secret. It must never appear on disk. */
export const SECRET = 'do-not-write-me-down'

/**
 * Writers, compactions and snapshots on a disk that fails and loses power repeatedly. After every loss the store
 * must hold all acknowledged writes, no partial write and a history without gaps.
 */
export class Simulation {
  readonly #random: () => number
  readonly #options: SimulationOptions
  #disk: SimulatedDisk
  #time = 1_700_000_000_000
  /** All changes that were acknowledged or found after a crash, in order. */
  #history: Recorded[] = []
  #attempts: Attempt[] = []
  #compactWanted = 0
  #written = 0
  acknowledged = 0
  refused = 0
  recovered = 0

  constructor(options: SimulationOptions) {
    this.#options = options
    this.#random = seeded(options.seed)
    this.#disk = new SimulatedDisk(this.#random)
  }

  async run(): Promise<void> {
    let compacted = 0
    for (let crash = 0; crash < this.#options.crashes; crash++) {
      compacted = await this.#life(compacted)
      this.#checkNoSecretOnDisk()
      this.#disk = this.#disk.afterPowerLoss()
    }
    const store = await this.#open()
    this.#checkRecovered(store, compacted)
    await store.close()
    // After a clean stop the store opens in the same state.
    const again = await this.#open()
    this.#checkRecovered(again, store.compacted)
    await again.close()
  }

  /** Runs from opening to a power loss. Returns the compacted revision at the end. */
  async #life(compactedBefore: number): Promise<number> {
    // Some power losses happen while the store opens.
    this.#disk.operationsLeft = this.#chance(0.15) ? this.#below(40) : 200 + this.#below(500)
    const opened = await Promise.race([this.#open(), this.#disk.lost])
    if (!opened) return compactedBefore
    this.#checkRecovered(opened, compactedBefore)
    this.#attempts = []
    const stop = opened.subscribe((changes) => this.#hear(changes))
    const workers = Array.from({ length: 1 + this.#below(6) }, () => this.#work(opened))
    await Promise.race([Promise.all(workers), this.#disk.lost])
    this.#disk.losePower()
    stop()
    this.#checkVisible(opened)
    // Never resolves, since the disk does not answer, but stops the timer of the store.
    void opened.close()
    return opened.compacted
  }

  #open(): Promise<Store> {
    return openStore({
      dataDir: DIRECTORY,
      files: this.#disk,
      clock: { now: () => this.#time },
      history,
      snapshotBytes: 30_000,
      logSizes: { file: 80_000, prepared: this.#options.seed % 2 === 0 ? 16_384 : 0 },
      encryption: { encrypt: (key) => key.startsWith('//secrets/'), keyFile: this.#options.keyFile },
    })
  }

  async #work(store: Store): Promise<void> {
    for (let i = 0; i < 60; i++) {
      this.#time += this.#below(400)
      this.#weather()
      if (this.#chance(0.03)) await this.#compact(store)
      else await this.#write(store)
      if (this.#chance(0.05)) this.#checkPast(store)
    }
  }

  /** The disk works most of the time. Bad periods come and go. */
  #weather(): void {
    const full = this.#disk.free < Infinity
    if (!this.#chance(full ? 0.8 : 0.01)) this.#disk.free = Infinity
    else if (!full) this.#disk.free = this.#below(3) * this.#below(20_000)
    const bad = this.#chance(this.#disk.faults.failedSync > 0 ? 0.8 : 0.01)
    this.#disk.faults = { shortWrite: 0.1, failedWrite: bad ? 0.1 : 0, failedSync: bad ? 0.2 : 0 }
  }

  async #compact(store: Store): Promise<void> {
    const revision = Math.max(1, store.revision - this.#below(100))
    this.#compactWanted = Math.max(this.#compactWanted, revision)
    await store.compact(revision).catch(() => {})
  }

  async #write(store: Store): Promise<void> {
    const writes = Array.from({ length: this.#chance(0.8) ? 1 : 1 + this.#below(5) }, () => this.#randomWrite(store))
    const attempt: Attempt = { changes: [], revisions: [], outcome: 'open' }
    for (const write of writes) {
      attempt.changes.push({ key: write.key, text: textOf(write.object), deleted: write.do === 'delete' })
    }
    this.#attempts.push(attempt)
    try {
      const changes = await store.write(writes)
      attempt.outcome = 'acknowledged'
      attempt.revisions = changes.map(({ revision }) => revision)
      this.acknowledged++
      for (const { revision } of changes) assert.ok(store.revision >= revision, 'acknowledged before it was visible')
    } catch (error) {
      attempt.outcome = 'refused'
      if (error instanceof PreconditionError) this.#attempts.splice(this.#attempts.indexOf(attempt), 1)
      else if ((error as Error).name === 'StoreWriteError') this.refused++
      else throw error
    }
  }

  #randomWrite(store: Store): Write & { object: KubeObject } {
    const key = `${this.#chance(0.3) ? '//secrets/' : '/t/things/'}ns/${this.#below(12)}`
    const tip = store.tip(key)
    const text = `${this.#written++} ${'x'.repeat(this.#chance(0.1) ? this.#below(20_000) : this.#below(600))}`
    const secret = key.startsWith('//secrets/') ? SECRET : undefined
    const object: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, text, secret }
    if (tip && this.#chance(0.25)) return { do: 'delete', key, expect: tip.revision, object }
    const expect = this.#chance(0.5) ? 'any' : (tip?.revision ?? 'absent')
    return { do: 'put', key, object, expect }
  }

  #hear(changes: readonly Change[]): void {
    for (const change of changes) this.#history.push({ ...recordOf(change), time: this.#time })
  }

  /** Readers of the running store see exactly the acknowledged writes. */
  #checkVisible(store: Store): void {
    assert.deepEqual(stateOf(store), this.#stateAt(Infinity), 'readers see the acknowledged state')
    const reported = new Set(this.#history.map(({ text }) => text))
    for (const { outcome, changes } of this.#attempts) {
      if (outcome === 'refused') assert.ok(!changes.some(({ text }) => reported.has(text)), 'refused, but visible')
    }
  }

  #checkPast(store: Store): void {
    const revision = store.compacted + this.#below(store.revision - store.compacted + 1)
    try {
      const items = store.list('', { revision }).items.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])
      assert.deepEqual(items, this.#stateAt(revision), `the state at ${revision}`)
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error
    }
  }

  /** After a crash the store holds all acknowledged writes and possibly the pending batch as a whole. */
  #checkRecovered(store: Store, compactedBefore: number): void {
    const newest = this.#history.at(-1)?.revision ?? 1
    assert.ok(store.revision >= newest, `revision ${store.revision} is before ${newest}, which was acknowledged`)
    const found = store.changesSince(newest).map((change) => ({ ...recordOf(change), time: this.#time }))
    this.#checkWhole(found)
    this.recovered += found.length
    this.#history.push(...found)
    assert.ok(
      store.compacted <= Math.max(compactedBefore, this.#compactWanted, this.#beyondLimits()),
      `history started at ${compactedBefore} and now starts at ${store.compacted}`,
    )
    const expected = this.#history.filter(({ revision }) => revision > store.compacted).map(timeless)
    assert.deepEqual(store.changesSince(store.compacted).map(recordOf), expected, 'history has no gap')
    assert.deepEqual(stateOf(store), this.#stateAt(Infinity), 'everything acknowledged is there')
    this.#checkPast(store)
  }

  /** Unacknowledged changes that were found must be complete writes. */
  #checkWhole(found: readonly Recorded[]): void {
    const unsure = this.#attempts.filter(({ outcome }) => outcome !== 'acknowledged')
    let at = 0
    while (at < found.length) {
      const attempt = unsure.find(({ changes }) => changes[0]!.text === found[at]!.text)
      assert.ok(attempt, `revision ${found[at]!.revision} was never written`)
      for (const { key, text, deleted } of attempt.changes) {
        const change = found[at++]
        assert.ok(change, 'a partial write was found')
        assert.equal(change.key, key)
        assert.equal(change.type === 'DELETED', deleted)
        assert.equal(change.text, text)
      }
    }
  }

  /** The revision up to which the limits permit compaction. */
  #beyondLimits(): number {
    let bytes = 0
    let count = 0
    for (const { revision, time, json } of this.#history.toReversed()) {
      bytes += json.length
      // Times have a resolution of seconds and are taken when a batch starts.
      if (++count > history.changes || bytes > history.bytes || time < this.#time - history.age + 2000) return revision
    }
    return 0
  }

  #checkNoSecretOnDisk(): void {
    for (const [path, content] of this.#disk.contents()) {
      assert.ok(!content.includes(SECRET), `${path} holds a secret in plain text`)
    }
  }

  #stateAt(revision: number): [string, string][] {
    const state = new Map<string, string>()
    for (const change of this.#history) {
      if (change.revision > revision) break
      if (change.type === 'DELETED') state.delete(change.key)
      else state.set(change.key, change.json)
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

function recordOf({ type, key, revision, now }: Change): Omit<Recorded, 'time'> {
  return { type, key, revision, json: Buffer.from(now.bytes).toString(), text: textOf(now.object) }
}

function timeless({ time: _, ...reported }: Recorded): Omit<Recorded, 'time'> {
  return reported
}

function textOf(object: KubeObject): string {
  return object['text'] as string
}
