import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Program } from '../support/program.js'
import { commandSuite } from './suite.js'

describe('the commands on the embedded server', { timeout: 600_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.up('--providers', 'nop')
  })
  after(async () => {
    await program?.[Symbol.asyncDispose]()
  })
  commandSuite(() => program)
})

describe('what every command line has to say', { timeout: 300_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.on('/nonexistent/kubeconfig')
  })
  after(async () => {
    await program?.[Symbol.asyncDispose]()
  })

  test('help names every command, and each has help of its own', async () => {
    assert.match(await program.ok('help'), /\n {2}up +Start[\s\S]*\n {2}apply +Create[\s\S]*\n {2}version +/)
    const help = await program.ok('get', '--help')
    assert.match(help, /^Usage: crosstie get KIND[\s\S]*--\[no-\]headers/)
    assert.equal(await program.ok('help', 'get'), help)
  })

  test('a word that is no command', async () => {
    const { code, err } = await program.run(['aplly'])
    assert.deepEqual([code, /unknown command 'aplly'\. Did you mean 'apply'\?/.test(err)], [2, true], err)
    assert.equal((await program.run(['help', 'aplly'])).code, 2)
  })

  test('nobody to talk to: what to do about it', async () => {
    const missing = await program.run(['get', 'secrets'])
    assert.notEqual(missing.code, 0)
    assert.match(missing.err, /kubeconfig/)
    const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":
      {"cluster":"a","user":"a"}}],"users":[{"name":"a","user":{}}],
      "clusters":[{"name":"a","cluster":{"server":"https://127.0.0.1:1"}}]}`
    const { writeFile } = await import('node:fs/promises')
    await writeFile(`${program.folder}/nobody`, kubeconfig)
    const { code, err } = await program.run(['get', 'secrets', '--kubeconfig', 'nobody'])
    assert.equal(code, 5, err)
    assert.match(err, /Is it running\? 'crosstie up' starts one/)
    const version = await program.run(['version', '--kubeconfig', 'nobody'])
    assert.deepEqual([version.code, /^crosstie \d/.test(version.out)], [0, true], version.err)
  })
})
