import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { after, afterEach, before, test } from 'node:test'
import fc from 'fast-check'
import {
  echo,
  Flag,
  Frame,
  frame,
  getFrame,
  headerBlock,
  INITIAL_WINDOW_SIZE,
  literal,
  numberFrame,
  postFrame,
  type RawConnection,
  request,
  serve,
  settingsFrame,
  until,
  Workbench,
} from './testing.js'

const bench = new Workbench()

before(() => bench.prepare())
afterEach(() => bench.clear())
after(() => bench.remove())

const { CONTINUATION, DATA, GOAWAY, HEADERS, PING, RST_STREAM, WINDOW_UPDATE } = Frame

/** The error code of a RST_STREAM frame. */
async function resetOf(raw: RawConnection, stream: number): Promise<number> {
  return (await raw.frame(RST_STREAM, (one) => one.stream === stream)).payload.readUInt32BE(0)
}

test('the window of a stream is respected to the byte', async () => {
  const port = await bench.listen((exchange) => exchange.respond(200, {}, Buffer.from('0123456789')))
  const raw = await bench.raw(port, [INITIAL_WINDOW_SIZE, 0])
  raw.send(getFrame(1))
  await raw.frame(HEADERS, ({ stream }) => stream === 1)
  for (const size of [1, 2, 3]) {
    const before = raw.data(1).length
    raw.send(numberFrame(WINDOW_UPDATE, 1, size))
    await until(() => raw.data(1).length === before + size)
  }
  raw.send(settingsFrame([[INITIAL_WINDOW_SIZE, 1]]))
  await until(() => raw.data(1).toString() === '0123456')
  raw.send(settingsFrame([[INITIAL_WINDOW_SIZE, 100]]))
  await until(() => raw.data(1).toString() === '0123456789')
  await raw.frame(DATA, ({ flags }) => (flags & Flag.END_STREAM) !== 0)
})

test('the window of the connection limits all streams together, and each gets a share', async () => {
  const port = await bench.listen((exchange) => exchange.respond(200, {}, Buffer.alloc(65_535, exchange.url.slice(1))))
  const raw = await bench.raw(port)
  raw.send(getFrame(1, '/a'), getFrame(3, '/b'))
  const received = () => raw.data(1).length + raw.data(3).length
  await until(() => received() === 65_535)
  raw.send(numberFrame(WINDOW_UPDATE, 0, 65_535))
  await until(() => received() === 2 * 65_535)
  assert.equal(raw.data(3).toString(), 'b'.repeat(65_535))
})

test('a body beyond the window of its stream resets the stream', async () => {
  const raw = await bench.raw(await bench.listen(() => {}))
  raw.send(postFrame(1))
  for (let i = 0; i < 65; i++) raw.send(frame(DATA, 0, 1, Buffer.alloc(16_384)))
  assert.equal(await resetOf(raw, 1), constants.NGHTTP2_FLOW_CONTROL_ERROR)
})

test('trailers end a request, HEAD has no body, and headers may be split and bodies padded', async () => {
  const raw = await bench.raw(await bench.listen(echo))
  const trailers = frame(HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, literal('checksum', 'x'))
  raw.send(postFrame(1), frame(DATA, Flag.PADDED, 1, Buffer.from('\u0003body\0\0\0', 'latin1')), trailers)
  await until(() => raw.data(1).toString() === 'body')
  raw.send(frame(HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 3, headerBlock('HEAD')))
  await raw.frame(HEADERS, ({ stream, flags }) => stream === 3 && (flags & Flag.END_STREAM) !== 0)
  const whole = headerBlock('POST')
  raw.send(
    frame(HEADERS, Flag.END_STREAM, 5, whole.subarray(0, 5)),
    frame(CONTINUATION, 0, 5, whole.subarray(5, 9)),
    frame(CONTINUATION, Flag.END_HEADERS, 5, whole.subarray(9)),
  )
  await raw.frame(HEADERS, ({ stream }) => stream === 5)
})

test('a response before the end of its request resets the stream without an error', async () => {
  const port = await bench.listen(
    (exchange) =>
      void serve(exchange, async () => {
        void exchange.body().catch(() => {})
        exchange.respond(403, {}, Buffer.from('no'))
      }),
  )
  const raw = await bench.raw(port)
  raw.send(postFrame(1))
  assert.equal(await resetOf(raw, 1), constants.NGHTTP2_NO_ERROR)
  raw.send(frame(DATA, 0, 1, Buffer.from('more')), frame(DATA, Flag.END_STREAM, 1, Buffer.from('more')))
  raw.send(getFrame(3))
  await raw.frame(HEADERS, ({ stream }) => stream === 3)
})

