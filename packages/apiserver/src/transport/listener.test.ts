import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:http2'
import { Agent, request as requestHttp1 } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import type { Exchange } from './exchange.js'
import { type Answer, answerOf, echo, request, serve, until, Workbench } from './testing.js'

const MEBIBYTE = 1024 * 1024
const bench = new Workbench()

before(() => bench.prepare())
afterEach(() => bench.clear())
after(() => bench.remove())

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('HTTP/2: bodies of any size pass in both directions through small and large windows', async () => {
  const port = await bench.listen(echo)
  const sizes = [0, 1, 100, 16_383, 16_384, 16_385, 65_535, 65_536, 300_000, 2 * MEBIBYTE, 3 * MEBIBYTE]
  for (const initialWindowSize of [1_000, 65_535, 4 * MEBIBYTE]) {
    const client = bench.session(port, { settings: { initialWindowSize } })
    const bodies = sizes.flatMap((size) => [randomBytes(size), randomBytes(size)])
    const answers = await Promise.all(bodies.map((body) => request(client, '/', body)))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.length, digest(body)]),
      bodies.map((body) => [200, body.length, digest(body)]),
      `window ${initialWindowSize}`,
    )
  }
})

test('HTTP/2: a body that is too large is refused, and the connection serves further requests', async () => {
  const client = bench.session(await bench.listen(echo))
  const announced = client.request({ ':path': '/', ':method': 'POST', 'content-length': String(50 * MEBIBYTE) })
  assert.equal((await answerOf(announced)).status, 413)
  const growing = client.request({ ':path': '/', ':method': 'POST' })
  growing.on('error', () => {})
  growing.write(randomBytes(5 * MEBIBYTE))
  assert.equal((await answerOf(growing)).status, 413)
  assert.equal((await request(client, '/', Buffer.from('small'))).body.toString(), 'small')
})

test('HTTP/2: 100 Continue is sent before the body is awaited, unless the body is too large', async () => {
  const client = bench.session(await bench.listen(echo))
  const announce = (bytes: number) =>
    client.request({ ':path': '/', ':method': 'POST', expect: '100-continue', 'content-length': String(bytes) })
  const accepted = announce(5)
  accepted.on('continue', () => accepted.end('hello'))
  assert.equal((await answerOf(accepted)).body.toString(), 'hello')
  const refused = announce(50 * MEBIBYTE)
  refused.on('continue', () => assert.fail('the server asks for a body that is too large'))
  assert.equal((await answerOf(refused)).status, 413)
})

function postWithExpect(port: number, bytes: number, onContinue: (send: () => void) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', ca: bench.ca, method: 'POST', agent: new Agent() }
    const headers = { expect: '100-continue', 'content-length': String(bytes) }
    const post = requestHttp1({ ...options, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }))
    })
    post.on('continue', () => onContinue(() => post.end(Buffer.alloc(bytes, 'x'))))
    post.on('error', reject)
    post.flushHeaders()
  })
}

test('HTTP/1.1: 100 Continue is sent before the body is awaited, unless the body is too large', async () => {
  const port = await bench.listen(echo)
  const accepted = await postWithExpect(port, 200_000, (send) => send())
  assert.deepEqual([accepted.status, accepted.body.length], [200, 200_000])
  const fail = () => assert.fail('the server asks for a body that is too large')
  assert.equal((await postWithExpect(port, 50 * MEBIBYTE, fail)).status, 413)
})

test('HTTP/2: a slow reader delays no other stream, and its response is dropped after the timeout', async () => {
  let aborted = false
  const respond = (exchange: Exchange) =>
    serve(exchange, () => {
      if (exchange.url !== '/large') return exchange.respond(200, {}, Buffer.from('quick'))
      exchange.signal.addEventListener('abort', () => {
        aborted = true
      })
      exchange.respond(200, {}, randomBytes(20 * MEBIBYTE))
    })
  const client = bench.session(await bench.listen((exchange) => void respond(exchange), { requestTimeoutMs: 2_000 }))
  const slow = client.request({ ':path': '/large' })
  slow.pause()
  const reset = new Promise<number | undefined>((resolve) => {
    slow.on('error', () => {})
    slow.on('close', () => resolve(slow.rstCode))
  })
  for (let i = 0; i < 20; i++) assert.equal((await request(client, '/quick')).body.toString(), 'quick')
  assert.equal(await reset, constants.NGHTTP2_CANCEL)
  assert.ok(aborted)
})

test('a client with too many unread responses gets 429, and other clients are served', async () => {
  const body = Buffer.alloc(2 * MEBIBYTE)
  const port = await bench.listen((exchange) => void serve(exchange, () => exchange.respond(200, {}, body)))
  const lazy = bench.session(port, { settings: { initialWindowSize: 0 } })
  const statuses: number[] = []
  for (let i = 0; i < 100; i++) {
    const stream = lazy.request({ ':path': '/', 'x-user': 'lazy' })
    stream.on('error', () => {})
    stream.on('response', (headers) => statuses.push(Number(headers[':status'])))
  }
  await until(() => statuses.length === 100)
  const served = statuses.filter((status) => status === 200).length
  assert.ok(served >= 60 && served <= 65, `${served} responses of 2 MiB are half of 256 MiB`)
  assert.equal(statuses.filter((status) => status === 429).length, 100 - served)
  const answer = await request(bench.session(port), '/', undefined, 'other')
  assert.deepEqual([answer.status, answer.body.length], [200, body.length])
})

