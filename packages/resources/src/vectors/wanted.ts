import type { Vector } from './report.js'

/** One reconcile of a case. */
export interface Round {
  readonly c: Vector
  readonly round: Vector
  /** All that was recorded of the real runtime. */
  readonly recorded: Vector
  /** What ours did. */
  readonly actual: Vector
}

interface Rule {
  readonly name: string
  /** What is expected instead; undefined when the rule does not apply. */
  readonly expect: (round: Round, expected: Vector) => Vector | undefined
  /** After this the stored objects differ on purpose, so later rounds cannot be compared. */
  readonly diverges?: boolean
}

const rules: readonly Rule[] = []

export function wantedDifferences(round: Round, recorded: Vector) {
  let expected = recorded
  const applied: string[] = []
  let diverged = false
  for (const rule of rules) {
    const instead = rule.expect(round, expected)
    if (!instead) continue
    expected = instead
    applied.push(rule.name)
    diverged ||= rule.diverges ?? false
  }
  return { expected, rules: applied, diverged }
}
