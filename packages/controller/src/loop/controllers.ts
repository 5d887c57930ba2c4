import {
  type Clock,
  groupResource,
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
import { AbortControllerPool } from './abort-pool.js'
import { LoopMetrics } from './metrics.js'

/** Reconciles the objects of one kind. */
export interface Controller {
  /** Unique among the controllers of one process; appears in logs and metrics. */
  readonly name: string
  readonly type: ResourceType
  /** The maximum number of concurrent reconciliations of this controller. */
  readonly concurrency?: number
  /** Every process reconciles every object of the kind: objects that say what the process itself has to do. */
  readonly everyProcess?: boolean
  /** The timeout of one reconciliation. Defaults to the timeout of all controllers. */
  readonly timeoutMs?: number
  /**
   * Reconciles one object. Never runs twice at once for the same object. An exception is logged and retried with
   * back-off.
   */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Next>
  /** Whether a change triggers a reconciliation. Defaults to every change. */
  wakes?(before: KubeObject | undefined, after: KubeObject): boolean
  /** Whether the status reports the object as in sync. After a start such objects are reconciled after all others. */
  inSync?(object: KubeObject): boolean
  /** Called when the object no longer exists, regardless of its finalizers, and no reconciliation of it is running. */
  gone?(object: KubeObject): void
  /** Other kinds whose changes trigger reconciliations of this kind. */
  readonly watches?: readonly WatchedKind[]
  /**
   * Connects an event source outside of the Kubernetes API. Called at the start with a function that triggers a
   * reconciliation. The returned function is called on stop.
   */
  begin?(wake: (key: ObjectKey) => void): () => void
}

/** A kind whose changes trigger reconciliations of another kind. */
export interface WatchedKind {
  readonly type: ResourceType
  /** Returns the keys of the objects to reconcile when this object changes. */
  concerns(object: KubeObject): Iterable<ObjectKey>
}

/** Selects the objects that this process reconciles. */
export interface ShardFilter {
  includes(key: string): boolean
  /**
   * Subscribes to changes of the selection. The filter waits until the callback resolves, which it does when no
   * object outside of the selection is being reconciled.
   */
  onChange(changed: () => Promise<void>): () => void
}

/** Options of Controllers. */
export interface ControllersOptions {
  readonly informers: Informers
  readonly clock?: Clock
  readonly random?: () => number
  readonly metrics?: Metrics
  readonly log?: Log
  /** The maximum number of concurrent reconciliations over all controllers. */
  readonly concurrency?: number
  /** The timeout of one reconciliation, after which its signal aborts. */
  readonly timeoutMs?: number
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number }
  /** Defaults to all objects. */
  readonly shardFilter?: ShardFilter
}

const CONCURRENCY = 512
/** Reconciliations mostly wait for the disk or the network. Budgets, not this limit, protect providers. */
const CONTROLLER_CONCURRENCY = 128
const TIMEOUT_MS = 120_000
const BACKOFF = { baseMs: 200, maxMs: 60_000 }
/** After this time of starting reconciliations, the loop yields so that a server in the same process can respond. */
const SLICE_MS = 10
/**
 * The number of reconciliations started at once. Many finish without waiting, so small batches keep memory
 * short-lived.
 */
const BATCH_SIZE = 16
const STOP_GRACE_MS = 10_000
/** How long running reconciliations of an object may continue after another process took it over. */
const HANDOVER_MS = 2_000
const HANDOVER_STEP_MS = 20

interface Run {
  readonly abort: AbortController
  readonly began: number
  /** Set if the object was removed during the reconciliation. */
  removed?: KubeObject
  /** Changes during the reconciliation. Whether they are its own writes is known only when it has ended. */
  changes?: Changed[]
}

type Changed = Extract<Change, { readonly type: 'changed' }>

/**
 * An object with more changes than this during one reconciliation is reconciled again, regardless of who changed
 * it.
 */
const CHANGES_MAX = 16

