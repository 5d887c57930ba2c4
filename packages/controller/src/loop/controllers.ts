import {
  type Clock,
  type KubeObject,
  type Metrics,
  type ObjectKey,
  type ResourceType,
  steadyClock,
} from '@crosstie/kube'
import type { Change } from '../informer/informer.js'
import type { Informers } from '../informer/informers.js'
import { keyText, keyTextOf, parseKey } from '../key.js'
import { type Log, silentLog } from '../log.js'
import { sleep } from '../sleep.js'
import { type Next, type Priority, type Task, WorkQueue } from '../workqueue/queue.js'
import { Aborts } from './aborts.js'
import { LoopMetrics } from './metrics.js'

/** Code that is woken when objects of a kind change. */
export interface Controller {
  /** Unique among those that run together; appears in logs and metrics. */
  readonly name: string
  readonly type: ResourceType
  /** How many objects are worked on at once. */
  readonly concurrency?: number
  /** Never called twice at once for the same object. What it throws is logged, and tried again later. */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Next>
  /** Is this change a reason to look at once? Absent: every change is. */
  wakes?(before: KubeObject | undefined, after: KubeObject): boolean
  /** Was the object well when it was last reported on? Then, after a start, it waits behind those that were not. */
  settled?(object: KubeObject): boolean
  /** The object no longer exists, whatever its finalizers were. No reconcile of it runs any more. */
  gone?(object: KubeObject): void
  /** Other kinds whose objects concern objects of this one. */
  readonly watches?: readonly Watched[]
  /**
   * For news from elsewhere than the Kubernetes API: called at the start with
   * what has an object looked at soon. What it returns is called at the end.
   */
  begin?(wake: (key: ObjectKey) => void): () => void
}

export interface Watched {
  readonly type: ResourceType
  /** Which objects to look at when this one changes. */
  concerns(object: KubeObject): Iterable<ObjectKey>
}

/** Which part of all objects this process works on. */
export interface Share {
  includes(key: string): boolean
  /** Calls back after the share grew or shrank, and waits until nothing outside of it is being worked on. */
  onChange(changed: () => Promise<void>): () => void
}

export interface ControllersOptions {
  readonly informers: Informers
  readonly clock?: Clock
  readonly random?: () => number
  readonly metrics?: Metrics
  readonly log?: Log
  /** How many objects are worked on at once, over all controllers. */
  readonly concurrency?: number
  /** How long one reconcile may take before its signal aborts. */
  readonly timeoutMs?: number
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number }
  /** Absent: everything. */
  readonly share?: Share
}

const CONCURRENCY = 512
/** Each waits for the disk or a network most of the time; budgets, not this, protect providers. */
const CONCURRENCY_OF_ONE = 128
const TIMEOUT_MS = 120_000
const BACKOFF = { baseMs: 200, maxMs: 60_000 }
/** After so long of starting reconciles, others get a turn: a server in the same process still has to answer. */
const SLICE_MS = 10
/** So many are begun in one go: many that need nobody else end before more begin, and hold memory only shortly. */
const SLICE = 16
const STOP_GRACE_MS = 10_000
/** What runs on an object that is to be another's may finish for so long. */
const HANDOVER_MS = 2_000
const HANDOVER_STEP_MS = 20

interface Run {
  readonly abort: AbortController
  readonly began: number
  /** The object, once it was removed while the run was under way. */
  removed?: KubeObject
  /** What happened to the object meanwhile. Which of it was the run's own doing is known when it has ended. */
  changes?: Changed[]
}

type Changed = Extract<Change, { readonly type: 'changed' }>

/** An object that changes more often than that during one run is looked at again, whoever changed it. */
const CHANGES_MAX = 16

/** Runs controllers: from changes to keys in a queue to reconciles, as many at once as allowed. */
export class Controllers implements AsyncDisposable {
  readonly #informers: Informers
  readonly #clock: Clock
  readonly #log: Log
  readonly #limit: number
  readonly #timeoutMs: number
  readonly #share: Share | undefined
  readonly #queue: WorkQueue
  readonly #metrics: LoopMetrics
  readonly #controllers = new Map<string, Controller>()
  readonly #runs = new Map<Task, Run>()
  readonly #aborts = new Aborts()
  readonly #unsubscribe: (() => void)[] = []
  readonly #overdue: NodeJS.Timeout
  #scheduled = false
  #stopping = false
  #idle: () => void = () => {}

  constructor(options: ControllersOptions) {
    this.#informers = options.informers
    this.#clock = options.clock ?? steadyClock
    this.#log = options.log ?? silentLog
    this.#limit = options.concurrency ?? CONCURRENCY
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    this.#share = options.share
    const backoff = { ...(options.backoff ?? BACKOFF), random: options.random ?? Math.random }
    this.#queue = new WorkQueue({ clock: this.#clock, backoff, wake: () => this.#schedule() })
    this.#metrics = new LoopMetrics(options.metrics, this.#queue, options.informers)
    if (this.#share) this.#unsubscribe.push(this.#share.onChange(() => this.#shareChanged()))
    this.#overdue = setInterval(() => this.#abortOverdue(), Math.min(1000, this.#timeoutMs)).unref()
  }

  /** Starts a controller; it works once the informer of its kind knows the objects. */
  start(controller: Controller): void {
    const { name } = controller
    this.#queue.open(name, controller.concurrency ?? CONCURRENCY_OF_ONE)
    this.#controllers.set(name, controller)
    this.#metrics.describe(name)
    this.#unsubscribe.push(
      this.#informers.of(controller.type).subscribe((change) => this.#ownChange(controller, change)),
    )
    for (const { type, concerns } of controller.watches ?? []) {
      const wake = ({ object }: Change) => {
        for (const key of concerns(object)) this.#add(name, keyText(key), 'urgent')
      }
      this.#unsubscribe.push(this.#informers.of(type).subscribe(wake))
    }
    if (controller.begin) this.#unsubscribe.push(controller.begin((key) => this.enqueue(name, key)))
  }

