import type { TLSSocket } from 'node:tls'
import { Allowance } from './allowance.js'
import {
  checkSize,
  FrameReader,
  frameHeader,
  goawayFrame,
  type IncomingFrame,
  numbersFrame,
  ownParent,
  settingsFrame,
  withoutPadding,
} from './frames.js'
import { Head } from './head.js'
import { HeaderDecoder, HeaderEncoder, type OutgoingHeaders } from './hpack.js'
import { Outbox } from './outbox.js'
import {
  Code,
  ConnectionFailure,
  Flag,
  FRAME_BYTES_LIMIT,
  FRAME_BYTES_MAX,
  Frame,
  PREFACE,
  Setting,
  StreamFailure,
  WINDOW_DEFAULT,
  WINDOW_MAX,
  windowTooLarge,
  wrong,
} from './protocol.js'
import { type Carrier, Stream } from './stream.js'

export interface Terms {
  /** At once on one connection. */
  readonly streamsMax: number
  readonly headerBytesMax: number
  /** Of all answers that wait on one connection; who lets more pile up is cut off. */
  readonly waitingBytesMax: number
  /** A request has come; its body follows. */
  accept(stream: Stream): void
  /** Told of failures that are ours. */
  report(what: string, error: unknown): void
}

const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 1024 * 1024
const CONTINUATIONS_MAX = 64
/** Requests taken back, and frames that say nothing: so many at once, so many a second. */
const NUISANCES_MAX = 1_000
const NUISANCES_PER_SECOND = 33
/** Streams that we ended first: what the client sends until it hears of it is no fault. */
const FORGOTTEN_MAX = 1_000
const LAST_WORDS_MS = 1_000

/** Headers that go on in the next frame. */
interface Pending {
  readonly stream: number
  readonly endStream: boolean
  readonly parts: Buffer[]
  bytes: number
  /** What is wrong with it, once it has been read. */
  readonly failure?: StreamFailure
}

/**
 * The server's side of an HTTP/2 connection (RFC 9113). What comes in goes from `#read` by the method of each frame's
 * type to a `Stream`; what goes out from the `Stream` by way of the `Outbox`.
 */
export class Connection implements Carrier {
  readonly #terms: Terms
  readonly #reader = new FrameReader(PREFACE)
  readonly #decoder = new HeaderDecoder()
  readonly #encoder = new HeaderEncoder()
  readonly #out: Outbox
  readonly #streams = new Map<number, Stream>()
  readonly #forgotten = new Set<number>()
  #pending: Pending | undefined
  #greeted = false
  #lastStream = 0
  #leaving = false
  #failed = false
  #received = 0
  #waiting = 0
  /** What the client wants each stream to begin with. */
  #streamWindow = WINDOW_DEFAULT
  readonly #nuisances = new Allowance(NUISANCES_MAX, NUISANCES_PER_SECOND)

