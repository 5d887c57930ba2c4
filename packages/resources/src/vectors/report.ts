import { equal, messageOf, stringify } from '@crosstie/kube'

/** The results of one run of vectors. */
export class Report {
  passed = 0
  failed = 0
  skipped = 0
  /** The number of vectors with each intended difference. */
  readonly wanted = new Map<string, number>()
  readonly failures: string[] = []
  readonly skips = new Map<string, number>()

  /** Counts a vector as passed if the result is as expected. An exception counts as failed. */
  compare(id: string, run: () => unknown, expected: unknown): void {
    try {
      const actual = run()
      if (equal(actual, expected)) this.pass()
      else this.fail(id, `got  ${stringify(actual)}\n    want ${stringify(expected)}`)
    } catch (error) {
      this.fail(id, `not understood: ${messageOf(error)}`)
    }
  }

  pass(wantedDifferences: Iterable<string> = []): void {
    this.passed++
    for (const name of wantedDifferences) this.wanted.set(name, (this.wanted.get(name) ?? 0) + 1)
  }

  fail(id: string, why: string): void {
    this.failed++
    this.failures.push(`${id}: ${why}`)
  }

  /** Runs an asynchronous vector or file. An exception counts as one failure and does not stop the others. */
  async attempt(id: string, run: () => void | Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.fail(id, `not understood: ${messageOf(error)}`)
    }
  }

  skip(reason: string, count = 1): void {
    if (count === 0) return
    this.skipped += count
    this.skips.set(reason, (this.skips.get(reason) ?? 0) + count)
  }
}

/** A vector: a JSON object of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: recorded data of many shapes.
export type Vector = Readonly<Record<string, any>>

/** Returns the value or the error of a call, in the format of the vectors. */
export function outcomeOf(call: () => Vector): Vector {
  try {
    return call()
  } catch (error) {
    return { error: (error as Error).message }
  }
}