  /** Looks at one object as soon as possible. */
  enqueue(name: string, key: ObjectKey): void {
    this.#add(name, keyText(key), 'urgent')
  }

  /** Begins nothing more, lets what runs finish for a while, then aborts it. Resolves when nothing runs. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopping = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#queue.close()
    clearInterval(this.#overdue)
    this.#metrics.close()
    if (this.#runs.size === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve
    })
    const grace = new AbortController()
    await Promise.race([idle, sleep(graceMs, grace.signal)])
    grace.abort()
    for (const { abort } of this.#runs.values()) abort.abort(new Error('stopping'))
    await idle
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #ownChange(controller: Controller, change: Change): void {
    const { object } = change
    const key = keyTextOf(object)
    if (change.type === 'removed') {
      const task = this.#queue.running(controller.name, key)
      const run = task && this.#runs.get(task)
      this.#queue.forget(controller.name, key)
      if (run) run.removed = object
      else controller.gone?.(object)
      return
    }
    if (change.type === 'changed') {
      if (!this.#heldBack(controller, key, change) && wakes(controller, change)) {
        this.#add(controller.name, key, 'urgent')
      }
      return
    }
    if (!(controller.wakes?.(undefined, object) ?? true)) return
    const routine = change.initial && controller.settled?.(object)
    this.#add(controller.name, key, routine ? 'routine' : 'urgent')
  }

  /** Whether a change is news is for the end of the run that is under way, if one is. */
  #heldBack(controller: Controller, key: string, change: Changed): boolean {
    const task = this.#queue.running(controller.name, key)
    const run = task && this.#runs.get(task)
    if (!run) return false
    run.changes ??= []
    return run.changes.length < CHANGES_MAX && run.changes.push(change) > 0
  }

  #add(name: string, key: string, priority: Priority): void {
    if (this.#share && !this.#share.includes(key)) return
    this.#queue.add(name, key, priority)
  }

  /** What is ours now is looked at; what is no longer ours is forgotten, and ends soon if it runs. */
  async #shareChanged(): Promise<void> {
    const share = this.#share!
    for (const controller of this.#controllers.values()) {
      for (const [key, object] of this.#informers.of(controller.type).cache.entries()) {
        if (!share.includes(key)) this.#queue.forget(controller.name, key)
        else if (!this.#queue.has(controller.name, key)) {
          this.#queue.add(controller.name, key, controller.settled?.(object) ? 'routine' : 'urgent')
        }
      }
    }
    const others = () => [...this.#runs].filter(([{ key }]) => !share.includes(key))
    for (let waited = 0; others().length > 0; waited += HANDOVER_STEP_MS) {
      if (waited >= HANDOVER_MS) {
        for (const [, { abort }] of others()) abort.abort(new Error('another process works on it now'))
      }
      await sleep(HANDOVER_STEP_MS)
    }
  }

  /** All work of one moment is begun in one go. */
  #schedule(): void {
    if (this.#scheduled || this.#stopping) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    const ends = performance.now() + SLICE_MS
    for (let begun = 0; begun < SLICE && performance.now() < ends; begun++) {
      const task = this.#runs.size < this.#limit ? this.#queue.take() : undefined
      if (!task) return
      void this.#run(task)
    }
    this.#schedule()
  }

  async #run(task: Task): Promise<void> {
    const run: Run = { abort: this.#aborts.take(), began: this.#clock.now() }
    this.#runs.set(task, run)
    const controller = this.#controllers.get(task.lane)!
    let next: Next
    try {
      const ours = !this.#share || this.#share.includes(task.key)
      next = ours ? await controller.reconcile(parseKey(task.key), run.abort.signal) : { after: 'never' }
    } catch (error) {
      next = { after: 'backoff' }
      this.#metrics.failed(task.lane)
      if (!this.#stopping) this.#log.warn('cannot reconcile', { controller: task.lane, object: task.key, error })
    }
    this.#end(controller, task, run, next)
  }

  #end(controller: Controller, task: Task, { abort, began, removed, changes = [] }: Run, next: Next): void {
    this.#runs.delete(task)
    this.#aborts.giveBack(abort)
    if (removed) controller.gone?.(removed)
    for (const change of changes) if (wakes(controller, change)) this.#add(task.lane, task.key, 'urgent')
    this.#queue.done(task, next)
    this.#metrics.reconciled(task.lane, (this.#clock.now() - began) / 1000)
    if (this.#stopping) {
      if (this.#runs.size === 0) this.#idle()
    } else this.#schedule()
  }

  #abortOverdue(): void {
    const before = this.#clock.now() - this.#timeoutMs
    for (const [task, { abort, began }] of this.#runs) {
      if (began > before || abort.signal.aborted) continue
      this.#log.warn('a reconcile takes too long', { controller: task.lane, object: task.key })
      abort.abort(new Error(`took longer than ${this.#timeoutMs / 1000} s`))
    }
  }
}

function wakes(controller: Controller, { before, object }: Changed): boolean {
  return controller.wakes?.(before, object) ?? true
}
