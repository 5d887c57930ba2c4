import { StatusError } from '@crosstie/kube'

const MEBIBYTE = 1024 * 1024

/** The number of requests that run at the same time. kube-apiserver permits 600 by default. */
const REQUESTS_MAX = 1_000
const REQUESTS_GUARANTEED = 16
const WATCHES_MAX = 20_000
const WATCHES_GUARANTEED = 64
/** Request bodies in memory, complete or not. A client may always send one of the largest size. */
const BODY_BYTES_MAX = 128 * MEBIBYTE
const BODY_BYTES_GUARANTEED = 3 * MEBIBYTE
/** The bytes of request bodies of one connection. */
export const CONNECTION_BODY_BYTES_MAX = 32 * MEBIBYTE
/** Responses that clients have not read yet. */
const WAITING_BYTES_MAX = 256 * MEBIBYTE
const WAITING_BYTES_GUARANTEED = 16 * MEBIBYTE
/** Memory of a request beyond the body of its response: headers, stream, audit entry. */
const RESPONSE_OVERHEAD_BYTES = 4 * 1024
/** Requests that end before they are answered, over all connections of a client. */
const ABORTS_BURST = 5_000
const ABORTS_PER_SECOND = 200

/** Times and sizes of a listener. Tests use smaller ones. */
export interface ConnectionLimits {
  /** Open connections. Unset: what the file descriptor limit leaves, at most 10,000. */
  readonly connections?: number
  /** For the TLS handshake. */
  readonly handshakeTimeoutMs: number
  /** From the handshake to the complete head of the first request. */
  readonly headerTimeoutMs: number
  /** A connection without requests is closed after this time. */
  readonly idleTimeoutMs: number
  /** For a request body to arrive, and for a response to be read. */
  readonly requestTimeoutMs: number
}

/** The timeouts of kube-apiserver. */
export const defaultConnectionLimits: ConnectionLimits = {
  handshakeTimeoutMs: 10_000,
  headerTimeoutMs: 32_000,
  idleTimeoutMs: 90_000,
  requestTimeoutMs: 60_000,
}

/** A token bucket: a burst, then a steady rate. */
export class AbuseBudget {
  #left: number
  #since = Date.now()

  constructor(
    readonly burst: number,
    readonly perSecond: number,
  ) {
    this.#left = burst
  }

  /** False when the budget is exhausted. */
  spend(): boolean {
    this.#refill()
    this.#left -= 1
    return this.#left >= 0
  }

  get exhausted(): boolean {
    this.#refill()
    return this.#left < 1
  }

  get full(): boolean {
    this.#refill()
    return this.#left === this.burst
  }

  #refill(): void {
    const now = Date.now()
    const gained = ((now - this.#since) / 1000) * this.perSecond
    this.#left = Math.min(this.burst, Math.max(this.#left, -this.burst) + gained)
    this.#since = now
  }
}

/** A client as the limits see it: an authenticated user, or an address without a user. */
export class Account {
  /** Requests and watches that hold something. */
  holds = 0
  waitingBytes = 0
  readonly waiting = new Set<PendingResponse>()
  readonly aborts = new AbuseBudget(ABORTS_BURST, ABORTS_PER_SECOND)

  constructor(
    readonly name: string,
    /** Administrators are not limited. */
    readonly exempt: boolean,
  ) {}
}

/**
 * A capacity that clients share. A client may hold as much as is free: one client alone takes at most half of the
 * capacity, and the more clients there are, the less each can take. A small amount is guaranteed to each.
 */
export class FairShare {
  #used = 0
  readonly #held = new Map<Account, number>()

  constructor(
    readonly capacity: number,
    readonly guaranteed: number,
  ) {}

  get used(): number {
    return this.#used
  }

