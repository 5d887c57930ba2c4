import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import os from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { KubeconfigContent } from '@crosstie/apiserver'
import { Api } from '../program/api.js'
import { pause } from '../program/program.js'
import type { Held, Hello } from './messages.js'

const MAPS = '/api/v1/namespaces/default/configmaps'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MEGABYTE = 1 << 20
const LATE_MS = 60_000

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-hostile-'))
const complaints: string[] = []
let victim: ChildProcess
let access: KubeconfigContent
let api: Api

before(async () => {
  const program = fileURLToPath(new URL('./victim.js', import.meta.url))
  victim = fork(program, [join(home, 'data')], { execArgv: ['--expose-gc'] })
  victim.on('message', (message: { complaint?: string }) => {
    if (message.complaint) complaints.push(message.complaint)
  })
  const hello = await new Promise<Hello>((resolve) => victim.once('message', (message) => resolve(message as Hello)))
  access = hello.access
  api = new Api(access)
})

after(async () => {
  api?.close()
  assert.equal(victim.exitCode, null, 'the process never dies')
  assert.deepEqual(complaints, [], 'nothing went wrong inside')
  victim.kill()
  await once(victim, 'exit')
  fs.rmSync(home, { recursive: true, force: true })
})

async function measure(): Promise<Held> {
  victim.send('measure')
  for (;;) {
    const [message] = (await once(victim, 'message')) as [Partial<Held>]
    if (message.heap !== undefined) return message as Held
  }
}

/** Repeats an action, and asserts that the memory and the handles that it leaves behind do not grow. */
async function leavesNothing(act: () => Promise<void>, allowedBytes = 6 * MEGABYTE): Promise<string> {
  await act() // Modules that are loaded or compiled once are not leaks.
  const first = await settled()
  for (let i = 0; i < 3; i++) await act()
  let last = await settled()
  // On a slow machine resources may be released late. Leaked resources are never released.
  for (const deadline = Date.now() + LATE_MS; remains(first, last, allowedBytes) !== ''; last = await settled()) {
    assert.ok(Date.now() < deadline, `after three more times: ${remains(first, last, allowedBytes)}`)
  }
  assert.equal((await api.send('GET', '/readyz')).status, 200)
  return `${inMegabytes(last.heap - first.heap)} MB heap grown, ${inMegabytes(last.rss)} MB resident`
}

function remains(first: Held, last: Held, allowedBytes: number): string {
  const grown = last.heap - first.heap
  if (grown >= allowedBytes) return `${inMegabytes(grown)} MB more`
  if (last.handles > first.handles + 5) return `${last.handles} handles, ${first.handles} before`
  if (last.watchers > first.watchers + 1) return `${last.watchers} watchers, ${first.watchers} before`
  return ''
}

const inMegabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1)

/** Returns the usage after closed connections are gone. */
async function settled(): Promise<Held> {
  let held = await measure()
  for (let i = 0; i < 20; i++) {
    await pause(100)
    const next = await measure()
    if (next.handles >= held.handles && next.heap > held.heap - MEGABYTE / 4) return next
    held = next
  }
  return held
}

function http2(window?: number): ClientHttp2Session {
  const { server, ca, client } = access
  const settings = window === undefined ? {} : { settings: { initialWindowSize: window } }
  const session = connectHttp2(server, { ca, cert: client.cert, key: client.key, ...settings })
  session.on('error', () => {})
  return session
}

async function raw(text: string): Promise<TLSSocket> {
  const { server, ca, client } = access
  const { hostname, port } = new URL(server)
  const socket = connectTls({ host: hostname, port: Number(port), ca, cert: client.cert, key: client.key })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.write(text)
  return socket
}

function open(session: ClientHttp2Session, method: string, path: string, type = 'application/json'): ClientHttp2Stream {
  const stream = session.request(
    { ':method': method, ':path': path, ...(method === 'GET' ? {} : { 'content-type': type }) },
    { endStream: method === 'GET' },
  )
  stream.on('error', () => {})
  return stream
}

const closed = (stream: ClientHttp2Stream) => new Promise<void>((resolve) => stream.on('close', resolve))

test('requests that are aborted by the thousand', { timeout: 600_000 }, async (t) => {
  const left = await leavesNothing(async () => {
    const session = http2()
    for (let i = 0; i < 500; i++) {
      const stream = open(session, i % 2 ? 'GET' : 'POST', i % 3 ? MAPS : `${MAPS}?watch=true`)
      const gone = closed(stream)
      if (i % 4 === 0) await new Promise((resolve) => setImmediate(resolve))
      stream.close(8)
      if (i % 50 === 0) await gone
    }
    session.destroy()
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => raw(`POST ${MAPS} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{"a`)),
    )
    for (const socket of sockets) socket.destroy()
  })
  t.diagnostic(left)
})

