import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decision, decide, type ManagedFacts } from './decide.js'

const all = { create: true, update: true, delete: true, lateInitialize: true, observe: true }
const none = { create: false, update: false, delete: false, lateInitialize: false, observe: true }
const settled: ManagedFacts = {
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
  may: all,
  onlyObserve: false,
}

interface Case {
  readonly because: string
  readonly given: Partial<ManagedFacts>
  readonly want: Decision['do']
  readonly calls?: string
  readonly suppressed?: string
}

const cases: Record<string, Case> = {
  UpToDate: { because: 'nothing differs', given: {}, want: 'converge' },
  Drifted: {
    because: 'the cloud differs from the spec',
    given: { upToDate: false },
    want: 'converge',
    calls: 'Update',
  },
  DriftedButNotAllowed: {
    because: 'Update is not allowed',
    given: { upToDate: false, may: none },
    want: 'converge',
    suppressed: 'update',
  },
  LeftOpenButNotAllowed: {
    because: 'LateInitialize is not allowed',
    given: { lateInitialize: true, may: none },
    want: 'converge',
    suppressed: 'lateInitialize',
  },
  Missing: { because: 'it was never made', given: { exists: false }, want: 'create', calls: 'Create' },
  MissingButNotAllowed: {
    because: 'we may look, not make',
    given: { exists: false, may: none },
    want: 'fail',
    suppressed: 'create',
  },
  MissingAfterCreate: {
    because: 'a slow API must not cost a second VPC',
    given: { exists: false, createdRecently: true },
    want: 'wait',
  },
  DeletedRightAfterCreate: {
    because: 'a delete that found nothing may have asked before the API showed it',
    given: { deleted: true, exists: false, createdRecently: true },
    want: 'wait',
  },
  MissingUnderObserveOnly: {
    because: 'whoever only looks has nothing to wait for',
    given: { exists: false, createdRecently: true, may: none, onlyObserve: true },
    want: 'fail',
    suppressed: 'create',
  },
  InDoubt: {
    because: 'an interrupted create may yet show',
    given: { exists: false, createInDoubt: true },
    want: 'wait',
  },
  Abandoned: {
    because: 'the aggregate that it is part of goes away, and has settled in which order without it',
    given: { exists: false, abandoned: true },
    want: 'wait',
  },
  Deleted: { because: 'the user deleted it', given: { deleted: true }, want: 'delete', calls: 'Delete' },
  DeletedAndGone: { because: 'nothing is left to delete', given: { deleted: true, exists: false }, want: 'release' },
  DeletedButOrphaned: {
    because: 'Delete is not allowed',
    given: { deleted: true, may: none },
    want: 'release',
    suppressed: 'delete',
  },
  DeletedAndHeld: {
    because: 'somebody else has a finalizer',
    given: { deleted: true, otherFinalizers: true },
    want: 'wait',
  },
  DeletedInDoubt: {
    because: 'letting go now could leak it',
    given: { deleted: true, exists: false, createInDoubt: true },
    want: 'wait',
  },
  DeletedNameUnknown: {
    because: 'only a repeated create tells its name',
    given: { deleted: true, exists: false, nameOnlyByToken: true },
    want: 'create',
    calls: 'Create',
  },
}

for (const [name, { because, given, want, calls = '', suppressed = '' }] of Object.entries(cases)) {
  test(`${name}: ${because}`, () => {
    const decision = decide({ ...settled, ...given })
    assert.equal(decision.do, want)
    assert.equal(decision.calls.join(' '), calls)
    assert.equal(decision.suppressed.map(({ action }) => action).join(' '), suppressed)
  })
}

// Sixteen booleans give 65,536 situations, so this test runs all of them instead of a sample.
test('NeverActsWithoutLeave', () => {
  for (let bits = 0; bits < 1 << 16; bits++) {
    const bit = (n: number) => (bits & (1 << n)) !== 0
    const may = { create: bit(0), update: bit(1), delete: bit(2), lateInitialize: bit(3), observe: bit(4) }
    const facts: ManagedFacts = {
      deleted: bit(5),
      otherFinalizers: bit(6),
      exists: bit(7),
      createdRecently: bit(8),
      createInDoubt: bit(9),
      nameOnlyByToken: bit(10),
      lateInitialize: bit(11),
      differences: [],
      upToDate: bit(12),
      may,
      onlyObserve: bit(13),
      abandoned: bit(14),
      nameUnknown: bit(15),
    }
    const { calls, do: act, lateInitialize } = decide(facts)
    const situation = JSON.stringify(facts)
    // A create that returns the name of a resource to delete is part of the deletion.
    if (calls.includes('Create')) assert.ok(facts.deleted ? may.delete : may.create, situation)
    if (calls.includes('Create')) assert.ok(!facts.exists, situation)
    if (calls.includes('Update')) assert.ok(may.update && facts.exists && !facts.upToDate && !facts.deleted, situation)
    if (calls.includes('Delete'))
      assert.ok(may.delete && facts.exists && facts.deleted && !facts.otherFinalizers, situation)
    if (lateInitialize) assert.ok(may.lateInitialize && facts.exists && !facts.deleted, situation)
    if (facts.abandoned && !facts.deleted) assert.ok(!calls.includes('Create'), situation)
    if (act === 'release') assert.ok(facts.deleted && (!facts.exists || !may.delete), situation)
    if (facts.nameUnknown) assert.ok(calls.length === 0, situation)
    assert.ok(calls.length <= 1, situation)
  }
})
