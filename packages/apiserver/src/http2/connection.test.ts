import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { openPki } from '../access/pki.js'
import type { Exchange } from '../http/exchange.js'
import { Listener } from '../http/tls.js'
import { FrameReader, frameHeader, type IncomingFrame, numbersFrame, settingsFrame } from './frames.js'
import { HeaderDecoder } from './hpack.js'
import { Code, Flag, Frame, PREFACE, Setting } from './protocol.js'

const MB = 1024 * 1024
let folder = ''
let tls: { cert: string; key: string; clientCa: string }
const open: { close(): unknown }[] = []
const reported: unknown[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-http2-'))
  const { serving, ca } = await openPki({ dataDir: folder, host: '127.0.0.1', clock: { now: Date.now } })
  tls = { ...serving, clientCa: ca }
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  assert.deepEqual(reported.splice(0), [], 'nothing went wrong inside')
})
after(() => rm(folder, { recursive: true, force: true }))

async function openListener(handle: (exchange: Exchange) => void, requestTimeoutMs = 60_000): Promise<Listener> {
  const report = (what: string, error: unknown) => reported.push(what, error)
  return await Listener.open({ ...tls, host: '127.0.0.1', port: 0, requestTimeoutMs, report }, handle)
}

async function listen(handle: (exchange: Exchange) => void, requestTimeoutMs?: number): Promise<number> {
  const listener = await openListener(handle, requestTimeoutMs)
  open.push({ close: () => listener.close(0) })
  return listener.address.port
}

/** Answers with what it was sent. */
const echo = (exchange: Exchange) => {
  exchange.body().then(
    (body) => exchange.respond(200, { 'content-type': 'text/plain' }, body),
    (error) => exchange.respond(error.code, {}, Buffer.from(error.message)),
  )
}

function session(port: number, options: object = {}): ClientHttp2Session {
  const client = connectHttp2(`https://127.0.0.1:${port}`, { ca: tls.clientCa, maxSessionMemory: 1_000, ...options })
  client.on('error', () => {})
  open.push({ close: () => client.destroy() })
  return client
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: Buffer
}

function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let headers: Record<string, unknown> = {}
    stream.on('response', (given) => {
      headers = given
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve({ status: Number(headers[':status']), headers, body: Buffer.concat(chunks) }))
    stream.on('error', reject)
  })
}

function ask(client: ClientHttp2Session, path: string, body?: Buffer): Promise<Answer> {
  const stream = client.request({ ':path': path, ':method': body ? 'POST' : 'GET' })
  stream.end(body)
  return answerOf(stream)
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('bodies of any size come and go whole, many at once, through windows small and large', async () => {
  const port = await listen(echo)
  const sizes = [0, 1, 100, 16_383, 16_384, 16_385, 65_535, 65_536, 300_000, 2 * MB, 3 * MB]
  for (const initialWindowSize of [1_000, 65_535, 4 * MB]) {
    const client = session(port, { settings: { initialWindowSize } })
    const bodies = sizes.flatMap((size) => [randomBytes(size), randomBytes(size)])
    const answers = await Promise.all(bodies.map((body) => ask(client, '/', body)))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.length, digest(body)]),
      bodies.map((body) => [200, body.length, digest(body)]),
      `window ${initialWindowSize}`,
    )
  }
})

test('a body that is announced or comes too large is refused, and the connection goes on', async () => {
  const port = await listen(echo)
  const client = session(port)
  const announced = client.request({ ':path': '/', ':method': 'POST', 'content-length': String(50 * MB) })
  announced.on('error', () => {})
  assert.equal((await answerOf(announced)).status, 413)
  const growing = client.request({ ':path': '/', ':method': 'POST' })
  growing.on('error', () => {})
  growing.write(randomBytes(5 * MB))
  assert.equal((await answerOf(growing)).status, 413)
  assert.equal((await ask(client, '/', Buffer.from('small'))).body.toString(), 'small')
})

test('who asks first is told to go on with the body, unless it will be too large', async () => {
  const client = session(await listen(echo))
  const asks = (bytes: number) =>
    client.request({ ':path': '/', ':method': 'POST', expect: '100-continue', 'content-length': String(bytes) })
  const polite = asks(5)
  polite.on('continue', () => polite.end('hello'))
  assert.equal((await answerOf(polite)).body.toString(), 'hello')
  const refused = asks(50 * MB)
  refused.on('continue', () => assert.fail('the body is not wanted'))
  refused.on('error', () => {})
  assert.equal((await answerOf(refused)).status, 413)
})

