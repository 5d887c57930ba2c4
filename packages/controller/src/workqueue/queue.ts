import type { Clock } from '@crosstie/kube'
import { type BackoffOptions, backoffMs } from './backoff.js'
import { Fifo } from './fifo.js'
import { TimeHeap } from './heap.js'

/**
 * When to look at an object again. `backoff` grows with every repetition; `poll` is a settled object's pace; `turn`
 * is for one that nothing could be done about yet, and is neither well nor failing for that. A `backoff` with
 * `progress` is for a step that went well and is not the last one: how often others failed before does not count.
 */
export type Next =
  | { readonly after: 'never' }
  | { readonly after: 'backoff'; readonly progress?: true }
  | { readonly after: 'poll'; readonly seconds: number }
  | { readonly after: 'turn'; readonly seconds: number }

/** Fresh and failing objects are urgent; looking again at what was well is routine. */
export type Priority = 'urgent' | 'routine'

export interface QueueOptions {
  readonly clock: Clock
  readonly backoff: BackoffOptions
  /** Called, perhaps often, when something became ready to be worked on. */
  readonly wake: () => void
}

/** Of this many in a row the last is a routine one if any waits: polls are late under load, but never forgotten. */
const ROUTINE_SHARE = 8

/** Polls that are due at about the same time are done together: waking up costs more than looking. */
const POLL_STEP_MS = 250
/** Of slow polls, more: nobody minds whether a minute is a second longer. */
const SLOW_POLL_SECONDS = 30
const SLOW_POLL_STEP_MS = 1_000

/** setTimeout takes no longer delays. */
const TIMER_MAX_MS = 2_000_000_000

type State = 'idle' | 'waiting' | 'ready' | 'running'

/** One object's place in the queue. There is one for each key, so the queue is never longer than there are objects. */
export interface Task {
  readonly lane: string
  readonly key: string
}

interface Entry extends Task {
  state: State
  priority: Priority
  failures: number
  /** How often in a row it went on without being done. Counted apart: else what was mended would wait for old failures. */
  steps: number
  /** Something happened while it was being worked on. */
  again: boolean
  due: number
  place: number
}

interface Lane {
  readonly name: string
  readonly limit: number
  readonly entries: Map<string, Entry>
  readonly urgent: Fifo<Entry>
  readonly routine: Fifo<Entry>
  ready: number
  running: number
  /** Urgent ones taken since a routine one had its turn. */
  streak: number
}

/**
 * What is to be looked at, and when. One key is never handed out twice at once;
 * a key that is added many times is done once. Lanes, one for each kind, take
 * turns, so that a kind with many objects does not hold up one with few.
 */
