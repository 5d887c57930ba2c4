import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openStore } from '@crosstie/apiserver/store'
import { type Event, HISTORY, type Seen } from './events.js'
import { History } from './history.js'
import { seeded } from './random.js'

/*
 * Many writers, a reader and a watcher in a process that is killed at random moments.
 *   CROSSTIE_SEED=7 CROSSTIE_ROUNDS=1000 npm test -- simulation/dist/kill
 */
const seed = Number(process.env['CROSSTIE_SEED'] ?? Date.now() % 10_000)
const wanted = Number(process.env['CROSSTIE_ROUNDS'] ?? 100)
/** On a slow machine fewer rounds are run, unless CROSSTIE_ROUNDS is set. */
const BUDGET_MS = process.env['CROSSTIE_ROUNDS'] ? Infinity : 50_000

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-kill-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
const dataDir = join(home, 'data')
const victim = fileURLToPath(new URL('./victim.js', import.meta.url))

test(`kill -9, ${wanted} rounds, seed ${seed}: nothing acknowledged is lost, watchers miss nothing`, async (t) => {
  const random = seeded(seed)
  const history = new History()
  const deadline = Date.now() + BUDGET_MS
  let round = 0
  for (; round < wanted && Date.now() < deadline; round++) {
    const events = await life(seed * 1000 + round, history.watchedUntil, random)
    const encryption = { encrypt: (key: string) => key.startsWith('//secrets/') }
    const store = await openStore({ dataDir, encryption, history: { changes: HISTORY } })
    const found = store.changesSince(history.newest).map(
      ({ type, key, revision, now }): Seen => ({
        type,
        key,
        revision,
        id: now.object['id'] as number,
        part: now.object['part'] as number,
      }),
    )
    history.life(events, found)
    const live = new Set(store.list('').items.map(({ key, revision }) => `${key}@${revision}`))
    assert.deepEqual(live, history.live(), 'readers see what the history says')
    await store.close()
  }
  assert.ok(history.acknowledged > 0, 'the processes lived long enough to write')
  const { acknowledged, unacknowledged, reads } = history
  t.diagnostic(`${round} kills, ${acknowledged} acknowledged, ${unacknowledged} found unacknowledged, ${reads} reads`)
})

/** Starts the process, kills it after a random time, and returns its events. */
async function life(seed: number, since: number, random: () => number): Promise<Event[]> {
  // A file, so that the output before the kill can be read after it.
  const path = join(home, 'said')
  const file = fs.openSync(path, 'w')
  const args = [victim, dataDir, String(seed), String(since)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', file, 'inherit'] })
  const exit = once(child, 'exit')
  // Some kills happen while it opens the store, most while it is busy.
  if (random() > 0.1) while (fs.fstatSync(file).size === 0 && child.exitCode === null) await pause(5)
  await pause(random() * 120)
  child.kill('SIGKILL')
  const [code, signal] = (await exit) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `the process ended by itself with ${code}`)
  fs.closeSync(file)
  // The last line may be incomplete and is ignored.
  const lines = fs.readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Event)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