  constructor(
    readonly socket: TLSSocket,
    terms: Terms,
  ) {
    this.#terms = terms
    this.#out = new Outbox(
      socket,
      (stream) => this.#answered(stream),
      () => this.#streams.size === 1,
    )
    socket.setNoDelay(true)
    socket.on('data', this.#read)
    socket.on('error', () => {}) // 'close' follows.
    socket.on('close', () => this.#closeAll())
    this.#out.send(
      settingsFrame([
        [Setting.MAX_CONCURRENT_STREAMS, terms.streamsMax],
        [Setting.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
        [Setting.MAX_HEADER_LIST_SIZE, terms.headerBytesMax],
      ]),
      numbersFrame(Frame.WINDOW_UPDATE, 0, CONNECTION_WINDOW - WINDOW_DEFAULT),
    )
  }

  /** Takes no new requests; those under way finish. */
  close(): void {
    if (this.#leaving || this.#failed) return
    this.#leaving = true
    this.#out.send(goawayFrame(this.#lastStream, Code.NO_ERROR))
    this.#leaveIfDone()
  }

  destroy(): void {
    this.socket.destroy()
  }

  sendHead(stream: Stream, status: number, headers: OutgoingHeaders, end: boolean): void {
    const block = this.#encoder.encode(status, headers)
    const parts: Uint8Array[] = []
    for (let at = 0; at < block.length || at === 0; at += FRAME_BYTES_MAX) {
      const part = Buffer.from(block.subarray(at, at + FRAME_BYTES_MAX))
      const last = at + FRAME_BYTES_MAX >= block.length
      const flags = (last ? Flag.END_HEADERS : 0) | (end && at === 0 ? Flag.END_STREAM : 0)
      parts.push(frameHeader(at === 0 ? Frame.HEADERS : Frame.CONTINUATION, flags, stream.id, part.length), part)
    }
    this.#out.send(...parts)
    if (end) this.#answered(stream)
  }

  queued(stream: Stream, bytes: number): void {
    this.#waiting += bytes
    if (this.#waiting > this.#terms.waitingBytesMax) this.destroy()
    else this.#out.ready(stream)
  }

  sent(bytes: number): void {
    this.#waiting -= bytes
  }

  took(stream: Stream, bytes: number): void {
    if (bytes === 0 || stream.complete) return
    stream.unread -= bytes
    // In large steps: a window for every frame would be as many frames again.
    const room = STREAM_WINDOW - stream.unread
    if (room - stream.window.receive < STREAM_WINDOW / 2) return
    this.#out.send(numbersFrame(Frame.WINDOW_UPDATE, stream.id, room - stream.window.receive))
    stream.window.receive = room
  }

  reset(stream: Stream, code: Code): void {
    this.#out.send(numbersFrame(Frame.RST_STREAM, stream.id, code))
    if (!stream.complete) this.#forgetLater(stream.id)
    this.#drop(stream)
  }

  #answered(stream: Stream): void {
    // A client that is still sending is told that nobody listens.
    if (stream.complete) this.#drop(stream)
    else this.reset(stream, Code.NO_ERROR)
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#failed) return
    try {
      this.#reader.read(chunk, this.#take)
    } catch (error) {
      this.#fail(error)
    }
  }

  readonly #take = (frame: IncomingFrame): void => {
    try {
      this.#dispatch(frame)
    } catch (error) {
      if (!(error instanceof StreamFailure)) throw error
      this.#giveUp(error.stream, error.code)
    }
  }

  #dispatch(frame: IncomingFrame): void {
    if (this.#pending && (frame.type !== Frame.CONTINUATION || frame.stream !== this.#pending.stream)) {
      throw wrong('headers are not finished')
    }
    if (!this.#greeted && frame.type !== Frame.SETTINGS) throw wrong('settings come first')
    // Frames of other types are no fault, and not for us.
    switch (frame.type) {
      case Frame.DATA:
        this.#data(frame)
        break
      case Frame.HEADERS:
        this.#headers(frame)
        break
      case Frame.PRIORITY:
        this.#priority(frame)
        break
      case Frame.RST_STREAM:
        this.#resetByClient(frame)
        break
      case Frame.SETTINGS:
        this.#settings(frame)
        break
      case Frame.PING:
        this.#ping(frame)
        break
      case Frame.GOAWAY:
        this.#goaway(frame)
        break
      case Frame.WINDOW_UPDATE:
        this.#windowUpdate(frame)
        break
      case Frame.CONTINUATION:
        this.#continuation(frame)
        break
      case Frame.PUSH_PROMISE:
        throw wrong('clients promise nothing')
    }
  }

  #data(frame: IncomingFrame): void {
    const { stream: id, flags, payload } = frame
    this.#checkBegun(id)
    this.#countReceived(payload.length)
    const chunk = withoutPadding(frame)
    const stream = this.#streams.get(id)
    const ends = (flags & Flag.END_STREAM) !== 0
    if (this.#isForgotten(id, ends)) return
    if (!stream || stream.complete) throw new StreamFailure(id, Code.STREAM_CLOSED, 'data after the end')
    stream.window.receive -= payload.length
    stream.unread += payload.length
    if (stream.window.receive < 0) throw new StreamFailure(id, Code.FLOW_CONTROL_ERROR, 'more than the window')
    if (chunk.length === 0 && !ends) this.#suffer()
    if (!stream.deliver(chunk)) throw lengthDiffers(id)
    // Padding is read as soon as it is here.
    this.took(stream, payload.length - chunk.length)
    if (ends) this.#endOfRequest(stream)
  }

  /** Streams have windows of their own: what one of them does not read yet keeps no other waiting. */
  #countReceived(bytes: number): void {
    this.#received += bytes
    if (this.#received > CONNECTION_WINDOW) throw new ConnectionFailure(Code.FLOW_CONTROL_ERROR, 'more than the window')
    if (this.#received < CONNECTION_WINDOW / 2) return
    this.#out.send(numbersFrame(Frame.WINDOW_UPDATE, 0, this.#received))
    this.#received = 0
  }

  #endOfRequest(stream: Stream): void {
    if (!stream.deliverEnd()) throw lengthDiffers(stream.id)
  }

  #headers(frame: IncomingFrame): void {
    const { stream, flags } = frame
    if (stream % 2 === 0) throw wrong('clients use odd numbers')
    let part = withoutPadding(frame)
    let failure: StreamFailure | undefined
    if (flags & Flag.PRIORITY) {
      if (part.length < 5) throw new ConnectionFailure(Code.FRAME_SIZE_ERROR, 'headers without their priority')
      failure = ownParent(stream, part)
      part = part.subarray(5)
    }
    const endStream = (flags & Flag.END_STREAM) !== 0
    const pending = { stream, endStream, parts: [part], bytes: part.length, failure }
    if (flags & Flag.END_HEADERS) this.#block(pending)
    else this.#pending = pending
  }

