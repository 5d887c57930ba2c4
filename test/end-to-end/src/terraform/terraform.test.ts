import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Program } from '../support/program.js'

const mirror = join(process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache', 'crosstie'), 'terraform', 'mirror')
const random = join(mirror, 'registry.terraform.io', 'hashicorp', 'random')
const skip = existsSync(random) ? false : 'terraform-provider-random is not built: run node scripts/prepare.mjs'

const PROVIDER = `apiVersion: terraform.crosstie.io/v1alpha1
kind: TerraformProvider
metadata: {name: random}
spec:
  source: hashicorp/random
  version: "~> 3.6"
  kinds: ["random_*"]
`

const PET = `apiVersion: random.terraform.crosstie.io/v1alpha1
kind: Pet
metadata: {name: a}
spec:
  forProvider: {length: 3, prefix: my}
`

async function started(): Promise<Program> {
  return await Program.up('--providers', 'terraform', '--terraform-mirror', mirror, '--poll-seconds', '2')
}

const PATIENCE_MS = 120_000

/** Repeats a command until its result is as expected. On timeout the error contains the last output. */
async function until(
  program: Program,
  args: readonly string[],
  expected: (ran: { readonly code: number; readonly out: string }) => boolean,
): Promise<string> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const ran = await program.run(args)
    if (expected(ran)) return ran.out
    const log = program.plane?.errors.split('\n').slice(-20).join('\n')
    assert.ok(Date.now() < deadline, `${args.join(' ')}: ${ran.out}${ran.err}\n${log}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

test('a TerraformProvider and a Pet become Ready', { skip, timeout: 300_000 }, async () => {
  await using program = await started()
  const env = { CROSSTIE_TERRAFORM_CACHE: join(program.folder, 'plugins') }
  const run = async (args: readonly string[], input = '') => await program.run(args, { input, env })
  const ok = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, out, err } = await run(args, input)
    assert.equal(code, 0, `${args.join(' ')}: ${out}${err}`)
    return out
  }
  await ok(['apply', '-f', '-'], PROVIDER)
  const status = await until(program, ['get', 'terraformprovider', 'random', '-o', 'yaml'], ({ out }) =>
    /reason: Served/.test(out),
  )
  assert.match(status, /version: 3\.9\.0/)
  assert.match(status, /checksum: h1:/)
  assert.match(status, /activeKinds:\n(.*\n)*\s+- random_pet/)

  assert.match(await ok(['explain', 'pet.random.terraform.crosstie.io']), /Terraform: random_pet/)
  await ok(['apply', '-f', '-'], PET)
  await ok(['wait', 'pet/a', '--timeout', '120s'])
  const pet = await ok(['get', 'pet', 'a', '-o', 'yaml'])
  assert.match(pet, /crossplane\.io\/external-name: my-\w+-\w+-\w+/)
  assert.equal((await run(['plan', 'pet/a'])).code, 0)
  await ok(['trace', 'pet/a'])
  await ok(['drift'])

  await ok(['delete', 'terraformprovider', 'random', '--wait=false'])
  const waiting = await until(program, ['get', 'terraformprovider', 'random', '-o', 'yaml'], ({ out }) =>
    /reason: InUse/.test(out),
  )
  assert.match(waiting, /These exist: Pet\s+a/)
  await ok(['delete', 'pet', 'a'])
  await until(program, ['get', 'terraformprovider', 'random'], ({ code }) => code !== 0)
  assert.doesNotMatch(await ok(['kinds']), /random\.terraform\.crosstie\.io/)
})
