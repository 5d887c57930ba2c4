import { type AwsCall, actionOf } from '../actions.js'
import { calls } from '../clients.js'

/** Counts the calls that this process makes to AWS, by what IAM calls them, until it is disposed of. */
export function countCalls(): CallCount {
  return new CallCount()
}

export class CallCount implements Disposable {
  readonly #counts = new Map<string, number>()
  readonly #count = (message: unknown) => {
    const action = actionOf(message as AwsCall)
    this.#counts.set(action, this.of(action) + 1)
  }

  constructor() {
    calls.subscribe(this.#count)
  }

  of(action: string): number {
    return this.#counts.get(action) ?? 0
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** All actions that were used, in order. */
  get actions(): readonly string[] {
    return [...this.#counts.keys()].sort()
  }

  clear(): void {
    this.#counts.clear()
  }

  [Symbol.dispose](): void {
    calls.unsubscribe(this.#count)
  }
}
