import type { Clock } from '@crosstie/kube'
import { type BackoffOptions, backoffMs } from './backoff.js'
import { Fifo } from './fifo.js'
import { TimeHeap } from './heap.js'

/**
 * When to reconcile an object next. `backoff` grows with every repetition. `poll` is the interval of an object that
 * is in sync. `turn` is for an object that could not be processed yet; it counts neither as success nor as failure.
 * A `backoff` with `progress` is for a successful step that is not the last one; its delay does not depend on
 * earlier failures.
 */
export type Next =
  | { readonly after: 'never' }
  | { readonly after: 'backoff'; readonly progress?: true }
  | { readonly after: 'poll'; readonly seconds: number }
  | { readonly after: 'turn'; readonly seconds: number }

/** New and failing objects are urgent; polls of objects that are in sync are routine. */
export type Priority = 'urgent' | 'routine'

/** Options of WorkQueue. */
export interface QueueOptions {
  readonly clock: Clock
  readonly backoff: BackoffOptions
  /** Called, possibly often, when a task becomes ready. */
  readonly wake: () => void
}

/** Every n-th task is a routine one if any is ready: polls are delayed under load, but not starved. */
const ROUTINE_SHARE = 8

/** Polls that are due at about the same time are batched, because waking up costs more than a poll. */
const POLL_STEP_MS = 250
/** Slow polls are batched in larger steps, since a second more does not matter. */
const SLOW_POLL_SECONDS = 30
const SLOW_POLL_STEP_MS = 1_000

/** The longest delay that setTimeout supports, rounded down. */
const TIMER_MAX_MS = 2_000_000_000

type State = 'idle' | 'waiting' | 'ready' | 'running'

/** A key in the queue. There is one entry per key, so the queue is bounded by the number of objects. */
export interface Task {
  readonly lane: string
  readonly key: string
}

interface Entry extends Task {
  state: State
  priority: Priority
  failures: number
  /**
   * Consecutive runs that ended with progress. Counted separately from failures, so that progress does not wait for
   * earlier failures.
   */
  steps: number
  /** A change arrived during the run. */
  again: boolean
  due: number
  heapIndex: number
}

interface Lane {
  readonly name: string
  readonly limit: number
  readonly entries: Map<string, Entry>
  readonly urgent: Fifo<Entry>
  readonly routine: Fifo<Entry>
  ready: number
  running: number
  /** Urgent tasks taken since the last routine one. */
  streak: number
  /** It takes no more keys, and is removed when its last task ends. */
  retired: boolean
}

/**
 * A work queue with per-key deduplication and exponential back-off. A key is never handed out twice at once. Lanes,
 * one per kind, take turns, so that a kind with many objects does not delay a kind with few.
 */
export class WorkQueue {
  readonly #options: QueueOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #order: Lane[] = []
  readonly #waiting = new TimeHeap<Entry>()
  #nextLane = 0
  #timer: NodeJS.Timeout | undefined
  #timerDue = Number.POSITIVE_INFINITY
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Opens a lane with at most `limit` concurrent tasks. Throws if the name is taken. */
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
      retired: false,
    }
    this.#lanes.set(name, lane)
    this.#order.push(lane)
  }

  /** Drops all keys of a lane. The lane is removed at once, or when its last running task ends. */
  retire(name: string): void {
    const lane = this.#lane(name)
    lane.retired = true
    for (const entry of [...lane.entries.values()]) if (entry.state !== 'running') this.#drop(lane, entry)
    this.#removeIfEnded(lane)
  }

  /** Makes the key ready now, or right after its current run. */
  add(laneName: string, key: string, priority: Priority = 'urgent'): void {
    if (this.#lane(laneName).retired) return
    const entry = this.#entry(this.#lane(laneName), key)
    if (entry.state === 'running') {
      entry.again = true
      return
    }
    if (entry.state === 'ready' && (entry.priority === 'urgent' || priority === 'routine')) return
    this.#makeReady(entry, priority)
  }

  /** Drops a key whose object no longer exists. */
  forget(laneName: string, key: string): void {
    const lane = this.#lane(laneName)
    const entry = lane.entries.get(key)
    // A running task ends with `never` by itself, because its object cannot be read.
    if (entry && entry.state !== 'running') this.#drop(lane, entry)
  }

  has(laneName: string, key: string): boolean {
    return this.#lane(laneName).entries.has(key)
  }

  /** Returns the task of this key if it is running. */
  running(laneName: string, key: string): Task | undefined {
    const entry = this.#lane(laneName).entries.get(key)
    return entry?.state === 'running' ? entry : undefined
  }

  /** Returns the next ready task. It is running until `done` is called. */
  take(): Task | undefined {
    if (this.#closed) return undefined
    for (let i = 0; i < this.#order.length; i++) {
      const lane = this.#order[(this.#nextLane + i) % this.#order.length]!
      if (lane.ready === 0 || lane.running >= lane.limit) continue
      this.#nextLane = (this.#nextLane + i + 1) % this.#order.length
      const entry = this.#next(lane)
      entry.state = 'running'
      lane.ready--
      lane.running++
      return entry
    }
    return undefined
  }

  /** Ends the run of a task and schedules the next one. Throws if the task is not running. */
  done(task: Task, next: Next): void {
    const lane = this.#lane(task.lane)
    const entry = lane.entries.get(task.key)
    if (entry?.state !== 'running') throw new Error(`${task.lane} ${task.key} is not running`)
    lane.running--
    entry.state = 'idle'
    if (next.after === 'poll' || next.after === 'never') entry.failures = entry.steps = 0
    else if (next.after === 'backoff') next.progress ? entry.steps++ : entry.failures++
    if (lane.retired) {
      this.#drop(lane, entry)
      this.#removeIfEnded(lane)
    } else if (entry.again) {
      entry.again = false
      this.#makeReady(entry, 'urgent')
    } else if (next.after === 'never') this.#drop(lane, entry)
    else if (next.after === 'turn') this.#wait(entry, entry.priority, this.#options.clock.now() + next.seconds * 1000)
    else if (next.after === 'poll') this.#wait(entry, 'routine', pollAt(this.#options.clock.now(), next.seconds))
    else {
      const times = next.progress ? entry.steps : entry.failures
      this.#wait(entry, 'urgent', this.#options.clock.now() + backoffMs(times, this.#options.backoff))
    }
    // The lane may have been at its limit.
    if (lane.ready > 0) this.#options.wake()
  }

  /** Returns the number of ready, waiting and running tasks. */
  depth(laneName: string): { ready: number; waiting: number; running: number } {
    const { ready, running, entries } = this.#lane(laneName)
    return { ready, running, waiting: entries.size - ready - running }
  }

  /** Stops handing out tasks. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #removeIfEnded(lane: Lane): void {
    if (!lane.retired || lane.running > 0) return
    this.#lanes.delete(lane.name)
    this.#order.splice(this.#order.indexOf(lane), 1)
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
        heapIndex: -1,
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

  /** Skips entries that were dropped or moved to the other priority since they were queued. */
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
    this.#timer = setTimeout(() => this.#promoteDue(), delay)
  }

  #promoteDue(): void {
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
