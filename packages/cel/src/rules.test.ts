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

test('a schema without rules needs none', () => {
  assert.equal(compileRules(object({ spec: object({ a: text }) })), undefined)
})

test('rules report where their value is, from the path that they are given', () => {
  const rules = compileRules(object({ items: { type: 'array', items: withRules(text, 'self != "bad"') } }))!
  const errors = rules.validate({ items: ['ok', 'bad'] }, undefined, { path: 'status' })
  assert.deepEqual(errors.map(fieldErrorText), ['status.items[1]: Invalid value: "string": failed rule: self != "bad"'])
})

test('the root has no name', () => {
  const rules = compileRules(withRules(object({ spec: object({ a: integer }) }), 'self.spec.a > 1'))!
  const [error] = rules.validate({ spec: { a: 1 } })
  assert.equal(fieldErrorText(error!), '<nil>: Invalid value: "object": failed rule: self.spec.a > 1')
})

test('what is forgiven is told', () => {
  const rules = compileRules(object({ spec: object({ a: withRules(text, 'self == "x"'), b: integer }) }))!
  const told: string[] = []
  const before = { spec: { a: 'bad', b: 1 } }
  const onForgiven = (error: Parameters<typeof fieldErrorText>[0]) => told.push(fieldErrorText(error))
  assert.deepEqual(rules.validate({ spec: { a: 'bad', b: 2 } }, before, { onForgiven }), [])
  assert.deepEqual(told, ['spec.a: Invalid value: "string": failed rule: self == "x"'])
  assert.equal(rules.validate({ spec: { a: 'worse', b: 1 } }, before, { onForgiven }).length, 1)
})

test('what was accepted once stays acceptable', () => {
  const schema = object({
    spec: withRules(object({ l: { type: 'array', maxItems: 5, items: integer } }), 'self.l.sort() == self.l'),
  })
  const refused = checkRules(schema, path)
  assert.match(refused.map(fieldErrorText).join(), /undeclared reference to 'sort'/)
  assert.deepEqual(checkRules(schema, path, { oldSchemas: [schema] }), [])
  assert.deepEqual(compileRules(schema)!.validate({ spec: { l: [1, 2] } }), [])
})

test('a version that did not change may keep rules that are too dear', () => {
  const words: JSONSchemaProps = { type: 'array', maxItems: 500, items: { type: 'string', maxLength: 100 } }
  const schema = object({ spec: withRules(object({ l: words }), 'self.l.all(a, self.l.all(b, a == b || a != b))') })
  const costs = (errors: ReturnType<typeof checkRules>) => errors.map(({ field, type }) => `${type} ${field}`)
  const rule = `${path}.properties[spec].x-kubernetes-validations[0].rule`
  assert.deepEqual(costs(checkRules(schema, path)), [`Forbidden ${rule}`])
  assert.deepEqual(checkRules(schema, path, { unchanged: true }), [])
})

test('rules see properties of any name, and only those of the object itself', () => {
  const schema = withRules(object({ constructor: text, __proto__: text }), 'has(self.constructor)')
  const rules = compileRules(object({ spec: schema }))!
  assert.equal(rules.validate({ spec: {} }).length, 1)
  assert.deepEqual(rules.validate({ spec: { constructor: 'x' } }), [])
})

test('integers beyond 2^53 keep all their digits', () => {
  const rules = compileRules(object({ spec: withRules(object({ a: integer, b: integer }), 'self.a < self.b') }))!
  assert.deepEqual(rules.validate({ spec: { a: 9007199254740992n, b: 9007199254740993n } }), [])
  assert.equal(rules.validate({ spec: { a: 9007199254740993n, b: 9007199254740993n } }).length, 1)
})

test('a list of type map is the same in any order', () => {
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
