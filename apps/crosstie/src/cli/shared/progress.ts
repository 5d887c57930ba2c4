import { type Sink, safeForTerminal, shortened, widthOf } from './terminal.js'

/** Shorter waits are not shown, in milliseconds. */
const PATIENCE_MS = 1_000
const FRAME_MS = 100
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const WIDTH = 80
const ERASE = '\r\x1b[K'

/**
 * A status line at the bottom of a terminal. It is hidden before other output and shown again afterwards. Without a
 * terminal it is never shown.
 */
export class Progress {
  readonly #sink: Sink
  /** Whether there is a terminal. */
  readonly shows: boolean
  #text = ''
  /** Whether the line shows a state and not a wait. */
  #resting = false
  #since = 0
  #frame = 0
  #shown = ''
  #timer: NodeJS.Timeout | undefined

  constructor(sink: Sink, shows: boolean = sink.isTTY === true) {
    this.#sink = sink
    this.shows = shows
  }

  /** Runs a step. After a second, the line shows the text. */
  async during<T>(text: string, step: () => Promise<T>): Promise<T> {
    const before = this.#text
    this.say(text)
    try {
      return await step()
    } finally {
      if (before) this.say(before)
      else this.stop()
    }
  }

  /** Sets the text of the wait. The line is shown after a second. */
  say(text: string): void {
    if (this.#resting || !this.#timer) this.#since = Date.now()
    this.#begin(text, false)
  }

  /** Shows a state while nothing is in progress. */
  rest(text: string): void {
    this.#begin(text, true)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#text = ''
    this.hide()
  }

  /** Hides the line before other output. */
  hide(): void {
    if (this.#shown === '') return
    this.#sink.write(ERASE)
    this.#shown = ''
  }

  #begin(text: string, resting: boolean): void {
    this.#text = text
    this.#resting = resting
    if (!this.shows || this.#timer) return
    this.#timer = setInterval(() => this.#draw(), FRAME_MS)
    this.#timer.unref()
  }

  #draw(): void {
    const line = this.#resting ? this.#text : this.#waitingLine()
    if (line === '' || line === this.#shown) return
    this.#sink.write(`${ERASE}${safeForTerminal(line)}`)
    this.#shown = line
  }

  #waitingLine(): string {
    const passed = Date.now() - this.#since
    if (passed < PATIENCE_MS) return ''
    const seconds = ` ${Math.floor(passed / 1000)}s`
    const columns = (this.#sink.columns || WIDTH) - 3 - widthOf(seconds)
    this.#frame = (this.#frame + 1) % frames.length
    return `${frames[this.#frame]} ${shortened(this.#text, columns)}${seconds}`
  }
}
