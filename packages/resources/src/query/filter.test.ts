import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@crosstie/kube'
import { SimulatedCloud } from '../testing/cloud.js'
import { thingOf } from '../testing/thing.js'
import { expressionFilter, FilterError, fieldFilter } from './filter.js'
import type { NamedResource } from './list-external.js'
import { nameFor, readable } from './names.js'

const cloud = new SimulatedCloud({
  naming: 'provider-assigned',
  tags: true,
  tokens: false,
  list: true,
  clock: systemClock,
})
const thing = thingOf(cloud)

const found: NamedResource = {
  exists: true,
  externalName: 'vpc-0abc',
  atProvider: { size: 3, members: ['ann', 'bob'], tags: { team: 'payments', Name: 'main', 'app/kind': 'db' } },
}

const matching: readonly { path: string; wanted: string; want: boolean; because: string }[] = [
  { path: 'tags.team', wanted: 'payments', want: true, because: 'a tag is a field' },
  { path: 'tags.team', wanted: 'pay', want: false, because: 'the whole text counts' },
  { path: 'tags.team', wanted: 'pay*', want: true, because: 'a star stands for any text' },
  { path: 'tags.team', wanted: '*y*e*ts', want: true, because: 'many stars may be there' },
  { path: 'tags.team', wanted: 'payments*payments', want: false, because: 'no letter counts twice' },
  { path: 'tags.team', wanted: 'p*yy*s', want: false, because: 'what is between stars must be there' },
  { path: 'tags[app/kind]', wanted: 'db', want: true, because: 'keys may hold anything' },
  { path: 'size', wanted: '3', want: true, because: 'numbers are compared as people write them' },
  { path: 'members', wanted: 'bob', want: true, because: 'one item of a list is enough' },
  { path: 'flavor', wanted: '*', want: false, because: 'what is not reported matches nothing' },
  { path: 'externalName', wanted: 'vpc-*', want: true, because: 'the external name is not among the fields' },
  { path: 'name', wanted: 'main', want: true, because: 'people call it by its tag' },
  { path: 'name', wanted: 'vpc-0abc', want: true, because: 'or by its id' },
]

for (const { path, wanted, want, because } of matching) {
  test(`${path}=${wanted}`, () => assert.equal(fieldFilter(thing, path, wanted)(found), want, because))
}

test('a field that the kind does not have is refused, as it would match nothing', () => {
  assert.throws(() => fieldFilter(thing, 'tag.team', 'x'), /Thing has no field 'tag' to filter by: choose from/)
  assert.throws(() => fieldFilter(thing, 'tags[', 'x'), FilterError)
})

test('an expression answers, or says why it does not', () => {
  assert.deepEqual(expressionFilter("atProvider.tags.team == 'payments'")(found), { matches: true })
  assert.deepEqual(expressionFilter("externalName.startsWith('subnet')")(found), { matches: false })
  assert.deepEqual(expressionFilter("atProvider.tags.stage == 'x'")(found), { error: 'no such key: stage' })
  assert.throws(() => expressionFilter('atProvider.size >'), FilterError)
  assert.throws(() => expressionFilter("'yes'"), /must be true or false, and is string/)
})

const names: readonly { text: string; want: RegExp; because: string }[] = [
  { text: 'payments-db', want: /^payments-db$/, because: 'it is a name already' },
  { text: 'Payments DB', want: /^payments-db-[0-9a-f]{6}$/, because: 'what was lost is told apart by a mark' },
  { text: 'payments/db', want: /^payments-db-[0-9a-f]{6}$/, because: 'the same' },
  { text: 'ünï', want: /^n-[0-9a-f]{6}$/, because: 'only what Kubernetes allows' },
  { text: '///', want: /^[0-9a-f]{6}$/, because: 'nothing is left to read' },
  { text: `${'x'.repeat(300)}`, want: /^x{200}-[0-9a-f]{6}$/, because: 'names are bounded' },
  { text: 'a.-b', want: /^a\.b-[0-9a-f]{6}$/, because: 'a dot stands between letters or digits' },
]

for (const { text, want, because } of names) {
  test(`the name for ${text.slice(0, 20)}`, () => assert.match(nameFor(text), want, because))
}

test('what reads the same has two names', () => {
  assert.equal(readable('Payments DB'), readable('payments/db'))
  assert.notEqual(nameFor('Payments DB'), nameFor('payments/db'))
})
