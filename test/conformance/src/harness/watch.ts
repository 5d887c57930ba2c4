import { createInterface } from 'node:readline'
import type { Ask, Http, Loose } from './http.js'

export interface WatchEvent {
  readonly type: string
  readonly object: Loose
}

const PATIENCE_MS = 120_000

/** An open watch: events are kept until somebody asks for them. */
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

  /** The next event, or undefined when the server has ended the watch. Fails when neither comes. */
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

  /** The next `count` events. */
  async take(count: number): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = []
    while (taken.length < count) {
      const event = await this.next()
      if (!event) throw new Error(`the watch ended after ${taken.length} of ${count} events`)
      taken.push(event)
    }
    return taken
  }

  /** All events up to and including the first that `last` is true of. */
  async until(last: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = []
    for (;;) {
      const [event] = await this.take(1)
      taken.push(event!)
      if (last(event!)) return taken
    }
  }

  /** Everything until the server ends the watch by itself. */
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
