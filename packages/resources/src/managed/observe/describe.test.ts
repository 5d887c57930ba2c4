import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redactor } from '../../status/redact.js'
import { describe, fieldsIn } from './describe.js'

const difference = (path: string, desired: unknown, observed: unknown) =>
  ({ path, desired, observed }) as Parameters<typeof describe>[1][number]

test('the fields are found again in the words, whatever the values hold', () => {
  const differences = [
    difference('size', 3, undefined),
    difference('tags[my key]', 'a; b', 'is: c'),
    difference('scaling.desired', { a: 1 }, [1, 2]),
  ]
  const message = describe(new Redactor(), differences)
  assert.equal(message.split('; ')[0], 'size: wanted 3, is absent')
  assert.deepEqual(fieldsIn(message), ['size', 'tags[my key]', 'scaling.desired'])
})

test('many fields are counted, long values cut, secrets masked before that', () => {
  const secrets = new Redactor()
  secrets.addValue('correct-horse-battery')
  const many = Array.from({ length: 12 }, (_, i) => difference(`f${i}`, 'x'.repeat(100), 'correct-horse-battery'))
  const message = describe(secrets, many)
  assert.match(message, /; and 2 more$/)
  assert.ok(!message.includes('correct-horse'))
  assert.equal(fieldsIn(message).length, 10)
  assert.deepEqual(fieldsIn('the provider reports a difference'), [])
})
