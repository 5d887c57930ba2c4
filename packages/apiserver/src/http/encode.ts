import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { type Json, type KubeObject, type Status, StatusError, stringify } from '@crosstie/kube'
import { AccessDeniedError } from '../access/authorize.js'
import type { Served, View } from '../serving/served.js'
import type { Exchange, Headers } from '../transport/exchange.js'
import type { Listing } from '../verbs/list.js'
import { encodeProtobuf } from '../wire/protobuf-encode.js'
import { warningHeaders } from '../wire/warnings.js'
import { Writer } from '../wire/writer.js'
import { encodeYaml } from '../wire/yaml.js'
import type { Media } from './media.js'
import { columnDefinitions, type IncludeObject, inMetaVersion, partial, tableRow, writeTableRow } from './table.js'

// kube-apiserver compresses responses from this size on. Below, compression costs more than it saves.
const GZIP_BYTES_MIN = 128 * 1024
// The fastest level: lists compress well, and CPU is more expensive than bytes on loopback or a LAN.
const GZIP_LEVEL = constants.Z_BEST_SPEED

const compress = promisify(gzip)
const encoder = new TextEncoder()
const newline = encoder.encode('\n')

/** A response: where it goes and how it is encoded. */
export interface Reply {
  readonly exchange: Exchange
  readonly media: Media
  readonly warnings: readonly string[]
  readonly include?: IncludeObject
  readonly now: number
}

/** Sends one object in the requested form. */
export async function sendView(reply: Reply, served: Served, status: number, view: View): Promise<void> {
  const { media } = reply
  if (media.as === 'Table') {
    const rows = [tableRow(served, view.object, reply.include ?? 'Metadata', reply.now)]
    return await sendValue(
      reply,
      status,
      inMetaVersion(media, table(served, rows, { resourceVersion: view.object.metadata.resourceVersion })),
    )
  }
  if (media.as === 'PartialObjectMetadata')
    return await sendValue(reply, status, inMetaVersion(media, partial(view.object)))
  if (media.as === 'PartialObjectMetadataList') {
    throw notAcceptable(`you requested ${media.as}, but the requested object is not a list (*${goType(served)})`)
  }
  if (media.format === 'json' && view.bytes && !media.pretty) return await send(reply, status, [view.bytes, newline])
  await sendValue(reply, status, view.object)
}

/** Sends a value that is not a stored object: a status, discovery document or review. */
export async function sendValue(reply: Reply, status: number, value: unknown, extra: Headers = {}): Promise<void> {
  const { media } = reply
  const bytes = media.format === 'protobuf' ? encodeProtobuf(value) : encoder.encode(textOf(media, value))
  await send(reply, status, [bytes], extra)
}

function textOf(media: Media, value: unknown): string {
  if (media.format === 'yaml') return encodeYaml(value as Json)
  const text = stringify(value)
  return media.pretty ? JSON.stringify(JSON.parse(text), null, 2) : `${text}\n`
}

/** Sends a list in the requested form. */
export async function sendListing(reply: Reply, served: Served, listing: Listing): Promise<void> {
  const { media, include = 'Metadata', now } = reply
  const metadata = listMetadata(served, listing, media.as !== undefined)
  if (media.as === 'Table') {
    if (media.format === 'json' && !media.pretty && include === 'Metadata' && media.asVersion === 'v1') {
      return await sendWritten(reply, tableWriter(reply, served, listing, metadata))
    }
    const rows = listing.views.map(({ object }) => tableRow(served, object, include, now))
    return await sendValue(reply, 200, inMetaVersion(media, table(served, rows, metadata)))
  }
  if (media.as === 'PartialObjectMetadataList') {
    const items = listing.views.map(({ object }) => inMetaVersion(media, partial(object)))
    return await sendValue(reply, 200, inMetaVersion(media, { kind: media.as, apiVersion: '', metadata, items }))
  }
  if (media.as === 'PartialObjectMetadata') {
    throw notAcceptable(`you requested ${media.as}, but the requested object is a list (*${goType(served)}List)`)
  }
  if (media.format === 'json' && !media.pretty) return await sendWritten(reply, listWriter(served, listing, metadata))
  const items = listing.views.map(({ object }) => itemOf(served, object))
  await sendValue(reply, 200, {
    apiVersion: served.apiVersion,
    kind: served.definition.names.listKind,
    metadata,
    items,
  })
}

function notAcceptable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message)
}

function goType({ definition, type }: Served): string {
  return definition.strategy.goType(type)
}

function listMetadata({ definition }: Served, { revision, continue: token, remaining }: Listing, transformed: boolean) {
  return {
    ...(token || (definition.strategy.alwaysShowsContinue && !transformed) ? { continue: token } : {}),
    resourceVersion: String(revision),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  }
}

