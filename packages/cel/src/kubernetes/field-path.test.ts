import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walkFieldPath } from './field-path.js'

interface Case {
  readonly path: string
  readonly brackets?: boolean
  readonly names: readonly string[]
  readonly error?: string
}

const cases: Record<string, Case> = {
  Fields: { path: '.spec.size', names: ['spec', 'size'] },
  QuotedKey: { path: ".labels['a.b/c']", names: ['labels', 'a.b/c'] },
  Escapes: { path: "['it\\'s\\n']", names: ["it's\n"] },
  // As in kube-apiserver, a quote after a backslash never ends the text, even if the backslash is escaped itself.
  EscapedBackslash: { path: "['a\\\\']", names: [], error: "expected single quoted string but got 'a\\\\']" },
  UnknownEscape: { path: "['\\q']", names: [], error: 'invalid string literal: invalid escape char \\q' },
  NoDelimiter: { path: 'spec', names: [], error: 'expected [ or . but got: spec' },
  NoName: { path: '.a.', names: ['a'], error: 'unexpected end of JSON path' },
  NotClosed: { path: "['a'", names: ['a'], error: 'unexpected end of JSON path' },
  NotQuoted: { path: '[0]', names: [], error: 'expected single quoted string but got 0' },
  NoBrackets: { path: "['a']", brackets: false, names: [], error: 'array notation is not allowed' },
}

for (const [name, { path, brackets = true, names, error }] of Object.entries(cases)) {
  test(`a field path is read as kube-apiserver reads it: ${name}`, () => {
    const entered: string[] = []
    const enter = (field: string) => {
      entered.push(field)
      return undefined
    }
    assert.equal(walkFieldPath(path, enter, { brackets }), error)
    assert.deepEqual(entered, names)
  })
}

test('a message of the callback ends the walk', () => {
  assert.equal(
    walkFieldPath('.a.b', (name) => (name === 'b' ? 'unknown' : undefined)),
    'unknown',
  )
})
