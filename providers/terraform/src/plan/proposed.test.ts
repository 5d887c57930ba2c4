import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Attribute, type Block, type NestedBlock, typeOfBlock } from '../protocol/schema.js'
import { listOf, objectOf } from '../protocol/types.js'
import { unknown, type Value } from '../protocol/values.js'
import { changesBetween } from './changes.js'
import { normalizeLegacy } from './legacy.js'
import { proposedNewState } from './proposed.js'
import { withoutWriteOnly } from './write-only.js'

const attribute = (more: Partial<Attribute> = {}): Attribute => ({
  type: 'string',
  description: '',
  required: false,
  optional: true,
  computed: false,
  sensitive: false,
  writeOnly: false,
  deprecated: false,
  ...more,
})
const computed = attribute({ optional: false, computed: true })
const chosen = attribute({ computed: true })

const block = (
  attributes: Readonly<Record<string, Attribute>>,
  blocks: Readonly<Record<string, NestedBlock>> = {},
): Block => ({ attributes, blocks, description: '', deprecated: false })

const nested = (nesting: NestedBlock['nesting'], inner: Block): NestedBlock => ({
  nesting,
  block: inner,
  minItems: 0,
  maxItems: 0,
})

const item = block({ port: attribute({ required: true, optional: false }), id: computed, zone: chosen })

test('the configuration wins, and the provider keeps what it chose', () => {
  const schema = block({ name: attribute(), id: computed, size: chosen })
  const prior = { name: 'old', id: 'i-1', size: 'small' }
  assert.deepEqual(proposedNewState(schema, prior, { name: 'new', id: null, size: null }), {
    name: 'new',
    id: 'i-1',
    size: 'small',
  })
  assert.deepEqual(proposedNewState(schema, prior, { name: null, id: null, size: 'big' }), {
    name: null,
    id: 'i-1',
    size: 'big',
  })
})

test('a create proposes empty blocks, not null ones', () => {
  const schema = block({ id: computed }, { rule: nested('list', item), one: nested('single', item) })
  const config = { id: null, rule: [{ port: '80', id: null, zone: null }], one: null }
  assert.deepEqual(proposedNewState(schema, null, config), config)
  assert.equal(proposedNewState(schema, null, null), null)
})

test('items of lists are matched by index, those of maps by key', () => {
  const lists = block({}, { rule: nested('list', item) })
  const before = { port: '80', id: 'r-1', zone: 'a' }
  const wanted = (port: string) => ({ port, id: null, zone: null })
  assert.deepEqual(proposedNewState(lists, { rule: [before] }, { rule: [wanted('81'), wanted('82')] }), {
    rule: [{ port: '81', id: 'r-1', zone: 'a' }, wanted('82')],
  })
  const maps = block({}, { rule: nested('map', item) })
  assert.deepEqual(proposedNewState(maps, { rule: { x: before } }, { rule: { x: wanted('80'), y: wanted('1') } }), {
    rule: { x: before, y: wanted('1') },
  })
})

test('items of sets are matched by what the user set', () => {
  const schema = block({}, { rule: nested('set', item) })
  const prior = {
    rule: [
      { port: '80', id: 'r-1', zone: 'a' },
      { port: '443', id: 'r-2', zone: 'b' },
    ],
  }
  const config = {
    rule: [
      { port: '443', id: null, zone: null },
      { port: '22', id: null, zone: null },
      { port: '80', id: null, zone: 'c' },
    ],
  }
  assert.deepEqual(proposedNewState(schema, prior, config), {
    rule: [
      { port: '443', id: 'r-2', zone: 'b' },
      { port: '22', id: null, zone: null },
      // The zone that the user asks for is another, so it is another item.
      { port: '80', id: null, zone: 'c' },
    ],
  })
})

test('a group is merged even when nothing of it is configured; a single block is not', () => {
  const schema = block({}, { group: nested('group', item), one: nested('single', item) })
  const held = { port: null, id: 'r-1', zone: 'a' }
  const empty = { port: null, id: null, zone: null }
  assert.deepEqual(proposedNewState(schema, { group: held, one: held }, { group: empty, one: null }), {
    group: held,
    one: null,
  })
})

test('nested attributes follow the same rules', () => {
  const attributes = { port: attribute(), id: computed }
  const type = listOf(objectOf({ port: 'string', id: 'string' }))
  const schema = block({ rules: attribute({ type, nested: { nesting: 'list', attributes } }) })
  const prior = { rules: [{ port: '1', id: 'r-1' }] }
  assert.deepEqual(proposedNewState(schema, prior, { rules: [{ port: '2', id: null }] }), {
    rules: [{ port: '2', id: 'r-1' }],
  })
  const optional = block({ rules: attribute({ type, computed: true, nested: { nesting: 'list', attributes } }) })
  // A part that only a user can set was configured before, and is now left open.
  assert.deepEqual(proposedNewState(optional, prior, { rules: null }), { rules: null })
  const chosenOnly = { rules: [{ port: null, id: 'r-1' }] }
  assert.deepEqual(proposedNewState(optional, chosenOnly, { rules: null }), chosenOnly)
})

test('blocks that an older SDK left null or unknown are filled in', () => {
  const schema = block(
    { id: computed },
    { list: nested('list', item), set: nested('set', item), group: nested('group', item), one: nested('single', item) },
  )
  assert.deepEqual(normalizeLegacy(schema, { id: 'x', list: null, set: unknown, group: null, one: null }), {
    id: 'x',
    list: [],
    set: [{ port: unknown, id: unknown, zone: unknown }],
    group: { port: null, id: null, zone: null },
    one: null,
  })
  assert.equal(normalizeLegacy(schema, null), null)
})

test('write-only attributes never reach a state', () => {
  const secret = attribute({ writeOnly: true })
  const schema = block({ a: attribute(), token: secret }, { login: nested('list', block({ password: secret })) })
  assert.deepEqual(withoutWriteOnly(schema, { a: '1', token: 't', login: [{ password: 'p' }] }), {
    a: '1',
    token: null,
    login: [{ password: null }],
  })
})

test('changes are named as deep as both values have the same shape', () => {
  const type = typeOfBlock(block({ name: attribute() }, { rule: nested('list', item), set: nested('set', item) }))
  const rule = (port: string) => ({ port, id: null, zone: null })
  const before: Value = { name: 'a', rule: [rule('1')], set: [rule('1'), rule('2')] }
  const paths = (after: Value) => changesBetween(type, before, after).map(({ path }) => path.join('.'))
  assert.deepEqual(paths({ ...before, rule: [rule('2')] }), ['rule.0.port'])
  assert.deepEqual(paths({ ...before, rule: [] }), ['rule'])
  assert.deepEqual(paths({ ...before, set: [rule('2'), rule('1')] }), [])
  assert.deepEqual(paths({ ...before, name: unknown }), ['name'])
})
