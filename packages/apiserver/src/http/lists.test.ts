import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect } from 'node:http2'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type Server, startServer } from '../server.js'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const NAMESPACES = ['red', 'green', 'blue']
const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true }
const namespaces = { group: '', version: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false }

let dataDir: string
let server: Server

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'crosstie-lists-'))
  server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const client = server.client()
  for (const name of NAMESPACES) {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const make = (i: number) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      // Both the list and the table are long, and their content names their namespace.
      metadata: { name: `${name}-${i}`, namespace: name, annotations: { long: `${name} `.repeat(4_000) } },
      data: { long: `${name} `.repeat(4_000) },
    })
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.create(configMaps, make(i))))
  }
})

after(async () => {
  await server?.close()
  await rm(dataDir, { recursive: true, force: true })
})

const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`

function identity() {
  const { ca, client } = server.adminAccess()
  return { ca, cert: client.cert, key: client.key }
}

function overHttp1(namespace: string, headers: Record<string, string>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const asks = { ...identity(), hostname, port, path: pathOf(namespace), headers, agent: false }
    request(asks, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve(Buffer.concat(chunks)))
      answer.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}

function overHttp2(session: ClientHttp2Session, namespace: string, headers: Record<string, string>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': pathOf(namespace), ...headers })
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve(Buffer.concat(chunks)))
    stream.on('error', reject)
  })
}

/** Sends a request, reads a part of the response and disconnects. */
function impatient(session: ClientHttp2Session, namespace: string): Promise<void> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': pathOf(namespace) })
    stream.once('data', () => stream.destroy())
    stream.on('error', () => {})
    stream.on('close', () => resolve())
  })
}

function check(bytes: Buffer, namespace: string, what: string): void {
  const { kind, items, rows } = JSON.parse(bytes.toString('utf8'))
  const metadata = items
    ? items.map((item: { metadata: unknown }) => item.metadata)
    : rows.map((row: { object: { metadata: unknown } }) => row.object.metadata)
  assert.ok(metadata.length >= 20, `${what}: ${kind} of ${metadata.length}`)
  for (const one of metadata) assert.equal(one.namespace, namespace, what)
  for (const other of NAMESPACES) {
    if (other !== namespace) assert.ok(!bytes.includes(`${other} `), `${what}: nothing of ${other}`)
  }
}

test('concurrent lists, plain, compressed or as tables, do not mix when clients disconnect', async () => {
  const session = connect(server.url, identity())
  try {
    const gzip = { 'accept-encoding': 'gzip' }
    const round = NAMESPACES.flatMap((namespace) => [
      overHttp2(session, namespace, {}).then((bytes) => check(bytes, namespace, 'list over HTTP/2')),
      overHttp2(session, namespace, { accept: TABLE }).then((bytes) => check(bytes, namespace, 'table over HTTP/2')),
      overHttp2(session, namespace, gzip).then((bytes) => check(gunzipSync(bytes), namespace, 'packed')),
      overHttp1(namespace, {}).then((bytes) => check(bytes, namespace, 'list over HTTP/1.1')),
      overHttp1(namespace, { accept: TABLE }).then((bytes) => check(bytes, namespace, 'table over HTTP/1.1')),
      impatient(session, namespace),
    ])
    await Promise.all(round)
    for (let i = 0; i < 12; i++) {
      const namespace = NAMESPACES[i % NAMESPACES.length]!
      await impatient(session, NAMESPACES[(i + 1) % NAMESPACES.length]!)
      check(await overHttp2(session, namespace, i % 2 ? { accept: TABLE } : {}), namespace, `sequentially, ${i}`)
    }
  } finally {
    session.destroy()
  }
})