test('what one reader leaves lying keeps no other waiting, and is dropped after its time', async () => {
  let closed = false
  const port = await listen((exchange) => {
    if (exchange.url === '/large') {
      exchange.signal.addEventListener('abort', () => {
        closed = true
      })
      exchange.respond(200, {}, randomBytes(20 * MB))
    } else exchange.respond(200, {}, Buffer.from('quick'))
  }, 300)
  const client = session(port)
  const lazy = client.request({ ':path': '/large' })
  lazy.pause()
  const gone = new Promise<number | undefined>((resolve) => {
    lazy.on('error', () => {})
    lazy.on('close', () => resolve(lazy.rstCode))
  })
  for (let i = 0; i < 20; i++) assert.equal((await ask(client, '/quick')).body.toString(), 'quick')
  assert.equal(await gone, constants.NGHTTP2_CANCEL)
  assert(closed)
})

test('an answer that goes on: in order, to many streams of one connection, until the client has enough', async () => {
  const EVENTS = 500
  const gone: string[] = []
  const port = await listen((exchange) => {
    const out = exchange.stream(200, {})
    exchange.signal.addEventListener('abort', () => gone.push(exchange.url))
    for (let i = 0; i < EVENTS; i++) out.write(Buffer.from(`${exchange.url} ${i}\n`))
    setImmediate(() => out.write(Buffer.from('last\n')))
  })
  const client = session(port)
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

test('a client that goes in the middle of its body is no request', async () => {
  const failures: string[] = []
  let begun = 0
  const port = await listen((exchange) => {
    begun++
    exchange.body().catch((error: Error) => failures.push(error.message))
  })
  for (const goes of [
    (raw: Raw) => raw.send(numbersFrame(Frame.RST_STREAM, 1, Code.CANCEL)),
    (raw: Raw) => raw.socket.destroy(),
  ]) {
    const raw = await Raw.connect(port)
    raw.send(post(1), frame(Frame.DATA, 0, 1, Buffer.from('half a ')))
    const before = begun
    await until(() => begun > before)
    goes(raw)
    await until(() => failures.length === begun)
  }
  assert.match(failures.join(), /ended before its body did.*ended before its body did/)
})

test('what was asked before the server stops is answered, and nothing new is begun', async () => {
  const waiting: Exchange[] = []
  const listener = await openListener((exchange) => waiting.push(exchange))
  const client = session(listener.address.port)
  const answer = ask(client, '/')
  await until(() => waiting.length === 1)
  const told = new Promise<number>((resolve) => client.on('goaway', resolve))
  const closed = new Promise((resolve) => client.on('close', resolve))
  const stopped = listener.close(30_000)
  assert.equal(await told, constants.NGHTTP2_NO_ERROR)
  waiting[0]!.respond(200, {}, Buffer.from('late'))
  assert.equal((await answer).body.toString(), 'late')
  await Promise.all([closed, stopped])
})

/** Speaks in frames, as no proper client would. */
class Raw {
  readonly frames: IncomingFrame[] = []
  closed = false
  readonly #decoder = new HeaderDecoder()

  private constructor(readonly socket: TLSSocket) {
    const reader = new FrameReader(Buffer.alloc(0))
    socket.on('data', (chunk: Buffer) => reader.read(chunk, (frame) => this.frames.push(frame)))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
    })
    open.push({ close: () => socket.destroy() })
  }

  static async connect(port: number, ...settings: (readonly [number, number])[]): Promise<Raw> {
    const socket = connectTls({ port, host: '127.0.0.1', ca: tls.clientCa, ALPNProtocols: ['h2'] })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    const raw = new Raw(socket)
    raw.send(PREFACE, settingsFrame(settings))
    return raw
  }

  send(...frames: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  async frame(type: number, matches: (frame: IncomingFrame) => boolean = () => true): Promise<IncomingFrame> {
    const find = () => this.frames.find((frame) => frame.type === type && matches(frame))
    await until(() => find() !== undefined || this.closed)
    const found = find()
    assert(found, `the connection ended without a frame of type ${type}`)
    return found
  }

  /** Why the server ends the connection. */
  async farewell(): Promise<number> {
    return (await this.frame(Frame.GOAWAY)).payload.readUInt32BE(4)
  }

  async status(stream: number): Promise<string> {
    const { payload } = await this.frame(Frame.HEADERS, (frame) => frame.stream === stream)
    let status = ''
    this.#decoder.decode(payload, ({ name, value }) => {
      if (name === ':status') status = value
    })
    return status
  }

  data(stream: number): Buffer {
    const frames = this.frames.filter((frame) => frame.type === Frame.DATA && frame.stream === stream)
    return Buffer.concat(frames.map(({ payload }) => payload))
  }
}