  /** False when the client would hold more than its share. */
  take(account: Account, amount = 1): boolean {
    if (account.exempt) return true
    const held = (this.#held.get(account) ?? 0) + amount
    if (held > this.guaranteed && held > this.capacity - this.#used) return false
    this.#held.set(account, held)
    this.#used += amount
    return true
  }

  give(account: Account, amount = 1): void {
    if (account.exempt || amount === 0) return
    const held = this.#held.get(account)! - amount
    if (held === 0) this.#held.delete(account)
    else this.#held.set(account, held)
    this.#used -= amount
  }
}

/** A response, or the unsent part of a watch, that its client has not read yet. */
export interface PendingResponse {
  readonly account: Account
  bytes: number
  /** Time in milliseconds after which the response is cut off. */
  readonly deadline: number
  cut(): void
}

/** Responses that wait for their clients, bounded in bytes and in time. The heaviest client is cut off first. */
export class ResponseBacklog {
  #bytes = 0
  /** In the order of their deadlines. */
  readonly #timed = new Set<PendingResponse>()
  readonly #accounts = new Set<Account>()

  constructor(
    readonly capacity = WAITING_BYTES_MAX,
    readonly guaranteed = WAITING_BYTES_GUARANTEED,
  ) {}

  get bytes(): number {
    return this.#bytes
  }

  /** Whether the client left more responses unread than its share allows. */
  isOverShare({ waitingBytes }: Account): boolean {
    return waitingBytes > this.guaranteed && waitingBytes > this.capacity - this.#bytes
  }

  add(pending: PendingResponse): void {
    if (pending.deadline !== Number.POSITIVE_INFINITY) this.#timed.add(pending)
    pending.account.waiting.add(pending)
    this.#accounts.add(pending.account)
    this.#count(pending.account, pending.bytes)
    if (this.#bytes > this.capacity) this.#cutHeaviest()
  }

  resize(pending: PendingResponse, bytes: number): void {
    this.#count(pending.account, bytes - pending.bytes)
    pending.bytes = bytes
    if (this.#bytes > this.capacity) this.#cutHeaviest()
  }

  remove(pending: PendingResponse): void {
    const { account } = pending
    if (!account.waiting.delete(pending)) return
    this.#timed.delete(pending)
    this.#count(account, -pending.bytes)
    if (account.waiting.size === 0) this.#accounts.delete(account)
  }

  /** Cuts off the responses that were not read in time. */
  sweep(now: number): void {
    for (const pending of this.#timed) {
      if (pending.deadline > now) return
      this.#cut(pending)
    }
  }

  #count(account: Account, bytes: number): void {
    if (account.exempt) return
    account.waitingBytes += bytes
    this.#bytes += bytes
  }

  /** A single response may be larger than the capacity, as long as it is the only one. */
  #cutHeaviest(): void {
    while (this.#bytes > this.capacity) {
      let heaviest: Account | undefined
      for (const account of this.#accounts) {
        if (!heaviest || account.waitingBytes > heaviest.waitingBytes) heaviest = account
      }
      const [oldest] = heaviest?.waiting ?? []
      if (!oldest || oldest.bytes === this.#bytes) return
      this.#cut(oldest)
    }
  }

  #cut(pending: PendingResponse): void {
    this.remove(pending)
    pending.cut()
  }
}

/** How a request counts: not at all, until it is answered, or as long as its watch is open. */
export type Demand = 'exempt' | 'request' | 'watch'

/** The limits of all clients of a listener. */
export class ClientLimits {
  readonly backlog = new ResponseBacklog()
  readonly bodies = new FairShare(BODY_BYTES_MAX, BODY_BYTES_GUARANTEED)
  readonly #requests = new FairShare(REQUESTS_MAX, REQUESTS_GUARANTEED)
  readonly #watches = new FairShare(WATCHES_MAX, WATCHES_GUARANTEED)
  readonly #accounts = new Map<string, Account>()

  constructor(readonly requestTimeoutMs: number) {}

  /** Returns the same object for the same client, as long as the client holds anything. */
  account(name: string, exempt: boolean): Account {
    const key = exempt ? `exempt ${name}` : name
    let account = this.#accounts.get(key)
    if (!account) {
      account = new Account(name, exempt)
      this.#accounts.set(key, account)
    }
    return account
  }

  /** Throws 429 when the client exceeds its share. */
  admit(account: Account, demand: 'request' | 'watch'): void {
    if (!account.exempt && this.backlog.isOverShare(account)) {
      throw tooMany(`${account.name} has ${mebibytes(account.waitingBytes)} of responses that it has not read`)
    }
    if (!account.exempt && account.aborts.exhausted) {
      throw tooMany(`${account.name} has aborted too many requests`)
    }
    const share = demand === 'watch' ? this.#watches : this.#requests
    if (!share.take(account)) {
      throw tooMany(`${account.name} has too many ${demand === 'watch' ? 'watches' : 'requests'} at the same time`)
    }
    account.holds++
  }

  release(account: Account, demand: 'request' | 'watch'): void {
    account.holds--
    ;(demand === 'watch' ? this.#watches : this.#requests).give(account)
  }

  pending(account: Account, bytes: number, cut: () => void): PendingResponse {
    const deadline = Date.now() + this.requestTimeoutMs
    const pending = { account, bytes: bytes + RESPONSE_OVERHEAD_BYTES, deadline, cut }
    this.backlog.add(pending)
    return pending
  }

  /** Closes late responses and removes clients that hold nothing. */
  sweep(now: number): void {
    this.backlog.sweep(now)
    for (const [key, account] of this.#accounts) {
      if (account.holds === 0 && account.waiting.size === 0 && account.aborts.full) this.#accounts.delete(key)
    }
  }
}

/** Returns a 429 that permits a retry after a second. */
export function tooMany(why: string): StatusError {
  const message = `Too many requests: ${why}. Try again later.`
  return new StatusError(429, 'TooManyRequests', message, { details: { retryAfterSeconds: 1 } })
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`
}
