import { type Clock, findInChain } from '@crosstie/kube'
import { ThrottledError } from '../definition/external.js'

/** How much may be asked of a provider with one set of credentials. */
export interface Budget {
  /**
   * Resolves when a call may be made; undefined when it may be made at once. Fair: first come, first served. Whoever
   * has patience for less than that takes is sent away with an OutOfBudgetError, and told when to come again.
   */
  take(signal?: AbortSignal, patienceMs?: number): Promise<void> | undefined
  /** What came of a call: being throttled halves the pace, success slowly restores it. */
  note(error?: unknown): void
}

export interface Budgets {
  of(credentials: string): Budget
}

/** No call can be made soon: what waits for it should not keep others from working meanwhile. */
export class OutOfBudgetError extends Error {
  override readonly name = 'OutOfBudgetError'

  constructor(
    /** When it is worth to ask again. */
    readonly seconds: number,
  ) {
    super('the budget of the credentials is used up')
  }
}

const free: Budget = { take: () => undefined, note: () => {} }

export const unlimited: Budgets = { of: () => free }

export interface BudgetOptions {
  /** Calls a second when the provider does not complain. */
  readonly perSecond: number
  /** Calls that may be made at once after a quiet time. */
  readonly burst: number
  readonly clock: Clock
  /** Waits; handed in so that tests own time. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** One token bucket for each set of credentials, that adapts to throttling answers. */
export function budgets(options: BudgetOptions): Budgets {
  const known = new Map<string, Budget>()
  return {
    of(credentials) {
      let budget = known.get(credentials)
      if (!budget) {
        budget = new TokenBucket(options)
        known.set(credentials, budget)
      }
      return budget
    },
  }
}

const SLOWEST = 1 / 64
const RECOVERY = 1.02

/** Pace multiplies by a half when throttled and grows back by a fiftieth with each success. */
class TokenBucket implements Budget {
  readonly #options: BudgetOptions
  #tokens: number
  #filledAt: number
  #pace = 1
  #closedUntil = 0
  #line: Promise<void> = Promise.resolve()
  #inLine = 0
  /** When the last of those who were sent away, by their patience, may come again. */
  readonly #promised = new Map<number, number>()

  constructor(options: BudgetOptions) {
    this.#options = options
    this.#tokens = options.burst
    this.#filledAt = options.clock.now()
  }

  take(signal?: AbortSignal, patienceMs = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    if (this.#inLine === 0 && !signal?.aborted && this.#waitFor() <= 0) {
      this.#tokens -= 1
      return undefined
    }
    const { clock, perSecond } = this.#options
    const ahead = (this.#inLine / (perSecond * this.#pace)) * 1000
    if (ahead > patienceMs) return Promise.reject(this.#sendAway(patienceMs))
    this.#inLine++
    const until = clock.now() + patienceMs
    const reconciliation = this.#line.then(() => this.#wait(signal, until, patienceMs)).finally(() => this.#inLine--)
    // One who gave up waiting must not hold up those behind.
    this.#line = reconciliation.catch(() => {})
    return reconciliation
  }

  async #wait(signal: AbortSignal | undefined, until: number, patienceMs: number): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      const wait = this.#waitFor()
      if (wait <= 0) break
      if (this.#options.clock.now() + wait > until) throw this.#sendAway(patienceMs)
      await this.#options.sleep(wait, signal)
    }
    this.#tokens -= 1
  }

  /**
   * Those who are sent away come again one after the other, at the pace of a provider that does not complain: sooner
   * would be for nothing, and later than they could be served.
   */
  #sendAway(patienceMs: number): OutOfBudgetError {
    const { clock, perSecond } = this.#options
    const now = clock.now()
    const next = Math.max(this.#promised.get(patienceMs) ?? 0, this.#closedUntil, now + patienceMs)
    this.#promised.set(patienceMs, next + 1000 / perSecond)
    return new OutOfBudgetError((next - now) / 1000)
  }

  /** Milliseconds until the next call may be made. */
  #waitFor(): number {
    const now = this.#options.clock.now()
    const perSecond = this.#options.perSecond * this.#pace
    const added = ((now - this.#filledAt) / 1000) * perSecond
    this.#tokens = Math.min(this.#options.burst, this.#tokens + added)
    this.#filledAt = now
    if (now < this.#closedUntil) return this.#closedUntil - now
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / perSecond) * 1000)
  }

  note(error?: unknown): void {
    if (error === undefined) {
      this.#pace = Math.min(1, this.#pace * RECOVERY)
      return
    }
    if (!isThrottled(error)) return
    this.#pace = Math.max(SLOWEST, this.#pace / 2)
    this.#tokens = 0
    const seconds = findInChain(error, ThrottledError)?.retryAfterSeconds
    if (seconds) this.#closedUntil = Math.max(this.#closedUntil, this.#options.clock.now() + seconds * 1000)
  }
}

/** A ThrottledError, or what the SDKs of the large clouds throw in its place. */
function isThrottled(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (/throttl|toomanyrequests|requestlimitexceeded|slowdown/i.test(e.name)) return true
    const status = (e as { $metadata?: { httpStatusCode?: number }; statusCode?: number }).$metadata?.httpStatusCode
    if (status === 429 || (e as { statusCode?: number }).statusCode === 429) return true
  }
  return false
}