function literal(name: string, value: string): Buffer {
  const string = (text: string) => {
    assert(text.length < 127)
    return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
  }
  return Buffer.concat([Buffer.from([0]), string(name), string(value)])
}

function block(method = 'GET', path = '/', ...more: Buffer[]): Buffer {
  return Buffer.concat([literal(':method', method), literal(':scheme', 'https'), literal(':path', path), ...more])
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(type, flags, stream, payload.length), payload])
}

const get = (stream: number, path = '/') =>
  frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, stream, block('GET', path))
const post = (stream: number) => frame(Frame.HEADERS, Flag.END_HEADERS, stream, block('POST'))

test('a window is kept to the byte, whichever opens it', async () => {
  const port = await listen((exchange) => exchange.respond(200, {}, Buffer.from('0123456789')))
  const raw = await Raw.connect(port, [Setting.INITIAL_WINDOW_SIZE, 0])
  raw.send(get(1))
  assert.equal(await raw.status(1), '200')
  for (const size of [1, 2, 3]) {
    const before = raw.data(1).length
    raw.send(numbersFrame(Frame.WINDOW_UPDATE, 1, size))
    await until(() => raw.data(1).length === before + size)
  }
  raw.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 1]]))
  await until(() => raw.data(1).toString() === '0123456')
  raw.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 100]]))
  await until(() => raw.data(1).toString() === '0123456789')
  await raw.frame(Frame.DATA, ({ flags }) => (flags & Flag.END_STREAM) !== 0)
})

test('the window of the connection holds all streams back, and each gets its turn', async () => {
  const port = await listen((exchange) => exchange.respond(200, {}, Buffer.alloc(65_535, exchange.url.slice(1))))
  const raw = await Raw.connect(port)
  raw.send(get(1, '/a'), get(3, '/b'))
  const received = () => raw.data(1).length + raw.data(3).length
  await until(() => received() === 65_535)
  assert(raw.data(1).length >= 16_384 && raw.data(3).length >= 16_384, 'one after the other would be one of them whole')
  raw.send(numbersFrame(Frame.WINDOW_UPDATE, 0, 65_535))
  await until(() => received() === 2 * 65_535)
  assert.equal(raw.data(3).toString(), 'b'.repeat(65_535))
})

test('trailers end a request; HEAD has no body; headers may come in pieces and with padding', async () => {
  const port = await listen(echo)
  const raw = await Raw.connect(port)
  const trailers = frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, literal('checksum', 'x'))
  raw.send(post(1), frame(Frame.DATA, Flag.PADDED, 1, Buffer.from('\u0003bodyxxx', 'latin1')), trailers)
  await until(() => raw.data(1).toString() === 'body')
  raw.send(frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 3, block('HEAD')))
  await raw.frame(Frame.HEADERS, ({ stream, flags }) => stream === 3 && (flags & Flag.END_STREAM) !== 0)
  const whole = block('POST')
  raw.send(
    frame(Frame.HEADERS, Flag.END_STREAM, 5, whole.subarray(0, 5)),
    frame(Frame.CONTINUATION, 0, 5, whole.subarray(5, 9)),
    frame(Frame.CONTINUATION, Flag.END_HEADERS, 5, whole.subarray(9)),
  )
  assert.equal(await raw.status(5), '200')
})

test('an answer that comes before the end of its request: the rest is not wanted, and no fault', async () => {
  const port = await listen((exchange) => exchange.respond(403, {}, Buffer.from('no')))
  const raw = await Raw.connect(port)
  raw.send(post(1))
  const reset = await raw.frame(Frame.RST_STREAM, ({ stream }) => stream === 1)
  assert.equal(reset.payload.readUInt32BE(0), Code.NO_ERROR)
  raw.send(frame(Frame.DATA, 0, 1, Buffer.from('more')), frame(Frame.DATA, Flag.END_STREAM, 1, Buffer.from('more')))
  raw.send(get(3))
  assert.equal(await raw.status(3), '403')
})

