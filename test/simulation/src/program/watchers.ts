import assert from 'node:assert/strict'
import type { Api, WatchEvent } from './api.js'
import type { Kind } from './clients.js'
import { type Change, changeOf, type History } from './history.js'
import type { Recording } from './recording.js'

const isOurs = ({ object }: WatchEvent) => object.metadata.labels?.['crash'] === 'test'

function notGone({ type, object }: WatchEvent): void {
  assert.notEqual(type, 'ERROR', `a watcher was sent away: ${JSON.stringify(object)}`)
}

/** Runs the watcher that records the history. It resumes after every crash of the server. */
export function follow(api: Api, kind: Kind, history: History, recording: () => Recording, from: number) {
  return api.watch(`${kind.path}?watch=true&resourceVersion=${history.newest || from}`, (event) => {
    notGone(event)
    if (isOurs(event)) recording().heard(history.add(event).revision)
  })
}

/** A watcher of half of the objects, by label. Objects enter and leave its selection. It resumes after a crash. */
export class HalfWatcher {
  readonly #seen: Change[] = []

  constructor(readonly kind: Kind) {}

  follow(api: Api, from: number) {
    const start = this.#seen.at(-1)?.revision ?? from
    const path = `${this.kind.path}?watch=true&labelSelector=half%3Da&resourceVersion=${start}`
    return api.watch(path, (event) => {
      notGone(event)
      this.#seen.push(changeOf(event))
    })
  }

  check(history: History): void {
    const wanted: string[] = []
    const picked = new Set<string>()
    for (const { type, key, revision, picked: isPicked } of history.since(0)) {
      const is = type !== 'DELETED' && isPicked
      if (is) wanted.push(`${picked.has(key) ? 'MODIFIED' : 'ADDED'} ${key} ${revision}`)
      else if (picked.has(key)) wanted.push(`DELETED ${key} ${revision}`)
      if (is) picked.add(key)
      else picked.delete(key)
    }
    const seen = this.#seen.map(({ type, key, revision }) => `${type} ${key} ${revision}`)
    assert.deepEqual(seen, wanted.slice(0, seen.length), `${this.kind.name}: what a watcher with a selector saw`)
  }
}

/** A watcher that starts with a new list in each run. */
export class FreshWatcher {
  readonly #initial = new Map<string, number>()
  readonly #seen: Change[] = []
  #start: number | undefined

  constructor(readonly kind: Kind) {}

  follow(api: Api) {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    return api.watch(`${this.kind.path}?${query}`, (event) => {
      notGone(event)
      if (event.type === 'BOOKMARK') this.#start ??= Number(event.object.metadata.resourceVersion)
      else if (!isOurs(event)) return
      else if (this.#start !== undefined) this.#seen.push(changeOf(event))
      else {
        assert.equal(event.type, 'ADDED')
        this.#initial.set(event.object.metadata.name!, Number(event.object.metadata.resourceVersion))
      }
    })
  }

  check(history: History): void {
    if (this.#start === undefined) return
    assert.deepEqual(this.#initial, history.at(this.#start), `${this.kind.name}: what a watcher began with`)
    const wanted = history.since(this.#start).slice(0, this.#seen.length)
    assert.deepEqual(this.#seen, wanted, `${this.kind.name}: what a watcher that began with everything saw then`)
  }
}