  #continuation({ flags, payload }: IncomingFrame): void {
    const pending = this.#pending
    if (!pending) throw wrong('no headers to go on with')
    pending.parts.push(payload)
    pending.bytes += payload.length
    if (pending.bytes > this.#terms.headerBytesMax || pending.parts.length > CONTINUATIONS_MAX) {
      throw new ConnectionFailure(Code.ENHANCE_YOUR_CALM, 'headers without end')
    }
    if ((flags & Flag.END_HEADERS) === 0) return
    this.#pending = undefined
    this.#block(pending)
  }

  /** Whole headers: of a new request, or after the body of one. */
  #block({ stream: id, endStream, parts, failure }: Pending): void {
    const known = this.#streams.get(id)
    const forgotten = this.#isForgotten(id, endStream)
    if (!known && id <= this.#lastStream && !forgotten) {
      throw new ConnectionFailure(Code.STREAM_CLOSED, `stream ${id} is closed`)
    }
    const head = new Head(this.#terms.headerBytesMax)
    // Read in any case: later headers may refer to these.
    this.#decoder.decode(parts.length === 1 ? parts[0]! : Buffer.concat(parts), head.add)
    if (forgotten) return
    if (known) {
      this.#trailers(known, head, endStream)
      return
    }
    this.#lastStream = id
    if (failure) throw failure
    head.finishRequest()
    if (head.malformed !== undefined && !head.tooLarge) throw new StreamFailure(id, Code.PROTOCOL_ERROR, head.malformed)
    if (this.#leaving || this.#streams.size >= this.#terms.streamsMax) {
      throw new StreamFailure(id, Code.REFUSED_STREAM, 'too many requests at once')
    }
    this.#begin(id, head, endStream)
  }

  #begin(id: number, head: Head, endStream: boolean): void {
    const stream = new Stream(id, head, { send: this.#streamWindow, receive: STREAM_WINDOW }, this)
    this.#streams.set(id, stream)
    if (endStream) this.#endOfRequest(stream)
    if (head.tooLarge) stream.respond(431, { 'content-length': 0 }, true)
    else this.#terms.accept(stream)
  }

  #trailers(stream: Stream, head: Head, endStream: boolean): void {
    if (stream.complete) throw new StreamFailure(stream.id, Code.STREAM_CLOSED, 'headers after the end')
    head.finishTrailers()
    if (!endStream || head.malformed !== undefined) {
      throw new StreamFailure(stream.id, Code.PROTOCOL_ERROR, head.malformed ?? 'after trailers nothing comes')
    }
    this.#endOfRequest(stream)
  }

  #priority({ stream, payload }: IncomingFrame): void {
    if (stream === 0) throw wrong('priority is for a stream')
    if (payload.length !== 5) throw new StreamFailure(stream, Code.FRAME_SIZE_ERROR, 'a priority has five bytes')
    const failure = ownParent(stream, payload)
    if (failure) throw failure
  }

  #resetByClient({ stream: id, payload }: IncomingFrame): void {
    this.#checkBegun(id)
    checkSize(payload, 4)
    this.#forgotten.delete(id)
    const stream = this.#streams.get(id)
    if (!stream) return
    this.#suffer()
    this.#drop(stream)
  }

  #settings({ stream, flags, payload }: IncomingFrame): void {
    if (stream !== 0) throw wrong('settings are for the connection')
    const ack = (flags & Flag.ACK) !== 0
    if (ack ? payload.length > 0 : payload.length % 6 !== 0) {
      throw new ConnectionFailure(Code.FRAME_SIZE_ERROR, 'a setting has six bytes')
    }
    this.#greeted = true
    if (ack) return
    for (let at = 0; at < payload.length; at += 6) this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    this.#out.send(frameHeader(Frame.SETTINGS, Flag.ACK, 0, 0))
  }

  #set(setting: number, value: number): void {
    if (setting === Setting.ENABLE_PUSH) {
      if (value > 1) throw wrong('push is on or off')
    } else if (setting === Setting.MAX_FRAME_SIZE) {
      // Ours are never longer than the least that everybody takes.
      if (value < FRAME_BYTES_MAX || value > FRAME_BYTES_LIMIT) throw wrong(`frames cannot have ${value} bytes`)
    } else if (setting === Setting.INITIAL_WINDOW_SIZE) {
      if (value > WINDOW_MAX) throw windowTooLarge()
      const more = value - this.#streamWindow
      this.#streamWindow = value
      for (const stream of this.#streams.values()) this.#widen(stream, more)
    }
  }

  #widen(stream: Stream, more: number): void {
    stream.window.send += more
    if (stream.window.send > WINDOW_MAX) {
      throw windowTooLarge()
    }
    if (more > 0 && stream.waiting > 0) this.#out.ready(stream)
  }

  #ping({ stream, flags, payload }: IncomingFrame): void {
    if (stream !== 0) throw wrong('a ping is for the connection')
    checkSize(payload, 8)
    if (flags & Flag.ACK) return
    this.#out.send(Buffer.concat([frameHeader(Frame.PING, Flag.ACK, 0, 8), payload]))
  }

  #goaway({ stream }: IncomingFrame): void {
    if (stream !== 0) throw wrong('GOAWAY is for the connection')
  }

  #windowUpdate({ stream: id, payload }: IncomingFrame): void {
    if (id !== 0) this.#checkBegun(id)
    checkSize(payload, 4)
    const more = payload.readUInt32BE(0) & WINDOW_MAX
    if (id === 0) {
      if (more === 0) throw wrong('a window grows by nothing')
      this.#out.widen(more)
      return
    }
    if (more === 0) throw new StreamFailure(id, Code.PROTOCOL_ERROR, 'a window grows by nothing')
    const stream = this.#streams.get(id)
    if (!stream) return
    if (stream.window.send + more > WINDOW_MAX) {
      throw new StreamFailure(id, Code.FLOW_CONTROL_ERROR, 'a window cannot be so large')
    }
    this.#widen(stream, more)
  }

  #checkBegun(id: number): void {
    if (id === 0) throw wrong('this is for a stream')
    if (id > this.#lastStream) throw wrong(`stream ${id} has not begun`)
  }

  #suffer(): void {
    if (!this.#nuisances.take()) throw new ConnectionFailure(Code.ENHANCE_YOUR_CALM, 'too many frames for nothing')
  }

  #forgetLater(id: number): void {
    this.#forgotten.add(id)
    if (this.#forgotten.size <= FORGOTTEN_MAX) return
    for (const oldest of this.#forgotten) {
      this.#forgotten.delete(oldest)
      return
    }
  }

  /** @param ends The client, too, is done with it now. */
  #isForgotten(id: number, ends: boolean): boolean {
    return ends ? this.#forgotten.delete(id) : this.#forgotten.has(id)
  }

  #giveUp(id: number, code: Code): void {
    const stream = this.#streams.get(id)
    if (stream) {
      this.reset(stream, code)
      return
    }
    this.#out.send(numbersFrame(Frame.RST_STREAM, id, code))
    if (id <= this.#lastStream) this.#forgetLater(id)
  }

  #drop(stream: Stream): void {
    this.#out.forget(stream)
    this.#waiting -= stream.waiting
    this.#streams.delete(stream.id)
    stream.close()
    this.#leaveIfDone()
  }

  #leaveIfDone(): void {
    if (this.#leaving && this.#streams.size === 0) this.#out.end()
  }

  #closeAll(): void {
    this.#failed = true
    for (const stream of [...this.#streams.values()]) this.#drop(stream)
  }

  #fail(error: unknown): void {
    if (!(error instanceof ConnectionFailure)) this.#terms.report('an HTTP/2 connection', error)
    const { code, message } =
      error instanceof ConnectionFailure ? error : new ConnectionFailure(Code.INTERNAL_ERROR, '')
    this.#out.end(goawayFrame(this.#lastStream, code, message))
    this.#closeAll()
    setTimeout(() => this.socket.destroy(), LAST_WORDS_MS).unref()
  }
}

function lengthDiffers(stream: number): StreamFailure {
  return new StreamFailure(stream, Code.PROTOCOL_ERROR, 'the body is not as long as its content-length says')
}
