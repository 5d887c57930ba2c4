import type { Engine } from '../serving/engine.js'

/**
 * The maximum time that a writer waits for its turn. A webhook that writes the object under review waits for a
 * writer that waits for the webhook. After this time both continue and race.
 */
const WAIT_MAX_MS = 1_000

/**
 * Orders the retries of writers that lost a race for one object. Without an order only one of them would succeed in
 * each round, and the work of the others would be wasted.
 */
class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Whether writers of the key are retrying now. A new writer then queues behind them. */
  contended(key: string): boolean {
    return this.#last.has(key)
  }

  /** Resolves when the writers that came before are done, or after a second. Returns the function that ends the turn. */
  async take(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    let done: () => void = () => {}
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    const last = before ? before.then(() => mine) : mine
    this.#last.set(key, last)
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    })
    if (before) await within(before, WAIT_MAX_MS)
    return done
  }
}

async function within(promise: Promise<void>, millis: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, millis)
  })
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}

const turns = new WeakMap<Engine['store'], Turns>()

/** Returns the turns of the writers to one store. */
export function turnsOf({ store }: Engine): Turns {
  let known = turns.get(store)
  if (!known) {
    known = new Turns()
    turns.set(store, known)
  }
  return known
}
