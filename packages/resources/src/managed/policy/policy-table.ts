import { policyNames } from '../../definition/policies.js'
import { type Decision, decide, type ManagedFacts } from '../decide.js'
import { policiesOf } from './policy.js'

const settled: Omit<ManagedFacts, 'may' | 'onlyObserve'> = {
  deleted: false,
  otherFinalizers: false,
  nameUnknown: false,
  exists: true,
  createdRecently: false,
  createInDoubt: false,
  abandoned: false,
  nameOnlyByToken: false,
  lateInitialize: false,
  differences: [],
  upToDate: true,
}

const situations: readonly { readonly title: string; readonly facts: Partial<ManagedFacts> }[] = [
  { title: 'absent', facts: { exists: false } },
  { title: 'differs', facts: { upToDate: false } },
  { title: 'fields left open', facts: { lateInitialize: true } },
  { title: 'object deleted', facts: { deleted: true } },
]

/** Returns a Markdown table of the effects of all 64 subsets of the policies, computed by `decide`. */
export function policyTable(): string {
  const rows = Array.from({ length: 64 }, (_, bits) => policyNames.filter((__, i) => bits & (1 << i))).map((names) => {
    const set = names.length === 0 ? '`[]`' : names.map((name) => `\`${name}\``).join(' ')
    const policies = policiesOf(
      { managementPolicies: names, deletionPolicy: 'Delete' },
      { gate: true, hasDeletionPolicy: true },
    )
    if (policies.paused) return `| ${set} | paused | paused | paused | paused | kept |`
    const cells = situations.map(({ facts }) => {
      const { may, onlyObserve } = policies
      return outcome(decide({ ...settled, ...facts, may, onlyObserve }))
    })
    return `| ${set} | ${cells.join(' | ')} | ${policies.may.observe ? 'written' : 'left as it was'} |`
  })
  const head = ['policies', ...situations.map(({ title }) => title), 'status.atProvider']
  return [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...rows].join('\n')
}

function outcome(decision: Decision): string {
  if (decision.do === 'fail') return 'error'
  if (decision.do === 'release') return decision.suppressed.length > 0 ? 'external kept' : 'gone'
  if (decision.lateInitialize) return 'filled in'
  if (decision.suppressed.some(({ action }) => action === 'lateInitialize')) return 'left open'
  if (decision.suppressed.some(({ action }) => action === 'update')) return 'shown as drift'
  return decision.calls.join(', ') || 'nothing'
}
