import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodes, helpFor } from './command.js'
import { commands } from './commands.js'

for (const [name, load] of Object.entries(commands)) {
  test(`crosstie ${name} has help texts`, async () => {
    const command = await load()
    assert.equal(command.name, name)
    assert.ok(command.usage.startsWith(`crosstie ${name}`), command.usage)
    assert.match(command.summary, /^[A-Z].*\.$/, 'one sentence')
    for (const { does, line } of command.examples ?? []) {
      assert.match(line, /crosstie /)
      assert.doesNotMatch(does, /\.$/)
    }
    for (const code of Object.keys(command.exits ?? {})) assert.ok(Number(code) in exitCodes, `exit code ${code}`)
    for (const line of helpFor(command).split('\n')) assert.ok(line.length <= 160, line)
  })

  test(`the options of crosstie ${name} are distinct`, async () => {
    const { options } = await load()
    const letters = Object.values(options).flatMap(({ short }) => short ?? [])
    assert.equal(new Set(letters).size, letters.length, letters.join(' '))
    assert.ok(!letters.includes('h'), '-h is help')
    for (const [option, { type, help, value }] of Object.entries(options)) {
      assert.doesNotMatch(option, /^no-/, 'Node takes it for the opposite of another')
      assert.ok(help.length > 0)
      assert.equal(type === 'string', value !== undefined, `--${option} says what its value is`)
    }
  })
}
