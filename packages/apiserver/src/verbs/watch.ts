import { equal, type KubeObject, StatusError } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { Request } from '../serving/request.js'
import type { Served, View } from '../serving/served.js'
import { type Change, CompactedError, type Stored } from '../store/store.js'
import { parseRevision } from './revision.js'
import { type Selection, selectionOf } from './selection.js'

/** The parameters of a watch. */
export interface WatchParameters {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
}

/** An event of a watch. */
export type WatchUpdate =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly view: View
      /** Whether the object existed before the watch started. */
      readonly initial?: boolean
    }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: StatusError }

/** Receives the events of a watch in order. ERROR is the last. */
export type Sink = (update: WatchUpdate) => void

/**
 * Watches a collection: sends the existing objects on request, then every change. Returns the function that stops
 * the watch.
 */
export function watch(engine: Engine, request: Request, parameters: WatchParameters, sink: Sink): () => void {
  const { served, namespace } = request
  const selection = selectionOf(served, parameters)
  const from = parseRevision(parameters.resourceVersion)
  const watcher = new Watcher(served, namespace, selection, sink)
  const fromState = parameters.sendInitialEvents ?? from === 0
  try {
    if (fromState) return followState(engine, request, watcher, parameters)
    return followFrom(engine, served.prefix, from || engine.store.revision, watcher.onChange)
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    const message = `too old resource version: ${from} (${error.compacted})`
    sink({ type: 'ERROR', error: new StatusError(410, 'Expired', message) })
    return () => {}
  }
}

// Requests that run while a CRD changes may still succeed, as on kube-apiserver.
const OUTDATED_MS = 1_000

/**
 * Calls `end` when a watch should end because the CRD of its kind changed or was deleted. The client then watches
 * the kind in its new form. Returns the function that unsubscribes.
 */
export function whenOutdated(engine: Engine, { definition }: Served, end: () => void): () => void {
  const { group, names, identity } = definition
  if (identity === undefined) return () => {}
  let timer: NodeJS.Timeout | undefined
  const unsubscribe = engine.registry.onChange((changed) => {
    if (timer || changed.group !== group || changed.names.plural !== names.plural) return
    const now = engine.registry.definition(group, names.plural)
    const same = now?.identity === identity && equal(now?.names, names)
    if (!same) timer = setTimeout(end, OUTDATED_MS).unref()
  })
  return () => {
    unsubscribe()
    clearTimeout(timer)
  }
}

/** A watch may start at a revision that does not exist yet. Changes up to it are not sent. */
function followFrom(engine: Engine, prefix: string, from: number, listener: (change: Change) => void): () => void {
  const current = engine.store.revision
  if (from <= current) return engine.hub.follow(prefix, from, listener)
  return engine.hub.follow(prefix, current, (change) => {
    if (change.revision > from) listener(change)
  })
}

function followState(engine: Engine, request: Request, watcher: Watcher, parameters: WatchParameters): () => void {
  const { served, namespace } = request
  const prefix = namespace ? `${served.prefix}${namespace}/` : served.prefix
  const page = engine.store.list(prefix)
  watcher.initial(page.items)
  if (parameters.sendInitialEvents) watcher.bookmark(page.revision, true)
  return engine.hub.follow(served.prefix, page.revision, watcher.onChange)
}

class Watcher {
  readonly #served: Served
  readonly #namespace: string
  readonly #selection: Selection
  readonly #sink: Sink
  // Conversion by a webhook is asynchronous. Later events wait for it.
  #behind: Promise<void> | undefined

  constructor(served: Served, namespace: string, selection: Selection, sink: Sink) {
    this.#served = served
    this.#namespace = namespace
    this.#selection = selection
    this.#sink = sink
  }

  initial(items: readonly Stored[]): void {
    const views = this.#served.views(items)
    this.#inTurn(views, (ready) => {
      for (const view of ready) {
        if (this.#selection.matches(view.object)) this.#sink({ type: 'ADDED', view, initial: true })
      }
    })
  }

  bookmark(revision: number, initialEventsEnd: boolean): void {
    this.#inTurn(undefined, () => this.#sink({ type: 'BOOKMARK', revision, initialEventsEnd }))
  }

  readonly onChange = (change: Change): void => {
    const { now, before } = change
    if (this.#namespace && !inNamespace(now.key, this.#served.prefix, this.#namespace)) return
    const view = this.#served.view(now)
    if (this.#selection.everything) {
      this.#inTurn(view, (ready) => this.#sink({ type: change.type, view: ready }))
      return
    }
    const old = before ? this.#served.view(before) : undefined
    const both = view instanceof Promise || old instanceof Promise ? Promise.all([view, old]) : ([view, old] as const)
    this.#inTurn(both, ([ready, past]) => this.#selected(change, ready, past))
  }

  /** An object that enters the selection is ADDED, and one that leaves it is DELETED. */
  #selected(change: Change, view: View, old: View | undefined): void {
    const was = old !== undefined && this.#selection.matches(old.object)
    const is = change.type !== 'DELETED' && this.#selection.matches(view.object)
    if (is) this.#sink({ type: was ? 'MODIFIED' : 'ADDED', view })
    else if (was) this.#sink({ type: 'DELETED', view: change.type === 'DELETED' ? view : atRevision(old!, change) })
  }

  #inTurn<T>(value: T | Promise<T>, then: (value: T) => void): void {
    if (!this.#behind && !(value instanceof Promise)) {
      then(value)
      return
    }
    const turn = Promise.all([value, this.#behind]).then(
      ([ready]) => then(ready),
      (error: unknown) => this.#sink({ type: 'ERROR', error: asStatus(error) }),
    )
    this.#behind = turn
    void turn.then(() => {
      if (this.#behind === turn) this.#behind = undefined
    })
  }
}

function inNamespace(key: string, prefix: string, namespace: string): boolean {
  return key.startsWith(namespace, prefix.length) && key[prefix.length + namespace.length] === '/'
}

function atRevision({ object }: View, { revision }: Change): View {
  const metadata = { ...object.metadata, resourceVersion: String(revision) }
  return { object: { ...object, metadata } as KubeObject, bytes: undefined }
}

function asStatus(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  return new StatusError(500, 'InternalError', `Internal error occurred: ${String(error)}`)
}