test('headers and bodies that never end', { timeout: 600_000 }, async (t) => {
  const left = await leavesNothing(async () => {
    const headers = await Promise.all(Array.from({ length: 20 }, () => raw('GET /api HTTP/1.1\r\nhost: a\r\nx-')))
    const session = http2()
    const answers = Array.from({ length: 50 }, () => {
      const stream = open(session, 'POST', MAPS)
      stream.write('{"metadata":')
      stream.resume()
      return new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))))
    })
    const statuses = new Set(await Promise.all(answers))
    assert.deepEqual([...statuses], [408], 'a body that does not come is waited for, but not forever')
    session.destroy()
    for (const socket of headers) socket.destroy()
  })
  t.diagnostic(left)
})

test('clients that never read what they asked for', { timeout: 600_000 }, async (t) => {
  const text = 'x'.repeat(50_000)
  for (let i = 0; i < 100; i++) {
    const { status } = await api.send('POST', MAPS, { metadata: { name: `big-${i}` }, data: { text } })
    assert.equal(status, 201)
  }
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  let most = 0
  const left = await leavesNothing(async () => {
    // Node limits the memory of one connection by refusing streams, so the attack uses several connections.
    const sessions = Array.from({ length: 12 }, () => http2(0))
    const watches = sessions.map((session) => open(session, 'GET', `${MAPS}?${query}`))
    await Promise.all(watches.map((stream) => once(stream, 'response')))
    const cut = Promise.all(sessions.map((session) => closed(open(session, 'GET', MAPS))))
    most = Math.max(most, (await measure()).rss)
    for (let i = 0; i < 30; i++) {
      const { status } = await api.send(
        'PATCH',
        `${MAPS}/big-${i}`,
        { data: { i: `${Math.random()}` } },
        'application/merge-patch+json',
      )
      assert.equal(status, 200, 'others are served meanwhile')
    }
    await cut
    for (const session of sessions) session.destroy()
  }, 20 * MEGABYTE)
  assert.ok(most < 1024 * MEGABYTE, `${most / MEGABYTE} MB`)
  t.diagnostic(`${left}, at most ${(most / MEGABYTE).toFixed(0)} MB`)
  assert.equal((await api.send('DELETE', MAPS)).status, 200)
})

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
const garbage: Record<string, string> = {
  json: `{"metadata":{"name":"a"},"data":${nested('[', ']', 5_000)}}`,
  yaml: `data: ${nested('{a: ', '}', 3_000)}`,
  broken: '{"metadata":{"name":"a"'.repeat(1_000),
  unknown: `{"metadata":{"name":"_"},${Array.from({ length: 5_000 }, (_, i) => `"f${i}":1`).join(',')}}`,
}

test('bodies that are refused', { timeout: 600_000 }, async (t) => {
  const session = http2()
  const left = await leavesNothing(async () => {
    for (let i = 0; i < 50; i++) {
      for (const [name, body] of Object.entries(garbage)) {
        const type = name === 'yaml' ? 'application/yaml' : 'application/json'
        const stream = open(session, 'POST', MAPS, type)
        stream.end(body)
        stream.resume()
        const [head] = (await once(stream, 'response')) as [{ ':status': number }]
        assert.ok(head[':status'] >= 400 && head[':status'] < 500, `${name}: ${head[':status']}`)
      }
    }
  })
  session.destroy()
  t.diagnostic(left)
})

test('definitions by the hundred, made and deleted', { timeout: 600_000 }, async (t) => {
  const count = 100
  const measured: string[] = []
  const left = await leavesNothing(async () => {
    const empty = await settled()
    const started = performance.now()
    for (let i = 0; i < count; i++) assert.equal((await api.send('POST', CRDS, definition(i))).status, 201)
    const each = (performance.now() - started) / count
    while ((await api.send('GET', `/apis/many.example.org/v1/things${count - 1}`)).status !== 200) await pause(20)
    const bytes = ((await settled()).heap - empty.heap) / count
    measured.push(`${each.toFixed(1)} ms and ${(bytes / 1024).toFixed(0)} kB each`)
    for (let i = 0; i < count; i++) await api.send('DELETE', `${CRDS}/things${i}.many.example.org`)
    while (((await api.send('GET', CRDS)).body.items ?? []).length > 0) await pause(50)
  }, 16 * MEGABYTE)
  t.diagnostic(`${left}; ${measured.at(-1)}`)
})

function definition(i: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`field${n}`, { type: 'string', maxLength: 20, description: 'a field' }]),
  )
  const rules = [{ rule: 'self.field0 != self.field1' }]
  const spec = { type: 'object', properties, 'x-kubernetes-validations': rules }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const names = { plural: `things${i}`, kind: `Thing${i}` }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const metadata = { name: `things${i}.many.example.org` }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata,
    spec: { group: 'many.example.org', scope: 'Cluster', names, versions },
  }
}
