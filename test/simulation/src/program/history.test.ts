import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchEvent } from './api.js'
import { History } from './history.js'
import { type Deed, type Look, type Outcome, Recording } from './recording.js'

// Tests the checker itself with the histories of incorrect servers.

function event(type: WatchEvent['type'], name: string, revision: number, id: string): WatchEvent {
  const metadata = { name, uid: `${name}-uid`, resourceVersion: String(revision), annotations: { id } }
  return { type, object: { apiVersion: 'v1', kind: 'Thing', metadata } }
}

const told = (ended: number, outcome: Outcome) => ({ ended, outcome })
const deed = (wish: Partial<Deed>): Deed => ({
  do: 'create',
  kind: 'things',
  key: 'a',
  id: 'w1',
  known: 0,
  begun: 0,
  ...wish,
})
const look = (wish: Partial<Look>): Look => ({
  kind: 'things',
  known: 0,
  ended: 9,
  saw: { key: 'a', revision: 0 },
  ...wish,
})

interface Case {
  readonly because: string
  readonly events?: readonly WatchEvent[]
  readonly deeds?: readonly Deed[]
  readonly looks?: readonly Look[]
  readonly want?: RegExp
}

const made = event('ADDED', 'a', 5, 'w1')
const done = deed({ told: told(1, { is: 'done', revision: 5 }) })

const cases: Record<string, Case> = {
  AsTold: { because: 'nothing is wrong', events: [made], deeds: [done] },
  Lost: { because: 'an acknowledged write is gone', deeds: [done], want: /is not there/ },
  OtherRevision: {
    because: 'it has another revision',
    events: [event('ADDED', 'a', 6, 'w1')],
    deeds: [done],
    want: /is not there/,
  },
  NobodyAsked: { because: 'nobody wrote it', events: [made], want: /nobody asked/ },
  RefusedButThere: {
    because: 'it was refused',
    events: [made],
    deeds: [deed({ told: told(1, { is: 'exists' }) })],
    want: /and is there/,
  },
  ExistsWithoutReason: {
    because: 'it never existed',
    deeds: [deed({ told: told(1, { is: 'exists' }) })],
    want: /not at any time/,
  },
  StaleRead: {
    because: 'revision 7 was known',
    events: [made, event('MODIFIED', 'a', 7, 'w2')],
    deeds: [done, deed({ do: 'patch', id: 'w2', known: 5, begun: 2, told: told(3, { is: 'done', revision: 7 }) })],
    looks: [look({ known: 7, saw: { key: 'a', revision: 5 } })],
    want: /not at any time/,
  },
  ReadOfTheFuture: {
    because: 'the write began after the read ended',
    events: [made],
    deeds: [deed({ begun: 10, told: told(11, { is: 'done', revision: 5 }) })],
    looks: [look({ ended: 9, saw: { key: 'a', revision: 5 } })],
    want: /not at any time/,
  },
  OldList: {
    because: 'a list must not be older than what is known',
    events: [made],
    deeds: [done],
    looks: [look({ known: 5, revision: 4, saw: new Map() })],
    want: /older than what was known/,
  },
  TornList: {
    because: 'the object was there at 5',
    events: [made],
    deeds: [done],
    looks: [look({ revision: 5, saw: new Map() })],
    want: /not what was there/,
  },
  LostUpdate: {
    because: 'it built on 3',
    events: [made, event('MODIFIED', 'a', 7, 'w2')],
    deeds: [
      done,
      deed({ do: 'update', id: 'w2', expect: 3, known: 5, begun: 2, told: told(3, { is: 'done', revision: 7 }) }),
    ],
    want: /built on something else/,
  },
  NotDeleted: {
    because: 'it was never deleted',
    events: [made],
    deeds: [done, deed({ do: 'delete', id: 'w2', begun: 2, told: told(3, { is: 'deleted', uid: 'a-uid' }) })],
    want: /was not deleted then/,
  },
  Reordered: { because: 'revisions only grow', events: [made, event('ADDED', 'b', 4, 'w2')], want: /came after/ },
  Twice: { because: 'it was there already', events: [made, event('ADDED', 'a', 6, 'w2')], want: /though it was/ },
}

for (const [name, { because, events = [], deeds = [], looks = [], want }] of Object.entries(cases)) {
  test(`the checker: ${name}`, () => {
    const check = () => {
      const history = new History('things')
      for (const one of events) history.add(one)
      const recording = new Recording(0)
      recording.deeds.push(...deeds)
      recording.looks.push(...looks)
      history.check(recording, 0)
    }
    if (want) assert.throws(check, want, because)
    else check()
  })
}
