import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRules } from './check-rules.js'
import { fieldErrorText } from './kubernetes/field-error.js'
import type { JSONSchemaProps, ValidationRule } from './kubernetes/schema.js'
import { compileRules } from './rules.js'

const withRules = (schema: JSONSchemaProps, ...rules: readonly (string | ValidationRule)[]): JSONSchemaProps => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({ type: 'object', properties })
const text: JSONSchemaProps = { type: 'string' }
const integer: JSONSchemaProps = { type: 'integer' }
const path = 'spec.versions[0].schema.openAPIV3Schema'

test('a schema without rules compiles to undefined', () => {
  assert.equal(compileRules(object({ spec: object({ a: text }) })), undefined)
})

test('rules report the path of their value below the given path', () => {
  const rules = compileRules(object({ items: { type: 'array', items: withRules(text, 'self != "bad"') } }))!
  const errors = rules.validate({ items: ['ok', 'bad'] }, undefined, { path: 'status' })
  assert.deepEqual(errors.map(fieldErrorText), ['status.items[1]: Invalid value: "string": failed rule: self != "bad"'])
})

test('the root has no name', () => {
  const rules = compileRules(withRules(object({ spec: object({ a: integer }) }), 'self.spec.a > 1'))!
  const [error] = rules.validate({ spec: { a: 1 } })
  assert.equal(fieldErrorText(error!), '<nil>: Invalid value: "object": failed rule: self.spec.a > 1')
})

test('tolerated failures are reported to the callback', () => {
  const rules = compileRules(object({ spec: object({ a: withRules(text, 'self == "x"'), b: integer }) }))!
  const tolerated: string[] = []
  const before = { spec: { a: 'bad', b: 1 } }
  const onTolerated = (error: Parameters<typeof fieldErrorText>[0]) => tolerated.push(fieldErrorText(error))
  assert.deepEqual(rules.validate({ spec: { a: 'bad', b: 2 } }, before, { onTolerated }), [])
  assert.deepEqual(tolerated, ['spec.a: Invalid value: "string": failed rule: self == "x"'])
  assert.equal(rules.validate({ spec: { a: 'worse', b: 1 } }, before, { onTolerated }).length, 1)
})

test('accepted expressions stay valid', () => {
  const schema = object({
    spec: withRules(object({ l: { type: 'array', maxItems: 5, items: integer } }), 'self.l.sort() == self.l'),
  })
  const refused = checkRules(schema, path)
  assert.match(refused.map(fieldErrorText).join(), /undeclared reference to 'sort'/)
  assert.deepEqual(checkRules(schema, path, { oldSchemas: [schema] }), [])
  assert.deepEqual(compileRules(schema)!.validate({ spec: { l: [1, 2] } }), [])
})

test('an unchanged version may keep rules that exceed the cost limit', () => {
  const words: JSONSchemaProps = { type: 'array', maxItems: 500, items: { type: 'string', maxLength: 100 } }
  const schema = object({ spec: withRules(object({ l: words }), 'self.l.all(a, self.l.all(b, a == b || a != b))') })
  const costs = (errors: ReturnType<typeof checkRules>) => errors.map(({ field, type }) => `${type} ${field}`)
  const rule = `${path}.properties[spec].x-kubernetes-validations[0].rule`
  assert.deepEqual(costs(checkRules(schema, path)), [`Forbidden ${rule}`])
  assert.deepEqual(checkRules(schema, path, { unchanged: true }), [])
})

test('rules can access properties of any name, but no inherited ones', () => {
  const schema = withRules(object({ constructor: text, __proto__: text }), 'has(self.constructor)')
  const rules = compileRules(object({ spec: schema }))!
  assert.equal(rules.validate({ spec: {} }).length, 1)
  assert.deepEqual(rules.validate({ spec: { constructor: 'x' } }), [])
})

test('integers beyond 2^53 stay exact', () => {
  const rules = compileRules(object({ spec: withRules(object({ a: integer, b: integer }), 'self.a < self.b') }))!
  assert.deepEqual(rules.validate({ spec: { a: 9007199254740992n, b: 9007199254740993n } }), [])
  assert.equal(rules.validate({ spec: { a: 9007199254740993n, b: 9007199254740993n } }).length, 1)
})

test('the order of a list of type map does not matter', () => {
  const item: JSONSchemaProps = { ...object({ k: text, v: integer }), required: ['k'] }
  const list: JSONSchemaProps = {
    type: 'array',
    maxItems: 10,
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }
  const rules = compileRules(object({ spec: withRules(object({ l: list }), 'self.l == oldSelf.l') }))!
  const one = { k: 'a', v: 1 }
  const two = { k: 'b', v: 2 }
  assert.deepEqual(rules.validate({ spec: { l: [one, two] } }, { spec: { l: [two, one] } }), [])
  assert.equal(rules.validate({ spec: { l: [one, { ...two, v: 3 }] } }, { spec: { l: [two, one] } }).length, 1)
})
