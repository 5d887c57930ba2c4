import type { TLSSocket } from 'node:tls'
import { frameHeader } from './frames.js'
import { Flag, FRAME_BYTES_MAX, Frame, WINDOW_DEFAULT, WINDOW_MAX, windowTooLarge } from './protocol.js'
import type { Stream } from './stream.js'

/** At most so much is given to the socket at a time: what comes later may be more urgent than the rest of a long list. */
const BATCH_BYTES_MAX = 256 * 1024
/** The last frame of a batch goes beyond it, and so may what no window holds back. */
const BATCH_BYTES_ROOM = BATCH_BYTES_MAX + 64 * 1024
const LARGE_BYTES = 64 * 1024
const IDLE_BATCHES_MAX = 4
/** Answers to pings and settings, for a client that does not read them. */
const CONTROL_BYTES_MAX = 1024 * 1024

/**
 * What goes out on a connection. All that comes together in one turn of the event loop is one write to the socket: an
 * event for a hundred watchers, the answers to all whose writes became durable together.
 */
export class Outbox {
  /** How much the client lets us send over all streams. */
  #window = WINDOW_DEFAULT
  readonly #socket: TLSSocket
  readonly #answered: (stream: Stream) => void
  readonly #alone: () => boolean
  #frames: Uint8Array[] = []
  #bytes = 0
  /** Streams that have something to send and may, in the order of their turn. */
  readonly #ready = new Set<Stream>()
  #scheduled = false
  #blocked = false
  #last = false

  /**
   * @param answered Told of a stream when all of its answer has gone.
   * @param alone Is there one stream only?
   */
  constructor(socket: TLSSocket, answered: (stream: Stream) => void, alone: () => boolean) {
    this.#socket = socket
    this.#answered = answered
    this.#alone = alone
    socket.on('drain', () => {
      this.#blocked = false
      this.#schedule()
    })
  }

  /** Frames that no window holds back, in the order in which they come. */
  send(...frames: readonly Uint8Array[]): void {
    this.#add(frames)
    if (this.#bytes > CONTROL_BYTES_MAX) this.#socket.destroy()
    else this.#schedule()
  }

  /** The socket ends once all of this is sent. */
  end(...frames: readonly Uint8Array[]): void {
    this.#ready.clear()
    this.#last = true
    this.#add(frames)
    this.#schedule()
  }

  #add(frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      this.#frames.push(frame)
      this.#bytes += frame.byteLength
    }
  }

  ready(stream: Stream): void {
    this.#ready.add(stream)
    this.#schedule()
  }

  forget(stream: Stream): void {
    this.#ready.delete(stream)
  }

  widen(more: number): void {
    this.#window += more
    if (this.#window > WINDOW_MAX) throw windowTooLarge()
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#blocked) return
    this.#scheduled = true
    // One client's only request waits for nobody: a turn of the event loop would be a system call for nothing.
    if (this.#alone()) process.nextTick(this.#flush)
    else setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    if (this.#socket.destroyed) return
    const served = this.#fill()
    if (this.#bytes > 0) this.#write()
    if (this.#last) this.#socket.end()
    for (const stream of served) {
      stream.drained()
      if (stream.answered) this.#answered(stream)
    }
    if (this.#ready.size > 0 && this.#window > 0) this.#schedule()
  }

  /** As one piece, and always a copy: what it was made of may be used again. */
  #write(): void {
    const batch = this.#bytes < LARGE_BYTES ? undefined : largeBatches.take(this.#bytes)
    const bytes = batch ? join(this.#frames, batch) : Buffer.concat(this.#frames, this.#bytes)
    this.#frames = []
    this.#bytes = 0
    const written = (error?: Error | null) => {
      if (batch && !error) largeBatches.giveBack(batch)
    }
    if (!this.#socket.write(bytes, batch && written)) this.#blocked = true
  }

  /** A frame of each stream in turn, until there is enough. */
  #fill(): Stream[] {
    const served: Stream[] = []
    // Those that have more to send come again at the end of the same walk.
    for (const stream of this.#ready) {
      if (this.#bytes >= BATCH_BYTES_MAX || (this.#window <= 0 && stream.waiting > 0)) break
      this.#ready.delete(stream)
      const max = Math.min(FRAME_BYTES_MAX, this.#window, stream.window.send)
      if (max <= 0 && stream.waiting > 0) continue // Until its window is wider.
      this.#frame(stream, Math.max(max, 0))
      if (stream.waiting > 0) this.#ready.add(stream)
      else served.push(stream)
    }
    return served
  }

  #frame(stream: Stream, max: number): void {
    const at = this.#frames.push(EMPTY) - 1
    const size = stream.take(max, this.#frames)
    this.#frames[at] = frameHeader(Frame.DATA, stream.answered ? Flag.END_STREAM : 0, stream.id, size)
    this.#bytes += this.#frames[at].byteLength + size
    this.#window -= size
    stream.window.send -= size
  }
}

const EMPTY = Buffer.alloc(0)

function join(pieces: readonly Uint8Array[], into: Buffer): Buffer {
  let at = 0
  for (const piece of pieces) {
    into.set(piece, at)
    at += piece.byteLength
  }
  return into.subarray(0, at)
}

/** Memory for large batches is used again: made anew for each, it costs a long list more than all the rest of sending it. */
class Batches {
  readonly #idle: Buffer[] = []

  take(bytes: number): Buffer | undefined {
    if (bytes > BATCH_BYTES_ROOM) return undefined
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BATCH_BYTES_ROOM)
  }

  giveBack(batch: Buffer): void {
    if (this.#idle.length < IDLE_BATCHES_MAX) this.#idle.push(batch)
  }
}

const largeBatches = new Batches()
