import { type KubeObject, stringify } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { Request } from '../serving/request.js'
import type { Served, View } from '../serving/served.js'
import type { Outgoing } from '../transport/exchange.js'
import { type WatchUpdate, watch, whenOutdated } from '../verbs/watch.js'
import { encodeWatchEvent, encodeWatchFrame } from '../wire/protobuf-encode.js'
import type { Reply } from './encode.js'
import type { watchParameters } from './parameters.js'
import { columnDefinitions, inMetaVersion, partial, tableRow } from './table.js'
import { bookmarkObject, sendBookmarks } from './watch-bookmarks.js'

const encoder = new TextEncoder()
const closing = encoder.encode('}\n')

// A watch whose client reads too slowly is closed at this backlog. The client lists again.
const BACKLOG_BYTES_MAX = 16 * 1024 * 1024
const TIMEOUT_MIN_SECONDS = 1_800

/**
 * GET with watch=true: sends one line of JSON per event until the timeout, or until the client or the server closes
 * the watch.
 */
export function serveWatch(
  engine: Engine,
  request: Request,
  parameters: ReturnType<typeof watchParameters>,
  reply: Reply,
  stopping: AbortSignal,
): void {
  const { exchange } = reply
  let out: Outgoing | undefined
  let stop: (() => void) | undefined
  let over = false
  const encode = lineEncoder(request.served, reply)
  const finish = () => {
    if (over) return
    over = true
    stop?.()
    stopCaring()
    clearTimeout(timeout)
    stopBookmarks?.()
    stopping.removeEventListener('abort', finish)
    out?.end()
  }
  const early: WatchUpdate[] = []
  const sink = (event: WatchUpdate) => {
    if (over) return
    if (!out) {
      early.push(event)
      return
    }
    const readsOn = out.write(encode(event))
    if (event.type === 'ERROR') finish()
    else if (!readsOn && out.waiting > BACKLOG_BYTES_MAX) {
      finish()
      out.cut()
    }
  }
  stop = watch(engine, request, parameters, sink)
  const stopCaring = whenOutdated(engine, request.served, finish)
  out = open(reply)
  const seconds = secondsOf(parameters.timeoutSeconds)
  const timeout = setTimeout(finish, seconds * 1000)
  const stopBookmarks = parameters.allowWatchBookmarks ? sendBookmarks(engine, parameters, seconds, sink) : undefined
  stopping.addEventListener('abort', finish)
  exchange.signal.addEventListener('abort', finish, { once: true })
  if (stopping.aborted || exchange.signal.aborted || !out) finish()
  for (const event of early) sink(event)
}

/** Opens the stream: lines, or messages of a WebSocket. Undefined when the WebSocket handshake failed. */
function open({ exchange, media }: Reply): Outgoing | undefined {
  if (exchange.messages) return exchange.messages(media.format === 'protobuf')
  return exchange.stream(200, { 'content-type': media.contentType, 'cache-control': 'no-cache, private' })
}

/** Returns the requested timeout, or a random one between 30 and 60 minutes as kube-apiserver does. */
function secondsOf(asked: number | undefined): number {
  return asked && asked > 0 ? asked : TIMEOUT_MIN_SECONDS * (1 + Math.random())
}

type Encode = (event: WatchUpdate) => Uint8Array

function lineEncoder(served: Served, reply: Reply): Encode {
  const shape = shapeOf(served, reply)
  const protobuf = reply.media.format === 'protobuf'
  const plainJson = shape === undefined && !protobuf
  // Messages of a WebSocket need no length prefix.
  const frame = reply.exchange.messages ? encodeWatchEvent : encodeWatchFrame
  const line = protobuf ? frame : jsonLine
  const plainLine = plainLines(served)
  return (event) => {
    if (event.type === 'ERROR') return line('ERROR', event.error.toStatus())
    if (event.type === 'BOOKMARK') return line('BOOKMARK', bookmarkObject(served, event, reply))
    const { type, view } = event
    if (plainJson && view.bytes) return plainLine(type, view, view.bytes)
    return line(type, shape ? shape(view.object) : view.object)
  }
}

function shapeOf(served: Served, reply: Reply): ((object: KubeObject) => unknown) | undefined {
  const { media } = reply
  if (media.as === 'PartialObjectMetadata') return (object) => inMetaVersion(media, partial(object))
  if (reply.media.as !== 'Table') return undefined
  let first = true
  return (object) => {
    // Only the first event has the columns. kubectl keeps them.
    const columns = first ? columnDefinitions(served) : null
    first = false
    const rows = [tableRow(served, object, reply.include ?? 'Metadata', Date.now())]
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions: columns, rows }
    return inMetaVersion(media, table)
  }
}

type PlainLine = (type: string, view: View, bytes: Uint8Array) => Uint8Array

const linesOf = new WeakMap<Served, PlainLine>()

/** All watchers of a kind get a change in the same turn of the event loop. Its line is encoded once. */
function plainLines(served: Served): PlainLine {
  let plainLine = linesOf.get(served)
  if (!plainLine) {
    let last: { readonly type: string; readonly view: View; readonly line: Uint8Array } | undefined
    const forget = () => {
      last = undefined
    }
    plainLine = (type, view, bytes) => {
      if (last?.view === view && last.type === type) return last.line
      if (!last) setImmediate(forget)
      const line = Buffer.concat([heads[type]!, bytes, closing])
      last = { type, view, line }
      return line
    }
    linesOf.set(served, plainLine)
  }
  return plainLine
}

const heads: Record<string, Uint8Array> = Object.fromEntries(
  ['ADDED', 'MODIFIED', 'DELETED'].map((type) => [type, encoder.encode(`{"type":"${type}","object":`)]),
)

function jsonLine(type: string, object: unknown): Uint8Array {
  return encoder.encode(`{"type":"${type}","object":${stringify(object)}}\n`)
}
