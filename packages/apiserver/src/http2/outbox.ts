import type { TLSSocket } from 'node:tls'
import { frameHeader } from './frames.js'
import { Code, ConnectionFailure, Flag, FRAME_BYTES_MAX, Frame, WINDOW_DEFAULT, WINDOW_MAX } from './protocol.js'
import type { Stream } from './stream.js'

/** At most so much is given to the socket at a time: what comes later may be more urgent than the rest of a long list. */
const BATCH_BYTES_MAX = 256 * 1024
/** Answers to pings and settings, for a client that does not read them. */
const CONTROL_BYTES_MAX = 1024 * 1024

/**
 * What goes out on a connection. All that comes together in one turn of the event loop is one write to the socket: an
 * event for a hundred watchers, the answers to all whose writes became durable together.
 */
export class Outbox {
  /** How much the client lets us send over all streams. */
  #window = WINDOW_DEFAULT
  /** How long a frame it takes. */
  frameBytesMax = FRAME_BYTES_MAX
  readonly #socket: TLSSocket
  readonly #answered: (stream: Stream) => void
  #frames: Uint8Array[] = []
  #bytes = 0
  /** Streams that have something to send and may, in the order of their turn. */
  readonly #ready = new Set<Stream>()
  #scheduled = false
  #blocked = false
  #last = false

  /** @param answered Told of a stream when all of its answer has gone. */
  constructor(socket: TLSSocket, answered: (stream: Stream) => void) {
    this.#socket = socket
    this.#answered = answered
    socket.on('drain', () => {
      this.#blocked = false
      this.#schedule()
    })
  }

  /** Frames that no window holds back, in the order in which they come. */
  send(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      this.#frames.push(frame)
      this.#bytes += frame.byteLength
    }
    if (this.#bytes > CONTROL_BYTES_MAX) this.#socket.destroy()
    else this.#schedule()
  }

  /** The socket ends once all of this is sent. */
  end(...frames: readonly Uint8Array[]): void {
    this.#ready.clear()
    this.#last = true
    for (const frame of frames) {
      this.#frames.push(frame)
      this.#bytes += frame.byteLength
    }
    this.#schedule()
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
    if (this.#window > WINDOW_MAX) throw new ConnectionFailure(Code.FLOW_CONTROL_ERROR, 'a window cannot be so large')
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#blocked) return
    this.#scheduled = true
    setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    if (this.#socket.destroyed) return
    const served = this.#fill()
    if (this.#bytes > 0) {
      // Always a copy: what it was made of may be used again.
      const batch = Buffer.concat(this.#frames, this.#bytes)
      this.#frames = []
      this.#bytes = 0
      if (!this.#socket.write(batch)) this.#blocked = true
    }
    if (this.#last) this.#socket.end()
    for (const stream of served) {
      stream.drained()
      if (stream.answered) this.#answered(stream)
    }
    if (this.#ready.size > 0 && this.#window > 0) this.#schedule()
  }

  /** A frame of each stream in turn, until there is enough. */
  #fill(): Stream[] {
    const served: Stream[] = []
    // Those that have more to send come again at the end of the same walk.
    for (const stream of this.#ready) {
      if (this.#bytes >= BATCH_BYTES_MAX || (this.#window <= 0 && stream.waiting > 0)) break
      this.#ready.delete(stream)
      const max = Math.min(this.frameBytesMax, this.#window, stream.window.send)
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
