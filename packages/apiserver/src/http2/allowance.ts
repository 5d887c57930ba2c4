/** So many at once, and so many a second after that. */
export class Allowance {
  #left: number
  #since = Date.now()

  constructor(
    readonly most: number,
    readonly perSecond: number,
  ) {
    this.#left = most
  }

  take(): boolean {
    const now = Date.now()
    this.#left = Math.min(this.most, this.#left + ((now - this.#since) / 1000) * this.perSecond) - 1
    this.#since = now
    return this.#left >= 0
  }
}