test('a client that leaves before its body is complete sends no request', async () => {
  const failures: string[] = []
  let begun = 0
  const port = await bench.listen((exchange) => {
    begun++
    exchange.admit({ name: 'user', exempt: false }, 'request')
    exchange.body().catch((error: Error) => failures.push(error.message))
  })
  const departures = [
    (raw: RawConnection) => raw.send(numberFrame(RST_STREAM, 1, constants.NGHTTP2_CANCEL)),
    (raw: RawConnection) => raw.socket.destroy(),
  ]
  for (const leave of departures) {
    const raw = await bench.raw(port)
    raw.send(postFrame(1), frame(DATA, 0, 1, Buffer.from('half a ')))
    const before = begun
    await until(() => begun > before)
    leave(raw)
    await until(() => failures.length === begun)
  }
  assert.match(failures.join(), /ended before its body did.*ended before its body did/)
})

test('a request with a forbidden header is refused, and the connection serves further requests', async () => {
  const raw = await bench.raw(await bench.listen(echo))
  const block = headerBlock('POST', '/', literal('connection', 'close'))
  raw.send(frame(HEADERS, Flag.END_HEADERS, 1, block), frame(DATA, 0, 1, Buffer.from('body')), getFrame(3))
  assert.equal(await resetOf(raw, 1), constants.NGHTTP2_PROTOCOL_ERROR)
  await raw.frame(HEADERS, ({ stream }) => stream === 3)
})

test('a small header block cannot become a large one', async () => {
  let handled = 0
  const raw = await bench.raw(
    await bench.listen((exchange) => {
      handled++
      exchange.respond(200, {})
    }),
  )
  // One field of 4,000 bytes enters the dynamic table, and a thousand references follow.
  const long = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xbd, 0x1d]), Buffer.alloc(3_900, 'x')])
  const bomb = Buffer.concat([headerBlock(), long, Buffer.alloc(1_000, 0x80 | 62)])
  raw.send(frame(HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, bomb))
  const refused = () => raw.closed || raw.frames.some(({ type }) => type === RST_STREAM || type === GOAWAY)
  await until(refused)
  assert.equal(handled, 0)
})

const floods: Record<string, (raw: RawConnection) => void> = {
  'requests that are reset at once': (raw) => {
    for (let id = 1; id < 5_000; id += 2) raw.send(postFrame(id), numberFrame(RST_STREAM, id, 8))
  },
  'headers that never end': (raw) => {
    raw.send(frame(HEADERS, 0, 1, headerBlock()))
    for (let i = 0; i < 1_000; i++) raw.send(frame(CONTINUATION, 0, 1))
  },
  pings: (raw) => {
    for (let i = 0; i < 2_000; i++) raw.send(frame(PING, 0, 0, Buffer.alloc(8)))
  },
  settings: (raw) => {
    for (let i = 0; i < 2_000; i++) raw.send(settingsFrame([]))
  },
}

for (const [name, send] of Object.entries(floods)) {
  test(`a flood ends the connection: ${name}`, async () => {
    const raw = await bench.raw(await bench.listen(() => {}))
    send(raw)
    await until(() => raw.closed)
  })
}

test('pings whose answers are not read end the connection', async () => {
  const raw = await bench.raw(await bench.listen(echo))
  raw.socket.pause()
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(PING, 0, 0, Buffer.alloc(8))))
  const flood = () => {
    while (!raw.closed && raw.socket.write(pings)) {}
  }
  raw.socket.on('drain', flood)
  flood()
  await until(() => raw.closed)
})

test('random frames never stop the server', { timeout: 300_000 }, async () => {
  const port = await bench.listen(echo)
  const one = fc.record({
    type: fc.integer({ min: 0, max: 10 }),
    flags: fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x2d),
    stream: fc.constantFrom(0, 1, 3, 5, 7),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(headerBlock('POST'), headerBlock('GET'), Buffer.alloc(4, 1), Buffer.alloc(8)),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 30 }), async (frames) => {
      const raw = await bench.raw(port)
      raw.send(...frames.map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload)))
      // A response to this ping shows that the server has read the frames before it.
      raw.send(frame(PING, 0, 0, Buffer.from('are you?')))
      await until(() => raw.closed || raw.frames.some(({ type }) => type === PING || type === GOAWAY))
      raw.socket.destroy()
    }),
    { numRuns: 150 },
  )
  const answer = await request(bench.session(port), '/', Buffer.from('still here'))
  assert.equal(answer.body.toString(), 'still here')
})
