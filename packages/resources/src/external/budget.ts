import { type Clock, findInChain } from '@crosstie/kube'
import { ThrottledError } from '../definition/external.js'

/** The limit of provider calls for one set of credentials. */
export interface Budget {
  /**
   * Resolves when a call may be sent; returns undefined if it may be sent at once. Callers are served in order.
   * Rejects with an OutOfBudgetError, which contains the time to retry, if the wait would exceed `patienceMs`.
   */
  take(signal?: AbortSignal, patienceMs?: number): Promise<void> | undefined
  /** Records the result of a call. A throttled call halves the rate, and each success raises it again slowly. */
  note(error?: unknown): void
}

/** The budgets of all sets of credentials. */
export interface Budgets {
  of(credentials: string): Budget
}

/** The budget does not permit a call soon. The caller should retry later and not block other work in the meantime. */
export class OutOfBudgetError extends Error {
  override readonly name = 'OutOfBudgetError'

  constructor(
    /** The number of seconds after which to retry. */
    readonly seconds: number,
  ) {
    super('the budget of the credentials is used up')
  }
}

const free: Budget = { take: () => undefined, note: () => {} }

/** Budgets without limits. */
export const unlimited: Budgets = { of: () => free }

/** Options of `budgets`. */
export interface BudgetOptions {
  /** The number of calls per second without throttling. */
  readonly perSecond: number
  /** The number of calls that may be sent at once after an idle period. */
  readonly burst: number
  readonly clock: Clock
  /** Waits. Tests replace it to control time. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** Returns one token bucket for each set of credentials. The buckets adapt to throttling responses. */
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

/** Halves its rate when throttled and raises it by a fiftieth with each success. */
class TokenBucket implements Budget {
  readonly #options: BudgetOptions
  #tokens: number
  #filledAt: number
  #pace = 1
  #closedUntil = 0
  #line: Promise<void> = Promise.resolve()
  #inLine = 0
  /** The next free retry time of rejected callers, by their patience. */
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
    // A caller that gave up must not block the callers behind it.
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
   * Rejects a caller with a retry time. Retry times are spread at the rate without throttling: earlier retries
   * would be rejected again, and later ones would waste budget.
   */
  #sendAway(patienceMs: number): OutOfBudgetError {
    const { clock, perSecond } = this.#options
    const now = clock.now()
    const next = Math.max(this.#promised.get(patienceMs) ?? 0, this.#closedUntil, now + patienceMs)
    this.#promised.set(patienceMs, next + 1000 / perSecond)
    return new OutOfBudgetError((next - now) / 1000)
  }

  /** Returns the milliseconds until the next call may be sent. */
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

/** Recognizes a ThrottledError and the corresponding errors of the SDKs of large clouds. */
function isThrottled(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (/throttl|toomanyrequests|requestlimitexceeded|slowdown/i.test(e.name)) return true
    const status = (e as { $metadata?: { httpStatusCode?: number }; statusCode?: number }).$metadata?.httpStatusCode
    if (status === 429 || (e as { statusCode?: number }).statusCode === 429) return true
  }
  return false
}