/** Runs controllers: changes become keys in a work queue, which become reconciliations within the concurrency limit. */
export class Controllers implements AsyncDisposable {
  readonly #informers: Informers
  readonly #clock: Clock
  readonly #log: Log
  readonly #limit: number
  readonly #timeoutMs: number
  readonly #shardFilter: ShardFilter | undefined
  readonly #queue: WorkQueue
  readonly #metrics: LoopMetrics
  readonly #controllers = new Map<string, Controller>()
  readonly #runs = new Map<Task, Run>()
  readonly #aborts = new AbortControllerPool()
  readonly #unsubscribe = new Map<string, (() => void)[]>()
  readonly #ignoreShards: () => void
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
    this.#shardFilter = options.shardFilter
    const backoff = { ...(options.backoff ?? BACKOFF), random: options.random ?? Math.random }
    this.#queue = new WorkQueue({ clock: this.#clock, backoff, wake: () => this.#schedule() })
    this.#metrics = new LoopMetrics(options.metrics, this.#queue, options.informers)
    this.#ignoreShards = this.#shardFilter?.onChange(() => this.#shardFilterChanged()) ?? (() => {})
    this.#overdue = setInterval(() => this.#abortOverdue(), Math.min(1000, this.#timeoutMs)).unref()
  }

  /** Starts a controller. Its reconciliations begin once the informer of its kind has synced. */
  start(controller: Controller): void {
    const { name } = controller
    this.#queue.open(name, controller.concurrency ?? CONTROLLER_CONCURRENCY)
    this.#controllers.set(name, controller)
    this.#metrics.describe(name)
    const unsubscribe = [this.#informers.of(controller.type).subscribe((change) => this.#ownChange(controller, change))]
    this.#unsubscribe.set(name, unsubscribe)
    for (const { type, concerns } of controller.watches ?? []) {
      const wake = ({ object }: Change) => {
        for (const key of concerns(object)) this.#add(name, keyText(key), 'urgent')
      }
      unsubscribe.push(this.#informers.of(type).subscribe(wake))
    }
    if (controller.begin) unsubscribe.push(controller.begin((key) => this.enqueue(name, key)))
  }

  /**
   * Stops one controller: starts no more of its reconciliations, waits for running ones within the grace period,
   * then aborts them. Informers that no other controller uses are stopped. Resolves when none of it is running.
   */
  async remove(name: string, graceMs = STOP_GRACE_MS): Promise<void> {
    const controller = this.#controllers.get(name)
    if (!controller) return
    this.#controllers.delete(name)
    this.#metrics.forget(name)
    for (const unsubscribe of this.#unsubscribe.get(name) ?? []) unsubscribe()
    this.#unsubscribe.delete(name)
    this.#queue.retire(name)
    await this.#runsEnded(({ lane }) => lane === name, graceMs, 'the controller was removed')
    const used = new Set([...this.#controllers.values()].flatMap(typesOf).map(groupResource))
    const unused = typesOf(controller).filter((type) => !used.has(groupResource(type)))
    await Promise.all(unused.map((type) => this.#informers.forget(type)))
  }

  /** Queues a reconciliation of one object as soon as possible. */
  enqueue(name: string, key: ObjectKey): void {
    this.#add(name, keyText(key), 'urgent')
  }

  /**
   * Starts no more reconciliations, waits for running ones within the grace period, then aborts them. Resolves when
   * none is running.
   */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopping = true
    for (const unsubscribe of [...this.#unsubscribe.values()].flat()) unsubscribe()
    this.#ignoreShards()
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
      if (!this.#defer(controller, key, change) && wakes(controller, change)) {
        this.#add(controller.name, key, 'urgent')
      }
      return
    }
    if (!(controller.wakes?.(undefined, object) ?? true)) return
    const routine = change.initial && controller.inSync?.(object)
    this.#add(controller.name, key, routine ? 'routine' : 'urgent')
  }

  /**
   * Defers a change to the end of the running reconciliation, if there is one, which can tell its own writes from
   * others.
   */
  #defer(controller: Controller, key: string, change: Changed): boolean {
    const task = this.#queue.running(controller.name, key)
    const run = task && this.#runs.get(task)
    if (!run) return false
    run.changes ??= []
    return run.changes.length < CHANGES_MAX && run.changes.push(change) > 0
  }

  #add(name: string, key: string, priority: Priority): void {
    if (this.#controllers.has(name) && this.#includes(name, key)) this.#queue.add(name, key, priority)
  }

  #includes(name: string, key: string): boolean {
    if (!this.#shardFilter || this.#controllers.get(name)?.everyProcess) return true
    return this.#shardFilter.includes(key)
  }

  /**
   * Queues objects that are newly selected. Drops objects that are no longer selected, and waits for their running
   * reconciliations.
   */
  async #shardFilterChanged(): Promise<void> {
    for (const controller of this.#controllers.values()) {
      for (const [key, object] of this.#informers.of(controller.type).cache.entries()) {
        if (!this.#includes(controller.name, key)) this.#queue.forget(controller.name, key)
        else if (!this.#queue.has(controller.name, key)) {
          this.#queue.add(controller.name, key, controller.inSync?.(object) ? 'routine' : 'urgent')
        }
      }
    }
    const isOthers = ({ lane, key }: Task) => !this.#includes(lane, key)
    await this.#runsEnded(isOthers, HANDOVER_MS, 'another process reconciles this object now')
  }

  /** Waits for running reconciliations within the grace period, then aborts them, and resolves when none is running. */
  async #runsEnded(concerns: (task: Task) => boolean, graceMs: number, reason: string): Promise<void> {
    const left = () => [...this.#runs].filter(([task]) => concerns(task))
    for (let waited = 0; left().length > 0; waited += HANDOVER_STEP_MS) {
      if (waited >= graceMs) for (const [, { abort }] of left()) abort.abort(new Error(reason))
      await sleep(HANDOVER_STEP_MS)
    }
  }

  /** Starts all reconciliations that become ready in one event-loop turn together. */
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
    for (let started = 0; started < BATCH_SIZE && performance.now() < ends; started++) {
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
      next = this.#includes(task.lane, task.key)
        ? await controller.reconcile(parseKey(task.key), run.abort.signal)
        : { after: 'never' }
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
    const now = this.#clock.now()
    for (const [task, { abort, began }] of this.#runs) {
      const timeoutMs = this.#controllers.get(task.lane)?.timeoutMs ?? this.#timeoutMs
      if (began > now - timeoutMs || abort.signal.aborted) continue
      this.#log.warn('a reconciliation exceeded its timeout', { controller: task.lane, object: task.key })
      abort.abort(new Error(`took longer than ${timeoutMs / 1000} s`))
    }
  }
}

const typesOf = ({ type, watches = [] }: Controller): readonly ResourceType[] => [
  type,
  ...watches.map((watched) => watched.type),
]

function wakes(controller: Controller, { before, object }: Changed): boolean {
  return controller.wakes?.(before, object) ?? true
}
