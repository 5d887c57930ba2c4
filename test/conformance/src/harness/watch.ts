import { createInterface } from 'node:readline'
import type { Ask, Http, Loose } from './http.js'

/** An event of a watch. */
export interface WatchEvent {
  readonly type: string
  readonly object: Loose
}

const PATIENCE_MS = 120_000

/** An open watch, which buffers events until the case reads them. */
export class Watch {
  readonly #abort = new AbortController()
  readonly #events: WatchEvent[] = []
  #ended = false
  #wake: () => void = () => {}
  status = 0

  static async open(http: Http, ask: Ask): Promise<Watch> {
    const watch = new Watch()
    const response = await http.open(ask, watch.#abort.signal)
    watch.status = response.statusCode ?? 0
    response.on('error', () => {})
    const lines = createInterface({ input: response })
    lines.on('line', (line) => watch.#offer(line))
    const end = () => {
      watch.#ended = true
      watch.#wake()
    }
    lines.on('close', end)
    lines.on('error', end)
    return watch
  }

  /** Returns the next event, or undefined if the server has ended the watch. Fails on timeout. */
  async next(): Promise<WatchEvent | undefined> {
    const deadline = Date.now() + PATIENCE_MS
    while (this.#events.length === 0 && !this.#ended) {
      if (Date.now() > deadline) throw new Error(`no watch event within ${PATIENCE_MS / 1000} s`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.#events.shift()
  }

  /** Returns the next `count` events. */
  async take(count: number): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = []
    while (taken.length < count) {
      const event = await this.next()
      if (!event) throw new Error(`the watch ended after ${taken.length} of ${count} events`)
      taken.push(event)
    }
    return taken
  }

  /** Returns all events up to and including the first for which `last` returns true. */
  async until(last: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = []
    for (;;) {
      const [event] = await this.take(1)
      taken.push(event!)
      if (last(event!)) return taken
    }
  }

  /** Returns all events until the server ends the watch. */
  async rest(): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = []
    for (let event = await this.next(); event; event = await this.next()) taken.push(event)
    return taken
  }

  close(): void {
    this.#abort.abort()
  }

  #offer(line: string): void {
    if (line.trim() === '') return
    this.#events.push(JSON.parse(line) as WatchEvent)
    this.#wake()
  }
}
