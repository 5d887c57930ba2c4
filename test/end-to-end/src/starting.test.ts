import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Program } from './program.js'

/** Kinds that refer to each other, so that some are watched before they are there. */
const PROVIDERS = 'aws,nop'
const TROUBLE = /cannot list and watch|cannot install|cannot reconcile/

const nothing = `
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResource
metadata: {name: first}
spec: {forProvider: {size: 1}}
`

/** Whatever is made while it starts is taken care of, without a word of trouble in the log. */
async function makesTheFirst(program: Program): Promise<void> {
  const applied = await program.run(['apply', '-f', '-'], { input: nothing })
  assert.equal(applied.code, 0, applied.err)
  await program.ok('wait', 'nopresource/first', '--timeout', '3m')
}

describe('starting', { timeout: 600_000 }, () => {
  test('on the embedded server nothing is asked for before it is served', async () => {
    await using program = await Program.up('--providers', PROVIDERS)
    assert.ok(await program.plane!.says(/^ {2}kinds +\d+ managed/m, 180_000))
    await makesTheFirst(program)
    assert.doesNotMatch(program.plane!.errors, TROUBLE)
  })
})
