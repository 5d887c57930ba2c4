import { type Sink, safeForTerminal, shortened, widthOf } from './terminal.js'

/** Shorter waits need no explanation. */
const PATIENCE_MS = 1_000
const FRAME_MS = 100
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const WIDTH = 80
const ERASE = '\r\x1b[K'

/**
 * One line at the bottom of a terminal that says what is being waited for, or
 * how things are. It goes away before anything else is printed and comes back
 * by itself; where nobody looks it is never shown.
 */
export class Progress {
  readonly #sink: Sink
  /** Is there a terminal? */
  readonly shows: boolean
  #text = ''
  /** Nothing is waited for: the text alone, at once. */
  #resting = false
  #since = 0
  #frame = 0
  #shown = ''
  #timer: NodeJS.Timeout | undefined

  constructor(sink: Sink, shows: boolean = sink.isTTY === true) {
    this.#sink = sink
    this.shows = shows
  }

  /** Runs a step; when it takes longer than a second, the line says what it is. */
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

  /** What is being waited for now. The line is shown from the first word that stands for longer than a second. */
  say(text: string): void {
    if (this.#resting || !this.#timer) this.#since = Date.now()
    this.#begin(text, false)
  }

  /** How things are, while nothing is being waited for. */
  rest(text: string): void {
    this.#begin(text, true)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#text = ''
    this.hide()
  }

  /** Makes room for a line of something else. */
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