/** An item of a list. Go's typed lists leave out kind and apiVersion. */
export function itemOf(served: Served, object: KubeObject): unknown {
  if (served.definition.strategy.itemsCarryType) return object
  const { kind: _k, apiVersion: _v, ...rest } = object
  return rest
}

/** Returns the JSON of a list, assembled from the stored JSON of its objects. No object is encoded again. */
function listWriter(served: Served, listing: Listing, metadata: unknown): Writer {
  const { names, strategy } = served.definition
  const { views } = listing
  const head = `{"kind":${JSON.stringify(names.listKind)},"apiVersion":${JSON.stringify(served.apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`
  // The stored JSON starts with kind and version. An item without them starts after them.
  const skip = strategy.itemsCarryType ? 0 : `"kind":"${names.kind}","apiVersion":"${served.apiVersion}",`.length
  const out = new Writer(bytesIn(views) + views.length + ROW_BYTES)
  out.text(head)
  for (let i = 0; i < views.length; i++) {
    const { object, bytes } = views[i]!
    if (i > 0) out.copy(comma)
    if (bytes && skip === 0) out.copy(bytes)
    else if (bytes && startsWithKind(bytes)) {
      out.copy(brace)
      out.copy(bytes, 1 + skip)
    } else out.text(stringify(itemOf(served, object)))
  }
  out.text(']}\n')
  return out
}

/** The approximate size of a table row besides the metadata of its object. */
const ROW_BYTES = 512

/** Returns the JSON of a table, assembled from the stored JSON of its objects. */
function tableWriter({ media, now }: Reply, served: Served, { views }: Listing, metadata: unknown): Writer {
  const out = new Writer(bytesIn(views) + (views.length + 1) * ROW_BYTES)
  const empty = stringify(inMetaVersion(media, table(served, [], metadata)))
  out.text(empty.slice(0, -']}'.length))
  for (let i = 0; i < views.length; i++) {
    if (i > 0) out.copy(comma)
    writeTableRow(out, served, views[i]!, now)
  }
  out.text(']}\n')
  return out
}

function bytesIn(views: readonly View[]): number {
  return views.reduce((total, { bytes }) => total + (bytes?.length ?? 0), 0)
}

const comma = encoder.encode(',')
const brace = encoder.encode('{')
const LETTER_K = 'k'.charCodeAt(0)

function startsWithKind(bytes: Uint8Array): boolean {
  return bytes[2] === LETTER_K
}

function table(served: Served, rows: readonly unknown[], metadata: unknown) {
  return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions: columnDefinitions(served), rows }
}

/** Sends an error as a Status. */
export async function sendError(reply: Omit<Reply, 'now'>, error: unknown): Promise<void> {
  const failure = asStatusError(error)
  const status: Status = failure.toStatus()
  const retry = failure.details?.retryAfterSeconds
  const headers: Headers = {
    ...(retry ? { 'retry-after': String(retry) } : {}),
    ...(failure instanceof AccessDeniedError ? { 'x-content-type-options': 'nosniff' } : {}),
  }
  await sendValue({ ...reply, now: 0, media: plain(reply.media) }, failure.code, status, headers)
}

function plain(media: Media): Media {
  return { ...media, as: undefined }
}

/** Returns the error itself or, for an unexpected error, a 500. */
export function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  const message = error instanceof Error ? error.message : String(error)
  const details = { causes: [{ message }] }
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { cause: error, details })
}

async function sendWritten(reply: Reply, out: Writer): Promise<void> {
  await send(reply, 200, [out.bytes], {}, () => out.release())
}

/** @param sent Called when the chunks are no longer read. Not called when the client disconnects before. */
async function send(
  reply: Reply,
  status: number,
  chunks: readonly Uint8Array[],
  extra: Headers = {},
  sent?: () => void,
): Promise<void> {
  const { exchange, media, warnings } = reply
  const headers: Headers = { 'content-type': media.contentType, 'cache-control': 'no-cache, private', ...extra }
  if (warnings.length > 0) headers['warning'] = warningHeaders(warnings)
  const size = chunks.reduce((total, chunk) => total + chunk.byteLength, 0)
  if (size < GZIP_BYTES_MIN || !acceptsGzip(exchange)) {
    exchange.respond(status, headers, chunks, sent)
    return
  }
  const packed = await compress(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), { level: GZIP_LEVEL })
  sent?.()
  exchange.respond(status, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, packed)
}

function acceptsGzip({ headers }: Exchange): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(headers['accept-encoding'] ?? ''))
}
