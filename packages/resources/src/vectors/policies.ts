import { equal, stringify } from '@crosstie/kube'
import { policyNames } from '../definition/policies.js'
import { policiesOf } from '../managed/policy/policy.js'
import type { Report, Vector } from './report.js'

/** Runs policies.json, which covers the actions that each set of policies allows. */
export function runPolicies(file: Vector, report: Report): void {
  for (const [i, c] of (file['cases'] as Vector[]).entries()) {
    const id = `policies[${i}] ${c['resolver']} gate=${c['gate']} ${stringify(c['policies'])}`
    const { paused, create, update, delete: deletes, onlyObserve, lateInitialize, valid, error } = c
    const expected = { paused, create, update, delete: deletes, onlyObserve, lateInitialize, valid, error }
    const wanted = Array.isArray(c['policies']) && wantedDifference(c, answer(c), expected)
    if (wanted) report.pass([wanted])
    else report.compare(id, () => answer(c), expected)
  }
}

function answer(c: Vector): Vector {
  const policies = policiesOf(
    { managementPolicies: c['policies'], deletionPolicy: c['deletionPolicy'] ?? '' },
    { gate: c['gate'], hasDeletionPolicy: c['resolver'] === 'legacy' },
  )
  const { create, update, delete: deletes, lateInitialize } = policies.may
  return {
    paused: policies.paused,
    create,
    update,
    delete: deletes,
    onlyObserve: policies.onlyObserve,
    lateInitialize,
    valid: policies.refused === undefined,
    error: policies.refused,
  }
}

/** Returns the name of an intended difference, for the same rows as in wanted.ts but of the policy resolver alone. */
function wantedDifference(c: Vector, actual: Vector, expected: Vector): string | undefined {
  if (equal(actual, expected)) return undefined
  const { error, valid, ...rest } = expected
  const names = c['policies'] as string[]
  const known = names.every((name) => (policyNames as readonly string[]).includes(name))
  if (c['errorClass'] === 'nonDefaultWhileDisabled') {
    const same = equal(actual, { ...rest, valid: true, error: undefined })
    return same ? 'with the gate off a policy is ignored with a warning, not refused (POL8)' : undefined
  }
  if (c['errorClass'] === 'unsupported' && known && actual['valid']) {
    const has = (name: string) => names.includes(name) || names.includes('*')
    const meant =
      actual['create'] === has('Create') && actual['update'] === has('Update') && (!actual['delete'] || has('Delete'))
    return meant ? 'every subset of the policies means something (POL9)' : undefined
  }
  const nothing = { create: false, update: false, delete: false, lateInitialize: false }
  if (!valid && !known && sameWords(actual['error'], error) && equal(actual, { ...actual, ...nothing, valid })) {
    return 'a set with a name that nobody knows allows nothing'
  }
  if (c['deletionPolicy'] === 'Orphan' && equal(actual, { ...expected, delete: false })) {
    return 'deletionPolicy Orphan wins over a list that names Delete (POL6)'
  }
  return undefined
}

/** Compares texts regardless of word order, since the runtime prints a set in random order. */
function sameWords(a: string, b: string): boolean {
  const words = (text = '') =>
    text
      .split(/[\s[\]]+/)
      .filter(Boolean)
      .sort()
  return equal(words(a), words(b))
}
