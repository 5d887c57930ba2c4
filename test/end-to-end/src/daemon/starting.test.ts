import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startRealKubernetes } from '../support/oracle.js'
import { Program } from '../support/program.js'

/** Kinds that refer to each other, so that some are watched before they are served. */
const PROVIDERS = 'aws,nop'
/** The response of a server that does not serve the kind yet. A slow response on a busy machine is not an error. */
const TOO_EARLY = /could not find the requested resource/

const nothing = `
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResource
metadata: {name: first}
spec: {forProvider: {size: 1}}
`

/** Asserts that an object which is created during the start is reconciled. */
async function makesTheFirst(program: Program): Promise<void> {
  const applied = await program.run(['apply', '-f', '-'], { input: nothing })
  assert.equal(applied.code, 0, applied.err)
  await program.ok('wait', 'nopresource/first', '--timeout', '5m')
}

describe('starting', { timeout: 1_200_000 }, () => {
  test('on the embedded server nothing is asked for before it is served', async () => {
    await using program = await Program.up('--providers', PROVIDERS)
    assert.ok(await program.plane!.says(/^ {2}kinds +\d+ managed/m, 300_000))
    await makesTheFirst(program)
    assert.doesNotMatch(program.plane!.errors, TOO_EARLY)
  })
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('starting on the real kube-apiserver', { skip, timeout: 1_200_000 }, () => {
  if (typeof real === 'string') return
  after(async () => await real[Symbol.asyncDispose]())

  test('definitions that others bring are waited for, which is told once', async () => {
    await using program = await Program.on(real.kubeconfig)
    await using controllers = program.start(
      ...['controllers', '--standalone', '--skip-definitions', '--providers', PROVIDERS],
    )
    const told = await controllers.says(
      /"level":"warn","message":"waiting for definitions[^\n]*"missing":\[[^\n]*/,
      300_000,
    )
    assert.match(told?.[0] ?? '', /crosstie manifests --only crds/)
    const definitions = await program.ok('manifests', '--only', 'crds', '--providers', PROVIDERS)
    const applied = await program.run(['apply', '-f', '-'], { input: definitions })
    assert.equal(applied.code, 0, applied.err)
    await makesTheFirst(program)
    assert.doesNotMatch(controllers.errors, TOO_EARLY)
  })

  test('definitions that it brings itself are served before anything is asked for', async () => {
    await using program = await Program.on(real.kubeconfig)
    await using controllers = program.start('controllers', '--standalone', '--providers', `${PROVIDERS},sql`)
    assert.ok(await controllers.says(/installed a definition[^\n]*postgresql/, 300_000))
    await program.ok('wait', 'nopresource/first', '--timeout', '5m')
    assert.doesNotMatch(controllers.errors, TOO_EARLY)
  })
})
