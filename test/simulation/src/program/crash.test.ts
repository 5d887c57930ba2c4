import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { seeded } from '../kill/random.js'
import type { Api } from './api.js'
import { disturb, fence, kinds, registerCrd } from './clients.js'
import { Garden } from './garden.js'
import { History } from './history.js'
import { Program, pause } from './program.js'
import { Recording } from './recording.js'
import { FreshWatcher, follow, HalfWatcher } from './watchers.js'

/*
 * The whole program under many clients, killed at random moments and started again on the same data.
 *   CROSSTIE_SEED=7 CROSSTIE_ROUNDS=100 npm test -- simulation/dist/program/crash
 */
const seed = Number(process.env['CROSSTIE_SEED'] ?? Date.now() % 10_000)
const wanted = Number(process.env['CROSSTIE_ROUNDS'] ?? 100)
/** On a slow machine fewer rounds are run, unless CROSSTIE_ROUNDS is set. */
const BUDGET_MS = process.env['CROSSTIE_ROUNDS'] ? Number.POSITIVE_INFINITY : 60_000
const WRITERS_PER_KIND = 5
const LIFE_MS = 1_000
const STREAMS_END_MS = 20_000
const CLEAN_UP_MS = 180_000

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-crash-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))

test(`crosstie up killed ${wanted} times, seed ${seed}: nothing acknowledged is lost, histories are linearizable`, async (t) => {
  const random = seeded(seed)
  const simulation = new Simulation(random)
  const deadline = Date.now() + BUDGET_MS
  let round = 0
  for (; round < wanted && Date.now() < deadline; round++) await simulation.life(round)
  const summary = await simulation.finish()
  t.diagnostic(`${round} kills, ${summary}`)
})

class Simulation {
  readonly #dataDir = join(home, 'data')
  readonly #histories = new Map(kinds.map((kind) => [kind, new History(kind.name)]))
  readonly #halves = kinds.map((kind) => new HalfWatcher(kind))
  readonly #garden = new Garden()
  #fresh: readonly FreshWatcher[] = []
  #recording = new Recording(0)
  /** The first revision of the histories. */
  #begin = 0
  #checkedUntil = new Map(kinds.map((kind) => [kind, 0]))
  #ids = 0

  constructor(readonly random: () => number) {}

  async life(round: number): Promise<void> {
    const { random } = this
    const program = new Program(this.#dataDir)
    if (round > 0 && random() < 0.1) {
      // Some kills happen while it opens the store, most while it is busy.
      await pause(random() * 500)
      await program.kill()
      return
    }
    const api = await program.ready()
    if (round === 0) await this.#prepare(api)
    const following = await this.#catchUp(api)
    const busy = this.#busy(api)
    await pause(random() * LIFE_MS)
    await program.kill()
    // In rare cases Node does not end a stream of a closed connection.
    const patience = setTimeout(() => api.close(), STREAMS_END_MS)
    await Promise.all([...busy, ...following.map(({ ended }) => ended)])
    clearTimeout(patience)
    api.close()
  }

  /** After the last crash: checks that the state matches all responses, and that started deletions finish. */
  async finish(): Promise<string> {
    const program = new Program(this.#dataDir)
    const api = await program.ready()
    await this.#catchUp(api)
    await this.#garden.tend(api)
    const deadline = Date.now() + CLEAN_UP_MS
    for (let left = await this.#garden.complaints(api); left.length > 0; left = await this.#garden.complaints(api)) {
      assert.ok(Date.now() < deadline, `after the crashes: ${left.slice(0, 20).join('; ')}\n${program.errors}`)
      await pause(200)
    }
    api.close()
    await program.stop()
    const all = [...this.#histories.values()]
    const sum = (count: (history: History) => number) => all.reduce((total, one) => total + count(one), 0)
    const { size } = this.#garden
    return `${sum(({ length }) => length)} changes, ${sum(({ checked }) => checked)} answers checked, ${sum(({ surprises }) => surprises)} writes found that nobody was told of, ${size} deletions finished`
  }

  async #prepare(api: Api): Promise<void> {
    const { status, body } = await api.send(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      registerCrd,
    )
    assert.equal(status, 201)
    this.#begin = Number(body.metadata.resourceVersion)
    while ((await api.send('GET', kinds[2]!.path)).status !== 200) await pause(5)
  }

  /** Resumes the watchers. When they have seen everything, checks all responses of the last run against the history. */
  async #catchUp(api: Api) {
    const following = kinds.map((kind) =>
      follow(api, kind, this.#histories.get(kind)!, () => this.#recording, this.#begin),
    )
    for (const kind of kinds) {
      const revision = await fence(api, kind, this.#recording, this.#nextId())
      const history = this.#histories.get(kind)!
      for (let i = 0; history.newest < revision; i++) {
        assert.ok(i < 60_000, `a watcher of ${kind.name} never saw ${revision}; it is at ${history.newest}`)
        await pause(2)
      }
    }
    for (const [kind, history] of this.#histories) {
      history.check(this.#recording, this.#checkedUntil.get(kind)!)
      this.#checkedUntil.set(kind, history.newest)
    }
    for (const watcher of [...this.#fresh, ...this.#halves]) watcher.check(this.#histories.get(watcher.kind)!)
    this.#recording = new Recording(this.#recording.known)
    return following
  }

  #busy(api: Api): Promise<void>[] {
    this.#fresh = kinds.map((kind) => new FreshWatcher(kind))
    return [
      ...this.#fresh.map((watcher) => watcher.follow(api).ended),
      ...this.#halves.map((watcher) => watcher.follow(api, this.#begin).ended),
      ...kinds.flatMap((kind) =>
        Array.from({ length: WRITERS_PER_KIND }, () =>
          disturb(api, kind, this.#recording, this.random, () => this.#nextId()),
        ),
      ),
      this.#garden.work(api, this.random),
    ]
  }

  #nextId(): string {
    return `w${this.#ids++}`
  }
}