test('a stream that its client does not read reports its unsent bytes', async () => {
  let refusedAfter = 0
  let drained = false
  const event = Buffer.alloc(10_000)
  const port = await bench.listen((exchange) => {
    exchange.admit({ name: 'user', exempt: false }, 'watch')
    const outgoing = exchange.stream(200, {})
    outgoing.onDrain(() => {
      drained = true
    })
    while (outgoing.write(event)) refusedAfter += event.length
    assert.ok(outgoing.waiting > 0)
  })
  const stream = bench.session(port).request({ ':path': '/' })
  stream.on('error', () => {})
  await until(() => refusedAfter > 0)
  assert.ok(refusedAfter < MEBIBYTE, `${refusedAfter} bytes were written to a client that does not read`)
  stream.resume()
  await until(() => drained)
})

test('HTTP/2: events of many streams on one connection arrive in order until the client cancels', async () => {
  const EVENTS = 500
  const gone: string[] = []
  const port = await bench.listen((exchange) => {
    const outgoing = exchange.stream(200, {})
    exchange.signal.addEventListener('abort', () => gone.push(exchange.url))
    for (let i = 0; i < EVENTS; i++) outgoing.write(Buffer.from(`${exchange.url} ${i}\n`))
    setImmediate(() => outgoing.write(Buffer.from('last\n')))
  })
  const client = bench.session(port)
  const paths = Array.from({ length: 50 }, (_, index) => `/${index}`)
  const read = paths.map((path) => {
    const stream = client.request({ ':path': path })
    return new Promise<string>((resolve) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (!text.endsWith('last\n')) return
        resolve(text)
        stream.close(constants.NGHTTP2_CANCEL)
      })
    })
  })
  const want = (path: string) => `${Array.from({ length: EVENTS }, (_, index) => `${path} ${index}\n`).join('')}last\n`
  assert.deepEqual(await Promise.all(read), paths.map(want))
  await until(() => gone.length === paths.length)
})

test('HTTP/2: requests under way are answered before the server stops', async () => {
  const waiting: Exchange[] = []
  const listener = await bench.listener((exchange) => waiting.push(exchange))
  const client = bench.session(listener.address.port)
  const answer = request(client, '/')
  await until(() => waiting.length === 1)
  const goaway = new Promise<number>((resolve) => client.on('goaway', resolve))
  const closed = new Promise((resolve) => client.on('close', resolve))
  const stopped = listener.close(60_000)
  assert.equal(await goaway, constants.NGHTTP2_NO_ERROR)
  waiting[0]!.respond(200, {}, Buffer.from('late'))
  assert.equal((await answer).body.toString(), 'late')
  await Promise.all([closed, stopped])
})

test('HTTP/1.1: requests under way are answered before the server stops, idle connections are closed', async () => {
  const waiting: Exchange[] = []
  const listener = await bench.listener((exchange) => waiting.push(exchange))
  const { port } = listener.address
  const idle = await bench.socket(port, 'http/1.1')
  const busy = await bench.socket(port, 'http/1.1')
  idle.resume()
  busy.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  let text = ''
  busy.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const closed = [idle, busy].map((socket) => new Promise((resolve) => socket.on('close', resolve)))
  await until(() => waiting.length === 1)
  const stopped = listener.close(60_000)
  await closed[0]
  waiting[0]!.respond(200, {}, Buffer.from('late'))
  await Promise.all([...closed, stopped])
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*late$/is)
})

test('a stop cuts off requests that outlast the grace period', async () => {
  let begun = false
  const listener = await bench.listener(() => {
    begun = true
  })
  const client = bench.session(listener.address.port)
  const stream = client.request({ ':path': '/' })
  stream.on('error', () => {})
  await until(() => begun)
  const closed = new Promise((resolve) => client.on('close', resolve))
  await Promise.all([listener.close(50), closed])
})

test('connections without a handshake, without a request and without further requests are closed', async () => {
  const short = { handshakeTimeoutMs: 500, headerTimeoutMs: 1_000, idleTimeoutMs: 500 }
  const port = await bench.listen(echo, short)
  const silent = connectTcp({ port, host: '127.0.0.1' })
  silent.on('error', () => {})
  const half = await bench.socket(port, 'http/1.1')
  half.write('GET / HTTP/1.1\r\nhost: a\r\nx-slow: ')
  half.resume()
  const unused = await bench.raw(port)
  const idle = await bench.socket(port, 'http/1.1')
  idle.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const client = bench.session(port)
  const closed = [silent, half, unused.socket, idle, client].map(
    (one) => new Promise((resolve) => one.on('close', resolve)),
  )
  let answered = ''
  idle.on('data', (chunk: Buffer) => {
    answered += chunk
  })
  assert.equal((await request(client, '/')).status, 200)
  await Promise.all(closed)
  assert.match(answered, /^HTTP\/1\.1 200 /)
})

test('a connection with a request under way is not idle', async () => {
  const waiting: Exchange[] = []
  const port = await bench.listen((exchange) => waiting.push(exchange), { headerTimeoutMs: 200, idleTimeoutMs: 200 })
  const idle = bench.session(port)
  const busy = bench.session(port)
  const answer = request(busy, '/')
  await until(() => waiting.length === 1)
  // Another connection, opened before, is closed by the same check.
  await new Promise((resolve) => (idle.closed ? resolve(undefined) : idle.on('close', resolve)))
  waiting[0]!.respond(200, {}, Buffer.from('late'))
  assert.equal((await answer).body.toString(), 'late')
})
