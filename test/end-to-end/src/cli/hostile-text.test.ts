import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Program } from '../support/program.js'

const HOSTILE = '\x1b[2J\x1b]0;owned\x07\u202etxt.exe\nReady:  True'
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

const objects = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'hostile', namespace: 'default', annotations: { note: HOSTILE } },
    data: { text: HOSTILE },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'hostile', namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'hostile', namespace: 'default' },
    type: 'Warning',
    reason: HOSTILE,
    message: HOSTILE,
    lastTimestamp: '2026-01-01T00:00:00Z',
  },
]

describe('text of others in commands', { timeout: 600_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.up('--providers', 'nop')
    for (const object of objects) {
      const { code, err } = await program.run(['apply', '-f', '-'], { input: JSON.stringify(object) })
      assert.equal(code, 0, err)
    }
  })
  after(async () => await program?.[Symbol.asyncDispose]())

  const commands = [
    ['get', 'configmaps,events'],
    ['get', 'events', '-o', 'wide'],
    ['describe', 'configmap/hostile'],
    ['events'],
  ]
  for (const command of commands) {
    test(`crosstie ${command.join(' ')} prints no control characters`, async () => {
      const text = await program.ok(...command)
      assert.doesNotMatch(text, CONTROLS)
      assert.match(text, /hostile/)
      assert.doesNotMatch(text, /^Ready: {2}True/m, 'no line of its own')
    })
  }

  test('programs get the text as it is', async () => {
    const text = await program.ok('get', 'configmap/hostile', '-o', 'json')
    assert.equal(JSON.parse(text).data.text, HOSTILE)
  })
})
