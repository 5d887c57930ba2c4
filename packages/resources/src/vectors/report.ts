import { equal, messageOf, stringify } from '@crosstie/kube'

/** What became of the vectors of one run. */
export class Report {
  passed = 0
  failed = 0
  skipped = 0
  /** How often each wanted difference was recognised. */
  readonly wanted = new Map<string, number>()
  readonly failures: string[] = []
  readonly skips = new Map<string, number>()

  /** Counts one vector as passed when what it gives is as expected, and one that we do not understand as failed. */
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

  /** Runs what may take a while. What cannot be understood counts as failed, and the others still run. */
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

/** A vector: whatever JSON object it is. */
// biome-ignore lint/suspicious/noExplicitAny: recorded data of many shapes.
export type Vector = Readonly<Record<string, any>>

/** The value or the error of a call, as the vectors note them. */
export function outcomeOf(call: () => Vector): Vector {
  try {
    return call()
  } catch (error) {
    return { error: (error as Error).message }
  }
}
