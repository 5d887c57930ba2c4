import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, systemClock } from '@crosstie/kube'
import { bucket } from '../definition/claim-kinds.js'
import { SimulatedCloud } from '../testing/cloud.js'
import { thingOf } from '../testing/thing.js'
import { managedFor } from './provision.js'

const cloud = new SimulatedCloud({ naming: 'user-chosen', tags: false, tokens: false, list: false, clock: systemClock })
const binding = { claim: bucket, managed: thingOf(cloud), role: 'main' as const, configure: () => ({}) }
const NAME = 'crossplane.io/external-name'
const object = (name: string, annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'a/v1',
  kind: 'K',
  metadata: { name, uid: `uid-${name}`, annotations },
})

const cases = [
  { affixes: ['', ''], ambiguous: false, want: 'orders' },
  { affixes: ['p-', '-s'], ambiguous: false, want: 'p-orders-s' },
  { affixes: ['', ''], ambiguous: true, want: 'orders-gold' },
  { affixes: ['p-', '-s'], ambiguous: true, want: 'p-orders-gold-s' },
] as const

for (const { affixes, ambiguous, want } of cases)
  test(`XN5 the external name of a member is ${want}`, () => {
    const [prefix, suffix] = affixes
    const given = object('gold', {
      'crossplane.io/external-name-prefix': prefix,
      'crossplane.io/external-name-suffix': suffix,
    })
    const owner = { claim: object('claim', {}), aggregate: object('aggregate', { [NAME]: 'orders' }), ambiguous }
    assert.equal(managedFor(binding, owner, given, 'member').metadata.annotations?.[NAME], want)
  })