export class WorkQueue {
  readonly #options: QueueOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #order: Lane[] = []
  readonly #waiting = new TimeHeap<Entry>()
  #turn = 0
  #timer: NodeJS.Timeout | undefined
  #timerDue = Number.POSITIVE_INFINITY
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Opens a lane of which at most `limit` tasks are worked on at once. */
  open(name: string, limit: number): void {
    if (this.#lanes.has(name)) throw new Error(`the queue already has a lane ${name}`)
    const lane: Lane = {
      name,
      limit,
      entries: new Map(),
      urgent: new Fifo(),
      routine: new Fifo(),
      ready: 0,
      running: 0,
      streak: 0,
    }
    this.#lanes.set(name, lane)
    this.#order.push(lane)
  }

  /** As soon as possible; at once after the present run when there is one. */
  add(laneName: string, key: string, priority: Priority = 'urgent'): void {
    const entry = this.#entry(this.#lane(laneName), key)
    if (entry.state === 'running') {
      entry.again = true
      return
    }
    if (entry.state === 'ready' && (entry.priority === 'urgent' || priority === 'routine')) return
    this.#makeReady(entry, priority)
  }

  /** Its object is gone: there is nothing to look at any more. */
  forget(laneName: string, key: string): void {
    const lane = this.#lane(laneName)
    const entry = lane.entries.get(key)
    // One that is being worked on ends with `never` by itself, since its object cannot be read.
    if (entry && entry.state !== 'running') this.#drop(lane, entry)
  }

  has(laneName: string, key: string): boolean {
    return this.#lane(laneName).entries.has(key)
  }

  /** The task of this key, if it is being worked on. */
  running(laneName: string, key: string): Task | undefined {
    const entry = this.#lane(laneName).entries.get(key)
    return entry?.state === 'running' ? entry : undefined
  }

  /** The next task, which is then running until it is `done`. */
  take(): Task | undefined {
    if (this.#closed) return undefined
    for (let i = 0; i < this.#order.length; i++) {
      const lane = this.#order[(this.#turn + i) % this.#order.length]!
      if (lane.ready === 0 || lane.running >= lane.limit) continue
      this.#turn = (this.#turn + i + 1) % this.#order.length
      const entry = this.#next(lane)
      entry.state = 'running'
      lane.ready--
      lane.running++
      return entry
    }
    return undefined
  }

  /** The task's run is over. */
  done(task: Task, next: Next): void {
    const lane = this.#lane(task.lane)
    const entry = lane.entries.get(task.key)
    if (entry?.state !== 'running') throw new Error(`${task.lane} ${task.key} is not being worked on`)
    lane.running--
    entry.state = 'idle'
    if (next.after === 'poll' || next.after === 'never') entry.failures = entry.steps = 0
    else if (next.after === 'backoff') next.progress ? entry.steps++ : entry.failures++
    if (entry.again) {
      entry.again = false
      this.#makeReady(entry, 'urgent')
    } else if (next.after === 'never') this.#drop(lane, entry)
    else if (next.after === 'turn') this.#wait(entry, entry.priority, this.#options.clock.now() + next.seconds * 1000)
    else if (next.after === 'poll') this.#wait(entry, 'routine', pollAt(this.#options.clock.now(), next.seconds))
    else {
      const times = next.progress ? entry.steps : entry.failures
      this.#wait(entry, 'urgent', this.#options.clock.now() + backoffMs(times, this.#options.backoff))
    }
    // A lane that was at its limit may go on.
    if (lane.ready > 0) this.#options.wake()
  }

  /** How many are ready, waiting for their time and being worked on. */
  depth(laneName: string): { ready: number; waiting: number; running: number } {
    const { ready, running, entries } = this.#lane(laneName)
    return { ready, running, waiting: entries.size - ready - running }
  }

  /** Hands out nothing more. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #lane(name: string): Lane {
    const lane = this.#lanes.get(name)
    if (!lane) throw new Error(`the queue has no lane ${name}`)
    return lane
  }

  #entry(lane: Lane, key: string): Entry {
    let entry = lane.entries.get(key)
    if (!entry) {
      entry = {
        lane: lane.name,
        key,
        state: 'idle',
        priority: 'urgent',
        failures: 0,
        steps: 0,
        again: false,
        due: 0,
        place: -1,
      }
      lane.entries.set(key, entry)
    }
    return entry
  }

  #drop(lane: Lane, entry: Entry): void {
    this.#waiting.remove(entry)
    if (entry.state === 'ready') lane.ready--
    entry.state = 'idle'
    lane.entries.delete(entry.key)
  }

  #makeReady(entry: Entry, priority: Priority): void {
    const lane = this.#lanes.get(entry.lane)!
    this.#waiting.remove(entry)
    if (entry.state !== 'ready') lane.ready++
    entry.state = 'ready'
    entry.priority = priority
    lane[priority].push(entry)
    this.#options.wake()
  }

  #next(lane: Lane): Entry {
    const routineFirst = lane.streak >= ROUTINE_SHARE - 1
    const chosen = routineFirst
      ? (this.#shift(lane, 'routine') ?? this.#shift(lane, 'urgent'))
      : (this.#shift(lane, 'urgent') ?? this.#shift(lane, 'routine'))
    lane.streak = chosen!.priority === 'urgent' ? lane.streak + 1 : 0
    return chosen!
  }

  /** Skips those that were withdrawn or moved to the other line since. */
  #shift(lane: Lane, priority: Priority): Entry | undefined {
    for (;;) {
      const entry = lane[priority].shift()
      if (!entry) return undefined
      if (entry.state === 'ready' && entry.priority === priority) return entry
    }
  }

  #wait(entry: Entry, priority: Priority, due: number): void {
    entry.state = 'waiting'
    entry.priority = priority
    entry.due = due
    this.#waiting.push(entry)
    if (entry.due < this.#timerDue) this.#setTimer()
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    const first = this.#waiting.first()
    this.#timerDue = first?.due ?? Number.POSITIVE_INFINITY
    if (!first || this.#closed) return
    const delay = Math.min(Math.max(0, first.due - this.#options.clock.now()), TIMER_MAX_MS)
    this.#timer = setTimeout(() => this.#ripen(), delay)
  }

  #ripen(): void {
    const now = this.#options.clock.now()
    for (let first = this.#waiting.first(); first && first.due <= now; first = this.#waiting.first()) {
      this.#makeReady(first, first.priority)
    }
    this.#setTimer()
  }
}

function pollAt(now: number, seconds: number): number {
  const step = seconds < SLOW_POLL_SECONDS ? POLL_STEP_MS : SLOW_POLL_STEP_MS
  return Math.ceil((now + seconds * 1000) / step) * step
}