test('of a request that is refused the rest is no fault: its body, and its trailers', async () => {
  const port = await listen(echo)
  const raw = await Raw.connect(port)
  const malformed = frame(Frame.HEADERS, Flag.END_HEADERS, 1, block('POST', '/', literal('connection', 'close')))
  const trailers = frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, literal('checksum', 'x'))
  raw.send(malformed, frame(Frame.DATA, 0, 1, Buffer.from('body')), trailers, get(3))
  const reset = await raw.frame(Frame.RST_STREAM, ({ stream }) => stream === 1)
  assert.equal(reset.payload.readUInt32BE(0), Code.PROTOCOL_ERROR)
  assert.equal(await raw.status(3), '200')
  assert.equal(raw.frames.filter(({ type }) => type === Frame.RST_STREAM).length, 1, 'told once')
})

const floods: Record<string, { because: string; send: (raw: Raw) => void }> = {
  RapidReset: {
    because: 'a request costs its client nothing when it is taken back at once',
    send: (raw) => {
      for (let id = 1; id < 3_000; id += 2) raw.send(post(id), numbersFrame(Frame.RST_STREAM, id, Code.CANCEL))
    },
  },
  ContinuationFlood: {
    because: 'headers that never end would be kept for good',
    send: (raw) => {
      raw.send(frame(Frame.HEADERS, 0, 1, block()))
      for (let i = 0; i < 1_000; i++) raw.send(frame(Frame.CONTINUATION, 0, 1, Buffer.alloc(0)))
    },
  },
  EmptyData: {
    because: 'frames without anything in them are only there to be handled',
    send: (raw) => {
      raw.send(post(1))
      for (let i = 0; i < 2_000; i++) raw.send(frame(Frame.DATA, 0, 1, Buffer.alloc(0)))
    },
  },
}

for (const [name, { because, send }] of Object.entries(floods)) {
  test(`abuse ends the connection, ${name}: ${because}`, async () => {
    const port = await listen(() => {})
    const raw = await Raw.connect(port)
    send(raw)
    assert.equal(await raw.farewell(), Code.ENHANCE_YOUR_CALM)
    await until(() => raw.closed)
  })
}

test('a body that runs ahead of its window ends its stream', async () => {
  const port = await listen(() => {})
  const raw = await Raw.connect(port)
  raw.send(post(1))
  for (let i = 0; i < 65; i++) raw.send(frame(Frame.DATA, 0, 1, Buffer.alloc(16_384)))
  const reset = await raw.frame(Frame.RST_STREAM)
  assert.equal(reset.payload.readUInt32BE(0), Code.FLOW_CONTROL_ERROR)
})

test('a small block of headers cannot become a large one', async () => {
  const port = await listen(echo)
  const raw = await Raw.connect(port)
  // One header of 4,000 bytes is remembered, and then referred to a thousand times.
  const value = Buffer.alloc(3_900, 'x')
  const long = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xbd, 0x1d]), value])
  const bomb = Buffer.concat([block('GET'), long, Buffer.alloc(1_000, 0x80 | 62)])
  raw.send(frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, bomb))
  assert.equal(await raw.status(1), '431')
  raw.send(get(3))
  assert.equal(await raw.status(3), '200')
})

test('pings that nobody reads the answers to', async () => {
  const port = await listen(echo)
  const raw = await Raw.connect(port)
  raw.socket.pause()
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(Frame.PING, 0, 0, Buffer.alloc(8))))
  const flood = () => {
    while (!raw.closed && raw.socket.write(pings)) {}
  }
  raw.socket.on('drain', flood)
  flood()
  await until(() => raw.closed)
})

test('random frames never bring the server down', async () => {
  const port = await listen(echo)
  const type = fc.integer({ min: 0, max: 10 })
  const one = fc.record({
    type,
    flags: fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x2d),
    stream: fc.constantFrom(0, 1, 3, 5, 7),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(block('POST'), block('GET'), Buffer.alloc(4, 1), Buffer.alloc(8)),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 30 }), async (frames) => {
      const raw = await Raw.connect(port)
      raw.send(...frames.map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload)))
      // Any answer to this tells that all before it has been read.
      raw.send(frame(Frame.PING, 0, 0, Buffer.from('are you?')))
      await until(() => raw.closed || raw.frames.some(({ type }) => type === Frame.PING || type === Frame.GOAWAY))
      raw.socket.destroy()
    }),
    { numRuns: 300 },
  )
  assert.equal((await ask(session(port), '/', Buffer.from('still here'))).body.toString(), 'still here')
})

async function until(seen: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!seen()) {
    if (Date.now() > deadline) assert.fail(`never: ${seen}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
