import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BindableFacts, type ClaimFacts, decide } from './decide.js'

const bindable: BindableFacts = {
  holder: 'this claim',
  same: true,
  provisioning: false,
  deleted: false,
  reclaim: 'Delete',
}
const bound: ClaimFacts = { deleted: false, named: true, ownName: true, noted: true, kept: true, bindable }
const of = (more: Partial<BindableFacts>): Partial<ClaimFacts> => ({ bindable: { ...bindable, ...more } })

interface Case {
  readonly because: string
  readonly given: Partial<ClaimFacts>
  readonly want: string
}

const cases: Record<string, Case> = {
  Bound: { because: 'nothing is left but to see that it is ready', given: {}, want: 'converge' },
  Fresh: {
    because: 'AGG9 a class and a name come first',
    given: { named: false, noted: false, kept: false, bindable: undefined },
    want: 'choose',
  },
  Named: {
    because: 'AGG9 then the thing of that name',
    given: { noted: false, bindable: undefined },
    want: 'provision',
  },
  Made: { because: 'AGG9 then its uid', given: { noted: false, ...of({ provisioning: true }) }, want: 'note' },
  Noted: { because: 'only what the claim knows of is acted on', given: of({ provisioning: true }), want: 'activate' },
  NameTaken: {
    because: 'somebody else has that name',
    given: { noted: false, ...of({ holder: 'nobody' }) },
    want: 'rename',
  },
  NameTakenByOther: {
    because: 'even another claim',
    given: { noted: false, ...of({ holder: 'another claim' }) },
    want: 'rename',
  },
  Static: {
    because: 'CLM2 free, and asked for by name',
    given: { ownName: false, noted: false, ...of({ holder: 'nobody' }) },
    want: 'bind',
  },
  StaticUnkept: {
    because: 'the finalizer comes first',
    given: { ownName: false, noted: false, kept: false, ...of({ holder: 'nobody' }) },
    want: 'keep',
  },
  StaticAbsent: { because: 'it may come', given: { ownName: false, noted: false, bindable: undefined }, want: 'wait' },
  StaticHeld: {
    because: 'CLM3 one resource, one claim',
    given: { ownName: false, noted: false, ...of({ holder: 'another claim' }) },
    want: 'wait',
  },
  StaticPart: {
    because: 'AGG5 parts belong to their aggregate',
    given: { ownName: false, noted: false, ...of({ holder: 'an aggregate' }) },
    want: 'wait',
  },
  StaticLeaving: {
    because: 'what is being deleted is not offered',
    given: { ownName: false, noted: false, ...of({ holder: 'nobody', deleted: true }) },
    want: 'wait',
  },
  SpoofedUid: {
    because: 'CLM7 to write a uid into the claim binds nothing',
    given: { ownName: false, ...of({ holder: 'another claim' }) },
    want: 'wait',
  },
  Lost: { because: 'it was there and is not', given: { bindable: undefined }, want: 'lose' },
  Replaced: { because: 'another of its name is not the same', given: of({ same: false }), want: 'lose' },
  Leaving: { because: 'somebody deleted it', given: of({ deleted: true }), want: 'wait' },
  DeletedFresh: {
    because: 'there is nothing to let go of',
    given: { deleted: true, named: false, bindable: undefined },
    want: 'release',
  },
  DeletedOther: {
    because: 'CLM7 what is not ours is not deleted',
    given: { deleted: true, ...of({ holder: 'another claim' }) },
    want: 'release',
  },
  DeletedReplaced: {
    because: 'nor what took its name',
    given: { deleted: true, ...of({ same: false }) },
    want: 'release',
  },
  DeletedRetain: { because: 'CLM5', given: { deleted: true, ...of({ reclaim: 'Retain' }) }, want: 'retain' },
  DeletedDelete: { because: 'CLM5', given: { deleted: true }, want: 'reclaim' },
  DeletedUnused: {
    because: 'what nobody acted on is not worth keeping',
    given: { deleted: true, ...of({ reclaim: 'Retain', provisioning: true }) },
    want: 'reclaim',
  },
}

for (const [name, { because, given, want }] of Object.entries(cases)) {
  test(`${name}: ${because}`, () => assert.equal(decide({ ...bound, ...given }).do, want))
}

test('CLM3 CLM7 in every situation: what another holds is neither bound, activated nor deleted', () => {
  const booleans = [true, false]
  for (const facts of everything()) {
    const { do: deed } = decide(facts)
    const foreign =
      facts.bindable && (facts.bindable.holder === 'another claim' || facts.bindable.holder === 'an aggregate')
    if (foreign || (facts.bindable && !facts.bindable.same)) {
      assert.ok(!['bind', 'activate', 'converge', 'reclaim', 'retain'].includes(deed), JSON.stringify(facts))
    }
    if (!facts.kept) assert.ok(!['provision', 'bind', 'activate'].includes(deed), JSON.stringify(facts))
    if (facts.deleted) assert.ok(['release', 'retain', 'reclaim'].includes(deed), JSON.stringify(facts))
  }
  function* everything(): Generator<ClaimFacts> {
    const holders = ['nobody', 'this claim', 'another claim', 'an aggregate'] as const
    for (let bits = 0; bits < 32; bits++) {
      const [deleted, named, ownName, noted, kept] = [1, 2, 4, 8, 16].map((bit) => (bits & bit) > 0) as [
        boolean,
        boolean,
        boolean,
        boolean,
        boolean,
      ]
      const base = { deleted, named, ownName, noted, kept }
      yield { ...base, bindable: undefined }
      if (!named) continue
      for (const holder of holders)
        for (const same of noted ? booleans : [true])
          for (const provisioning of booleans)
            for (const gone of booleans)
              for (const reclaim of ['Delete', 'Retain'] as const)
                yield { ...base, bindable: { holder, same, provisioning, deleted: gone, reclaim } }
    }
  }
})
