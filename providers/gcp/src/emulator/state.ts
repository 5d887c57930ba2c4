import { createHash } from 'node:crypto'
import { Failure } from './failure.js'
import { type Item, isItem } from './values.js'

export interface StateOptions {
  /** The time in milliseconds since 1970. Absent: the clock of the machine. */
  readonly now?: () => number
  /** How long operations run. */
  readonly operationMs?: number
  /** How long a read may miss a new service account. */
  readonly consistencyMs?: number
}

/** An operation under way, and its effect when it ends. */
interface Pending {
  readonly key: string
  readonly end: number
  readonly target: string
  readonly finish: (operation: Item) => void
}

/** All resources of the emulated cloud, by service and path. */
export class State {
  readonly #items = new Map<string, Item>()
  readonly #visibleFrom = new Map<string, number>()
  readonly #requests = new Map<string, string>()
  #pending: Pending[] = []
  #count = 0
  readonly operationMs: number
  readonly consistencyMs: number
  readonly now: () => number

  constructor(options: StateOptions) {
    this.now = options.now ?? Date.now
    this.operationMs = options.operationMs ?? 2_000
    this.consistencyMs = options.consistencyMs ?? 500
  }

  time(): string {
    return new Date(this.now()).toISOString()
  }

  /** A number that no other call returns, in digits. */
  number(): string {
    return String(1_000_000_000_000_000_000n + BigInt(++this.#count) * 7_919n)
  }

  /** An opaque text that changes with the content: an etag or a fingerprint. */
  fingerprint(content: unknown): string {
    return createHash('sha256').update(JSON.stringify(content)).digest('base64').slice(0, 11).concat('=')
  }

  get(key: string): Item | undefined {
    const from = this.#visibleFrom.get(key)
    if (from !== undefined && from > this.now()) return undefined
    return this.#items.get(key)
  }

  /** Whether the resource exists, even if reads do not show it yet. */
  has(key: string): boolean {
    return this.#items.has(key)
  }

  set(key: string, item: Item, visibleFrom?: number): void {
    this.#items.set(key, item)
    if (visibleFrom === undefined) this.#visibleFrom.delete(key)
    else this.#visibleFrom.set(key, visibleFrom)
  }

  delete(key: string): void {
    for (const each of [...this.#items.keys()]) {
      if (each === key || each.startsWith(`${key}/`)) this.#items.delete(each)
    }
  }

  /** The resources directly below a collection, in the order of their names. */
  children(collection: string): readonly Item[] {
    const prefix = `${collection}/`
    const keys = [...this.#items.keys()].filter(
      (key) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/'),
    )
    return keys
      .sort()
      .map((key) => this.get(key))
      .filter((item): item is Item => item !== undefined)
  }

  /** All resources whose key passes a test. */
  find(test: (key: string, item: Item) => boolean): readonly Item[] {
    return [...this.#items].flatMap(([key, item]) => (test(key, item) ? [item] : []))
  }

  /** Starts an operation. `finish` changes it and the resources when it ends. */
  begin(key: string, operation: Item, target: string, finish: (operation: Item) => void): Item {
    this.set(key, operation)
    this.#pending.push({ key, end: this.now() + this.operationMs, target, finish })
    return operation
  }

  /** The name of the operation that a resource, or one below it, has under way. */
  busy(target: string): string | undefined {
    const found = this.#pending.find((each) => each.target === target || each.target.startsWith(`${target}/`))
    return found?.key.split('/').at(-1)
  }

  /** Ends the operations whose time has come. */
  advance(): void {
    const now = this.now()
    const due = this.#pending.filter(({ end }) => end <= now)
    this.#pending = this.#pending.filter(({ end }) => end > now)
    for (const { key, finish } of due) {
      const operation = this.#items.get(key)
      if (isItem(operation)) finish(operation)
    }
  }

  /** The operation that an earlier request with the same id started. */
  repeated(requestId: string | null): Item | undefined {
    const key = requestId === null ? undefined : this.#requests.get(requestId)
    return key === undefined ? undefined : this.#items.get(key)
  }

  remember(requestId: string | null, key: string): void {
    if (requestId === null) return
    if (!/^[0-9a-f-]{36}$/i.test(requestId)) {
      throw new Failure(400, `Invalid value for field 'requestId': '${requestId}'. It must be a UUID.`, 'invalid')
    }
    this.#requests.set(requestId, key)
  }
}
