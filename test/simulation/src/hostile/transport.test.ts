// Attacks on the transport by a service account, on real sockets. The account has only the permissions of every
// authenticated user, except in the attack over WebSocket and after it: a watch needs the role `view`. Each attack
// asserts that the server survives, that its memory is bounded, and that it still serves health checks and an
// administrator.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { KubeconfigContent } from '@crosstie/apiserver'
import { Api } from '../program/api.js'
import { pause } from '../program/program.js'
import type { Held, Hello } from './messages.js'

const MEGABYTE = 1 << 20
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const MAPS = '/api/v1/namespaces/default/configmaps'
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const GROWTH_MAX = 600 * MEGABYTE
/** Generous, because the machine may be busy with other tests. */
const LATENCY_MAX_MS = 5_000
const DESCRIPTORS = 256

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-transport-'))
const complaints: string[] = []
let victim: ChildProcess
let access: KubeconfigContent
let api: Api
let token: string

before(async () => {
  const program = fileURLToPath(new URL('./victim.js', import.meta.url))
  // A low limit of file descriptors for all attacks.
  const command = `ulimit -n ${DESCRIPTORS}; exec "$0" --expose-gc "$1" "$2" 10000`
  victim = spawn('/bin/sh', ['-c', command, process.execPath, program, join(home, 'data')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  victim.on('message', ({ complaint }: { complaint?: string }) => {
    if (complaint) complaints.push(complaint)
  })
  access = (await nextMessage<Hello>('access')).access
  api = new Api(access)
  assert.equal((await api.send('POST', ACCOUNTS, { metadata: { name: 'attacker' } })).status, 201)
  const issued = await api.send('POST', `${ACCOUNTS}/attacker/token`, { spec: { expirationSeconds: 3600 } })
  token = (issued.body as unknown as { status: { token: string } }).status.token
})

after(async () => {
  api?.close()
  assert.equal(victim.exitCode, null, 'the process survives')
  assert.deepEqual(complaints, [], 'no internal error')
  victim.kill()
  await once(victim, 'exit')
  fs.rmSync(home, { recursive: true, force: true })
})

async function resident(): Promise<number> {
  victim.send('measure')
  return (await nextMessage<Held>('rss')).rss
}

async function nextMessage<T>(member: keyof T & string): Promise<T> {
  for (;;) {
    const [message] = (await once(victim, 'message')) as [object]
    if (member in message) return message as T
  }
}

const headers = () => ({ authorization: `Bearer ${token}` })

function attackerSession(settings: object = {}): ClientHttp2Session {
  const session = connectHttp2(access.server, { ca: access.ca, settings, maxSessionMemory: 500 })
  session.on('error', () => {})
  return session
}

async function attackerSocket(protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const { hostname, port } = new URL(access.server)
  const socket = connectTls({ host: hostname, port: Number(port), ca: access.ca, ALPNProtocols: [protocol] })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

/** Resolves on close. Unlike `once`, it does not reject on an earlier error. */
function closing(one: { once(event: 'close', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => one.once('close', resolve))
}

let sequence = 0

/** Asserts that health checks and reads and writes of an administrator work during an attack. */
async function othersAreServed(): Promise<number> {
  const started = performance.now()
  const fresh = new Api(access)
  try {
    for (const path of ['/livez', '/readyz', MAPS]) assert.equal((await fresh.send('GET', path)).status, 200, path)
    const { status } = await fresh.send('POST', MAPS, { metadata: { name: `written-${sequence++}` } })
    assert.equal(status, 201)
  } finally {
    fresh.close()
  }
  const took = performance.now() - started
  assert.ok(took < LATENCY_MAX_MS, `four requests of others took ${took.toFixed(0)} ms`)
  return took
}

/** Runs an attack and reports its cost. */
async function survives(attack: () => Promise<() => void>): Promise<string> {
  const before = await resident()
  const end = await attack()
  try {
    const took = await othersAreServed()
    const grown = (await resident()) - before
    assert.ok(grown < GROWTH_MAX, `${(grown / MEGABYTE).toFixed(0)} MB more`)
    return `${(grown / MEGABYTE).toFixed(0)} MB more, four requests of others in ${took.toFixed(0)} ms`
  } finally {
    end()
  }
}

test('requests whose responses are not read', { timeout: 120_000 }, async (t) => {
  const report = await survives(async () => {
    const session = attackerSession({ initialWindowSize: 0 })
    let answered = 0
    const streams = Array.from({ length: 268 }, () => {
      const stream = session.request({ ':path': '/openapi/v2', ...headers() })
      stream.on('error', () => {})
      stream.on('response', () => answered++)
      return stream
    })
    const deadline = Date.now() + 20_000
    while (answered < streams.length && !session.destroyed && Date.now() < deadline) await pause(20)
    return () => session.destroy()
  })
  t.diagnostic(report)
})

test('request bodies that are not finished', { timeout: 120_000 }, async (t) => {
  const chunk = Buffer.alloc(MEGABYTE, 0x20)
  let sent = 0
  const report = await survives(async () => {
    const sessions = Array.from({ length: 4 }, () => attackerSession())
    const uploads = sessions.flatMap((session) =>
      Array.from({ length: 60 }, async () => {
        const head = { ':method': 'POST', ':path': REVIEWS, 'content-type': 'application/json', ...headers() }
        const stream = session.request(head)
        stream.on('error', () => {})
        stream.resume()
        await Promise.race([
          once(stream, 'close'),
          new Promise((resolve) => stream.write(chunk, resolve)),
          pause(5_000),
        ])
        sent += MEGABYTE
      }),
    )
    await Promise.all(uploads.map((one) => one.catch(() => {})))
    return () => {
      for (const session of sessions) session.destroy()
    }
  })
  t.diagnostic(`${sent / MEGABYTE} MB offered: ${report}`)
})

test('WebSocket pings without reading', { timeout: 120_000 }, async (t) => {
  // Any authenticated user may read discovery. A watch needs a separate permission.
  const binding = {
    metadata: { name: 'attacker-views' },
    subjects: [{ kind: 'ServiceAccount', name: 'attacker', namespace: 'default' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
  assert.equal((await api.send('POST', bindings, binding)).status, 201)
  let written = 0
  const report = await survives(async () => {
    const socket = await attackerSocket('http/1.1')
    const key = randomBytes(16).toString('base64')
    const lines = [
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${key}`,
    ]
    const rest = [...lines, 'origin: https://a.example', `authorization: Bearer ${token}`, 'host: a'].join('\r\n')
    socket.write(`GET ${MAPS}?watch=true HTTP/1.1\r\n${rest}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 101 /)
    socket.pause()
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 0x61)])
    const pings = Buffer.concat(Array(500).fill(ping))
    let closed = false
    socket.on('close', () => {
      closed = true
    })
    while (!closed && written < 55 * MEGABYTE) {
      written += pings.length
      await Promise.race([new Promise((resolve) => socket.write(pings, resolve)), closing(socket), pause(2_000)])
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(closed || written < 55 * MEGABYTE, 'the client is cut off')
    return () => socket.destroy()
  })
  t.diagnostic(`${(written / MEGABYTE).toFixed(1)} MB sent: ${report}`)
})

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const floods: Record<string, Buffer> = {
  SETTINGS: frame(4, 0, 0),
  PING: frame(6, 0, 0, Buffer.alloc(8)),
  'PRIORITY on idle streams': frame(2, 0, 101, Buffer.from([0, 0, 0, 0, 10])),
  'WINDOW_UPDATE of one byte': frame(8, 0, 0, Buffer.from([0, 0, 0, 1])),
  'frames of an unknown type': frame(0xee, 0, 0),
  'CONTINUATION without HEADERS': frame(9, 0, 1),
}

for (const [name, one] of Object.entries(floods)) {
  test(`a flood of ${name} frames ends the connection`, { timeout: 120_000 }, async (t) => {
    let written = 0
    const report = await survives(async () => {
      const socket = await attackerSocket('h2')
      socket.write(Buffer.concat([Buffer.from(PREFACE), frame(4, 0, 0)]))
      socket.resume()
      let closed = false
      socket.on('close', () => {
        closed = true
      })
      const many = Buffer.concat(Array(5_000).fill(one))
      const deadline = Date.now() + 30_000
      while (!closed && Date.now() < deadline) {
        written += many.length
        await Promise.race([new Promise((resolve) => socket.write(many, resolve)), closing(socket)])
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.ok(closed, 'the connection was not closed')
      return () => socket.destroy()
    })
    t.diagnostic(`closed after ${(written / MEGABYTE).toFixed(1)} MB: ${report}`)
  })
}

/** Returns a request for a large document, in HPACK without a dynamic table. */
function requestFrame(stream: number): Buffer {
  const value = Buffer.from(`Bearer ${token}`)
  const length = [0x7f]
  let rest = value.length - 0x7f
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80)
  length.push(rest)
  const path = Buffer.from('/openapi/v2')
  const block = [
    Buffer.from([0x82, 0x87, 0x04, path.length]),
    path,
    Buffer.from([0x0f, 0x08, ...length]), // authorization
    value,
  ]
  return frame(1, 5, stream, Buffer.concat(block))
}

/** The client cancels its requests, or provokes the server into resetting them (CVE-2023-44487, CVE-2025-8671). */
const resets: Record<string, (stream: number) => Buffer> = {
  'RST_STREAM of the client': (stream) => frame(3, 0, stream, Buffer.from([0, 0, 0, 8])),
  'a WINDOW_UPDATE of zero': (stream) => frame(8, 0, stream, Buffer.alloc(4)),
  'a window that overflows': (stream) => frame(8, 0, stream, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
  'DATA after the end': (stream) => frame(0, 0, stream, Buffer.from('x')),
}

for (const [name, reset] of Object.entries(resets)) {
  test(`requests that are reset by ${name} end the connection`, { timeout: 120_000 }, async (t) => {
    let requests = 0
    const report = await survives(async () => {
      const socket = await attackerSocket('h2')
      socket.write(Buffer.concat([Buffer.from(PREFACE), frame(4, 0, 0)]))
      socket.resume()
      let closed = false
      socket.on('close', () => {
        closed = true
      })
      while (!closed && requests < 20_000) {
        const batch: Buffer[] = []
        for (let i = 0; i < 50; i++) {
          const stream = 2 * requests++ + 1
          batch.push(requestFrame(stream), reset(stream))
        }
        const bytes = Buffer.concat(batch)
        await Promise.race([new Promise((resolve) => socket.write(bytes, resolve)), closing(socket)])
        await new Promise((resolve) => setImmediate(resolve))
      }
      const deadline = Date.now() + 20_000
      while (!closed && Date.now() < deadline) await pause(20)
      assert.ok(closed, `${requests} resets were accepted`)
      return () => socket.destroy()
    })
    t.diagnostic(`${requests} requests sent: ${report}`)
  })
}

test(`idle sockets beyond the descriptor limit of ${DESCRIPTORS} stop no write`, { timeout: 120_000 }, async (t) => {
  const { hostname, port } = new URL(access.server)
  const report = await survives(async () => {
    const sockets: Socket[] = []
    for (let i = 0; i < 2 * DESCRIPTORS; i++) {
      const socket = connectTcp({ host: hostname, port: Number(port) })
      socket.on('error', () => {})
      await Promise.race([once(socket, 'connect'), closing(socket), pause(2_000)]).catch(() => {})
      sockets.push(socket)
    }
    for (let i = 0; i < 50; i++) await othersAreServed()
    return () => {
      for (const socket of sockets) socket.destroy()
    }
  })
  t.diagnostic(report)
})

test('large writes over HTTP/1.1 all get an answer', { timeout: 300_000 }, async (t) => {
  const text = 'x'.repeat(200 * 1024)
  const { hostname, port } = new URL(access.server)
  const { ca, client } = access
  let answered = 0
  const worker = async (id: number, count: number) => {
    const socket = connectTls({ host: hostname, port: Number(port), ca, cert: client.cert, key: client.key })
    await once(socket, 'secureConnect')
    const reader = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const name = `large-${id}`
    for (let i = 0; i < count; i++) {
      const body = JSON.stringify({ metadata: { name }, data: { text, i: String(i) } })
      const line = i === 0 ? `POST ${MAPS}` : `PUT ${MAPS}/${name}`
      const head = `${line} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(head + body)
      assert.match(await response(reader), /^HTTP\/1\.1 20[01] /)
      answered++
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: 6 }, (_, id) => worker(id, 350)))
  assert.equal(answered, 2_100)
  t.diagnostic(`${answered} writes of 200 KB`)
})

/** Reads the next response with its body, and returns its head. */
async function response(reader: AsyncIterator<Buffer>): Promise<string> {
  let bytes = Buffer.alloc(0)
  const more = async () => {
    const { value, done } = await reader.next()
    assert.ok(!done, 'the connection ended without an answer')
    return value as Buffer
  }
  while (!bytes.includes('\r\n\r\n')) bytes = Buffer.concat([bytes, await more()])
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.subarray(0, end).toString()
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  let received = bytes.length - end - 4
  while (received < length) received += (await more()).length
  return head
}
