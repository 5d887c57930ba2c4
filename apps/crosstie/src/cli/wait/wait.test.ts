import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAim } from './wait.js'

describe('what is waited for', () => {
  const object = (conditions: readonly object[], generation = 1, metadata = {}) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', generation, ...metadata },
    status: { conditions, phase: 'Bound' },
  })
  const ready = { type: 'Ready', status: 'True', reason: 'Available' }
  const cases: readonly [string, string, object | undefined, boolean][] = [
    ['a condition', 'condition=Ready', object([ready]), true],
    ['in any case', 'condition=ready=true', object([ready]), true],
    ['with another status', 'condition=Ready=False', object([ready]), false],
    ['one that is not there', 'condition=Synced', object([ready]), false],
    ['said of an older spec', 'condition=Ready', object([{ ...ready, observedGeneration: 1 }], 2), false],
    ['a field', 'jsonpath={.status.phase}=Bound', object([]), true],
    ['a field without braces', 'jsonpath=.status.phase=Bound', object([]), true],
    ['a field with another value', 'jsonpath={.status.phase}=Unbound', object([]), false],
    ['a field with any value', 'jsonpath={.status.phase}', object([]), true],
    ['gone', 'delete', undefined, true],
    ['not gone', 'delete', object([]), false],
    ['there', 'create', object([]), true],
    ['not there', 'condition=Ready', undefined, false],
  ]
  for (const [because, text, given, want] of cases) {
    test(`${text}: ${because}`, () => assert.equal(parseAim(text).reached(given as never), want))
  }

  test('how far it is', () => {
    const waiting = { type: 'Ready', status: 'False', reason: 'Creating' }
    const failed = { type: 'Synced', status: 'False', reason: 'ReconcileError', message: 'access denied' }
    assert.equal(parseAim('condition=Ready').state(object([waiting, failed])), 'Ready is False: access denied')
    const deleted = object([failed], 1, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] })
    assert.equal(parseAim('delete').state(deleted), 'it is being deleted, held by x/y: access denied')
  })

  test('what cannot be meant', () => {
    for (const text of ['', 'ready', 'condition=', 'jsonpath='])
      assert.throws(() => parseAim(text), /--for takes/, text)
  })
})
