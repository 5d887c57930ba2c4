// A process that writes, reads and watches until it is killed. Arguments: directory, seed, revision to watch from.
import fs from 'node:fs'
import { type Change, openStore, PreconditionError, type Store, type Write } from '@crosstie/apiserver/store'
import type { KubeObject } from '@crosstie/kube'
import { type Event, HISTORY, type Intent, type Seen } from './events.js'
import { seeded } from './random.js'

const [dataDir = '', seedText, sinceText] = process.argv.slice(2)
const random = seeded(Number(seedText))
const below = (limit: number) => Math.floor(random() * limit)
const WRITERS = 12
const KEYS = 20

// A synchronous write, so that every event before the kill is recorded.
const say = (event: Event) => fs.writeSync(1, `${JSON.stringify(event)}\n`)
let attempts = 0

const store = await openStore({
  dataDir,
  snapshotBytes: 300_000,
  history: { changes: HISTORY },
  logSizes: { file: 1 << 20, prepared: 128 << 10 },
  encryption: { encrypt: (key) => key.startsWith('//secrets/') },
})
say({ e: 'open', revision: store.revision })
for (const change of store.changesSince(Number(sinceText))) say({ e: 'saw', change: seen(change) })
store.subscribe((changes) => {
  for (const change of changes) say({ e: 'saw', change: seen(change) })
})
await Promise.all([...Array.from({ length: WRITERS }, () => write(store)), read(store)])

async function write(store: Store): Promise<never> {
  for (;;) {
    const id = Number(seedText) * 100_000 + attempts++
    const size = random() < 0.7 ? 1 : 1 + below(4)
    const writes = Array.from({ length: size }, (_, part) => randomWrite(store, id, part))
    const intents: Intent[] = writes.map(({ key, do: act, expect }) => ({ key, do: act, expect }))
    say({ e: 'begin', id, writes: intents })
    try {
      const changes = await store.write(writes)
      say({ e: 'acknowledged', id, revisions: changes.map(({ revision }) => revision) })
    } catch (error) {
      if (!(error instanceof PreconditionError)) throw error
      say({ e: 'refused', id })
    }
  }
}

function randomWrite(store: Store, id: number, part: number): Write {
  const key = `${random() < 0.3 ? '//secrets/' : '/example.org/widgets/'}default/${below(KEYS)}`
  const tip = store.tip(key)
  const text = 'x'.repeat(random() < 0.1 ? below(10_000) : below(500))
  const object: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: { name: key }, id, part, text }
  if (tip && random() < 0.2) return { do: 'delete', key, expect: tip.revision, object }
  // Some expectations are stale and must be rejected.
  const expected = random() < 0.1 ? store.get(key)?.revision : tip?.revision
  return { do: 'put', key, object, expect: random() < 0.3 ? 'any' : (expected ?? 'absent') }
}

async function read(store: Store): Promise<never> {
  for (;;) {
    const key = `/example.org/widgets/default/${below(KEYS)}`
    const stored = store.get(key)
    say({ e: 'read', key, revision: stored?.revision ?? 0, id: (stored?.object['id'] as number) ?? 0 })
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

function seen({ type, key, revision, now }: Change): Seen {
  return { type, key, revision, id: now.object['id'] as number, part: now.object['part'] as number }
}
