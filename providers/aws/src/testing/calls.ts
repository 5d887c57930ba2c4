import { type AwsCall, actionOf } from '../actions.js'
import { calls } from '../clients.js'

/** Counts the AWS calls of this process by IAM action, until the result is disposed. */
export function countCalls(): CallCount {
  return new CallCount()
}

/** The number of AWS calls by IAM action. */
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

  /** The IAM actions of all calls, sorted. */
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
