import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { type Candidate, selectClass } from './select-class.js'

const of = (name: string, more: object = {}, isSuitable = true): Candidate => ({
  class: { apiVersion: 'g/v1', kind: 'KClass', metadata: { name, ...more } },
  isSuitable,
})
const isDefault = { annotations: { 'resourceclass.crossplane.io/is-default-class': 'true' } }
const claim = (spec: object = {}): KubeObject => ({ apiVersion: 'g/v1', kind: 'Bucket', metadata: { name: 'c' }, spec })
const large = claim({ classSelector: { matchLabels: { size: 'large' } } })

interface Case {
  readonly because: string
  readonly claim: KubeObject
  readonly given: readonly Candidate[]
  readonly want: string | RegExp
}

const cases: Record<string, Case> = {
  Default: { because: 'CLM2 nothing else is said', claim: claim(), given: [of('a'), of('b', isDefault)], want: 'b' },
  NoDefault: { because: 'none is', claim: claim(), given: [of('a')], want: /waiting for a default class$/ },
  NotQuite: {
    because: 'only exactly "true" is',
    claim: claim(),
    given: [of('a', { annotations: { 'resourceclass.crossplane.io/is-default-class': 'yes' } })],
    want: /waiting/,
  },
  First: {
    because: 'everybody chooses the same',
    claim: claim(),
    given: [of('b', isDefault), of('a', isDefault)],
    want: 'a',
  },
  Selector: {
    because: 'CLM2 its labels match',
    claim: large,
    given: [of('a', isDefault), of('b', { labels: { size: 'large' } })],
    want: 'b',
  },
  NoMatch: {
    because: 'CLM2 the default does not stand in',
    claim: large,
    given: [of('a', isDefault)],
    want: /a class with labels size=large/,
  },
  Nonsense: {
    because: 'AGG4 it would provision nothing of use',
    claim: claim(),
    given: [of('a', isDefault, false)],
    want: /KClass a has nothing to offer to a Bucket/,
  },
}

for (const [name, { because, claim, given, want }] of Object.entries(cases)) {
  test(`${name}: ${because}`, () => {
    const selected = selectClass(claim, given)
    if (typeof want === 'string') assert.equal(selected.class?.metadata.name, want)
    else assert.match(selected.because, want)
  })
}
