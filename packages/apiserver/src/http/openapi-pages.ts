import { gzipSync } from 'node:zlib'
import type { Definition } from '../definitions/definition.js'
import { type OpenApiDocument, openApiV2, openApiV3, openApiV3Index, openApiV3Plain } from '../openapi/document.js'
import type { Exchange, Headers } from '../transport/exchange.js'
import type { Page } from './serve.js'

const JSON_TYPE = 'application/json'
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const GZIP_MIN = 128 * 1024

/** `/openapi/v2`, `/openapi/v3` and the documents below, derived from the kinds that are served now. */
export function openApiPages(definitions: () => readonly Definition[]): [string, Page][] {
  return [
    ['/openapi/v2', (exchange) => serveV2(exchange, definitions())],
    // kube-apiserver sends no content type for the index. This is what Go detects.
    ['/openapi/v3', (exchange) => send(exchange, openApiV3Index(definitions()), 'text/plain; charset=utf-8')],
    ['/openapi/v3/', (exchange, { path, query }) => serveV3(exchange, definitions(), path, query)],
  ]
}

function serveV2(exchange: Exchange, definitions: readonly Definition[]): void {
  const document = openApiV2(definitions)
  // client-go requests the type with an @, which is not a valid media type. kube-apiserver answers with a dot.
  const wantsProtobuf = /proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(exchange.headers.accept ?? '')
  if (wantsProtobuf) send(exchange, { json: document.protobuf, hash: document.hash }, V2_PROTOBUF)
  else send(exchange, document, JSON_TYPE)
}

function serveV3(exchange: Exchange, definitions: readonly Definition[], path: string, query: URLSearchParams): void {
  const [root, ...rest] = path.slice('/openapi/v3/'.length).split('/')
  const [group, version] = root === 'api' && rest.length === 1 ? ['', rest[0]!] : rest
  const known = (root === 'api' && rest.length === 1) || (root === 'apis' && rest.length === 2)
  const plain = openApiV3Plain(path.slice('/openapi/v3/'.length))
  const document = known ? openApiV3(definitions, group!, version!) : plain
  if (!document) {
    exchange.respond(404, {})
    return
  }
  const asked = query.get('hash')
  if (asked !== null && asked !== document.hash) {
    exchange.respond(301, { location: `${path}?hash=${document.hash}` })
    return
  }
  // A URL with a hash always has the same content, so clients may cache it without a limit.
  send(exchange, document, JSON_TYPE, asked === null ? {} : immutable())
}

const YEAR_SECONDS = 365 * 24 * 3600

function immutable(): Headers {
  const expires = new Date(Date.now() + YEAR_SECONDS * 1000).toUTCString()
  return { 'cache-control': 'public, immutable', expires }
}

const zipped = new WeakMap<Buffer, Buffer>()

function send(exchange: Exchange, { json, hash }: OpenApiDocument, contentType: string, extra: Headers = {}): void {
  const etag = `"${hash}"`
  const headers: Headers = { etag, vary: 'Accept', 'cache-control': 'no-cache, private', ...extra }
  if (matches(exchange.headers['if-none-match'], etag)) {
    exchange.respond(304, headers)
    return
  }
  const gzip = json.length >= GZIP_MIN && /\bgzip\b/.test(String(exchange.headers['accept-encoding'] ?? ''))
  const body = gzip ? zip(json) : json
  exchange.respond(
    200,
    { ...headers, 'content-type': contentType, ...(gzip ? { 'content-encoding': 'gzip' } : {}) },
    exchange.method === 'HEAD' ? undefined : body,
  )
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*')
}

function zip(bytes: Buffer): Buffer {
  let found = zipped.get(bytes)
  if (!found) {
    found = gzipSync(bytes, { level: 4 })
    zipped.set(bytes, found)
  }
  return found
}
