import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlannedResource, planOf } from '@crosstie/resources'
import { paintFor, plain, withoutColors } from '../shared/terminal.js'
import { planText } from './plan-text.js'

const resource = (more: Partial<PlannedResource>): PlannedResource => ({
  apiVersion: 'ec2.aws.crossplane.io/v1',
  kind: 'VPC',
  name: 'main',
  outcome: 'none',
  because: '',
  steps: [],
  suppressed: [],
  approval: 'NotRequired',
  ...more,
})

const digest = `sha256:${'a'.repeat(64)}`

const cases: Record<string, { because: string; given: Partial<PlannedResource>; want: readonly string[] }> = {
  Update: {
    because: 'each field says what it was and will be; what goes, goes to none',
    given: {
      outcome: 'update',
      externalName: 'vpc-1',
      steps: [
        {
          action: 'update',
          fields: [
            { path: 'size', from: 9, to: 3 },
            { path: 'tags.team', from: 'a' },
            { path: 'pin', sensitive: true },
          ],
        },
      ],
    },
    want: [
      '~ vpc.ec2.aws.crossplane.io/main (vpc-1) will be updated',
      '    ~ size       9 → 3',
      '    - tags.team  "a" → (none)',
      '    + pin        (sensitive)',
    ],
  },
  Suppressed: {
    because: 'a change that is not performed is shown with the reason',
    given: {
      suppressed: [
        { action: 'update', because: 'the policies do not allow Update', fields: [{ path: 'size', from: 9, to: 3 }] },
      ],
    },
    want: [
      '≠ vpc.ec2.aws.crossplane.io/main differs, and stays as it is',
      '    not done: to change it: the policies do not allow Update',
      '      size  9, wanted 3',
    ],
  },
  Stale: {
    because: 'an approval of something else does not count',
    given: { outcome: 'delete', approval: 'Stale', digest, steps: [{ action: 'delete', fields: [] }] },
    want: [
      '- vpc.ec2.aws.crossplane.io/main will be deleted, with its data',
      '    needs approval again: what was approved is something else (sha256:aaaaaaaaaaaa)',
    ],
  },
  Failed: {
    because: 'the error is part of the line',
    given: { outcome: 'error', error: 'connect failed: no credentials' },
    want: ['! vpc.ec2.aws.crossplane.io/main cannot be planned: connect failed: no credentials'],
  },
  Quiet: { because: 'a resource that is up to date is only counted', given: {}, want: [] },
}

for (const [name, { because, given, want }] of Object.entries(cases)) {
  test(`the text of a plan: ${name}: ${because}`, () => {
    const lines = planText(planOf([resource(given)]), plain)
    assert.deepEqual(lines.slice(0, -1).filter(Boolean), want)
    const colored = planText(planOf([resource(given)]), paintFor(true))
    assert.deepEqual(colored.map(withoutColors), lines, 'colors change nothing else')
  })
}

test('one line over all', () => {
  const all = [
    resource({ outcome: 'create' }),
    resource({}),
    resource({ outcome: 'wait' }),
    resource({ outcome: 'error' }),
  ]
  assert.equal(
    planText(planOf(all), plain).at(-1),
    'Plan: 1 to create, 0 to update, 0 to delete; 1 unchanged, 1 waiting, 1 with errors.',
  )
})
