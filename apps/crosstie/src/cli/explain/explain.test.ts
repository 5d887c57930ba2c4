import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plain } from '../shared/terminal.js'
import { explainLines, fieldTree, type KindSchema } from './explain.js'

describe('explaining a schema', () => {
  const kind: KindSchema = {
    kind: 'Lamp',
    root: {
      type: 'object',
      description: 'A lamp.',
      properties: { spec: { allOf: [{ $ref: '#/components/schemas/Spec' }], description: 'What it should be.' } },
      required: ['spec'],
    },
    schemas: {
      Spec: {
        type: 'object',
        required: ['watts'],
        properties: {
          watts: { type: 'integer', minimum: 1, description: 'How bright.' },
          tags: { additionalProperties: { type: 'string' } },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Spec' } },
          color: {
            type: 'string',
            enum: ['red', 'blue'],
            default: 'red',
            'x-kubernetes-validations': [{ message: 'stays' }],
          },
        },
      },
    },
  }
  test('fields through references and lists', () => {
    const lines = explainLines(kind, ['spec', 'parts'], plain)
    assert.equal(lines[0], 'FIELD:    parts'.replace('parts', 'spec.parts  <[]object>'))
    assert.ok(lines.includes('  watts  <integer> required'))
    assert.ok(lines.includes('  tags  <map[string]string>'))
    const at = lines.indexOf('  color  <string>')
    assert.deepEqual(
      lines.slice(at + 2, at + 5).map((line) => line.trim()),
      ['One of: red, blue', 'Default: "red"', 'Rule: stays'],
    )
  })
  test('a schema that holds itself has an end', () => {
    const lines = fieldTree(kind, [])
    assert.deepEqual(lines.slice(1, 3), ['spec  <object> required', '  watts  <integer> required'])
    assert.equal(lines.filter((line) => line.includes('watts')).length, 1)
  })
  test('a field that is not there', () => {
    assert.throws(
      () => explainLines(kind, ['spec', 'wats'], plain),
      /Lamp\.spec has no field 'wats'\. Did you mean 'watts'\?/,
    )
  })
})
