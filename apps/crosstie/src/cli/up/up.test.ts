import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chooseAddress } from '../../daemon/listen.js'
import { hasAwsCredentials } from '../../daemon/providers.js'
import { withoutColors } from '../shared/terminal.js'
import { up } from './command.js'
import { withConfig } from './config.js'
import { findExample } from './examples.js'
import { liveText, statesOf } from './live.js'
import { nextSteps, programName } from './report.js'

const folder = mkdtempSync(join(tmpdir(), 'crosstie-up-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const paint = { bold: String, dim: String, red: String, green: String, yellow: String, cyan: String }

function config(text: string, given: readonly string[] = [], values: Record<string, string> = {}) {
  const file = join(folder, 'crosstie.yaml')
  writeFileSync(file, text)
  return withConfig({ values: { ...values, config: file }, given: new Set(given) }, up.options)
}

test('options may stand in a file, and the command line wins', () => {
  const values = config('providers: [sql, nop]\nverbose: true\nlisten: 127.0.0.1:0\n', ['listen'], { listen: ':7000' })
  assert.deepEqual([values['providers'], values['verbose'], values['listen']], ['sql,nop', true, ':7000'])
  assert.equal(config('# nothing')['providers'], undefined)
})

test('what is wrong in the file is said with what was meant', () => {
  assert.throws(
    () => config('provders: [sql]'),
    /crosstie\.yaml: there is no option 'provders'\. Did you mean 'providers'/,
  )
  assert.throws(() => config('verbose: maybe'), /verbose is true or false, not 'maybe'/)
  assert.throws(() => config('listen: {host: x}'), /listen is a text/)
  assert.throws(() => config('- a'), /holds no options/)
  assert.throws(() => config('a: [\n'), /crosstie\.yaml: /)
  const missing = { values: { config: join(folder, 'none.yaml') }, given: new Set<string>() }
  assert.throws(() => withConfig(missing, up.options), /there is no configuration/)
})

test('a port that is taken is an error only for who asked for it', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = other.address() as { port: number }
    await assert.rejects(chooseAddress(`127.0.0.1:${port}`), /in use by another program: --listen 127\.0\.0\.1:0/)
    assert.deepEqual(await chooseAddress('127.0.0.1:0'), { host: '127.0.0.1', port: 0, moved: false })
  } finally {
    other.close()
  }
})

test('examples are found by name, folders by path, and steps on their pages', () => {
  const { steps } = findExample('private-database')
  assert.ok(steps.some((line) => line.startsWith('crosstie trace ')))
  assert.throws(() => findExample('private-databse'), /Did you mean 'private-database'\? There are: .*private-mysql/)
  assert.throws(() => findExample('./nowhere'), /does not exist/)
  const own = join(folder, 'mine')
  mkdirSync(own)
  assert.deepEqual(findExample(own), { name: 'mine', folder: own, steps: [] })
})

test('what to do next names the program as it was called, and how to reach it', () => {
  assert.equal(programName({ npm_execpath: 'npm' }), 'npx crosstie')
  const lines = nextSteps('/elsewhere/kubeconfig', ['# look', 'crosstie trace a/b'], { paint }).map((line) =>
    line.trim(),
  )
  assert.ok(lines.includes('export KUBECONFIG=/elsewhere/kubeconfig'))
  assert.ok(lines.includes('# look'))
  assert.ok(lines.some((line) => line.endsWith('crosstie trace a/b')))
})

test('the live line counts what is ready, what is not, and what differs', () => {
  const object = (ready: string, drifted: string, annotations = {}) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { annotations },
    status: {
      conditions: [
        { type: 'Ready', status: ready },
        { type: 'Drifted', status: drifted },
      ],
    },
  })
  const objects = [
    object('True', 'False'),
    object('True', 'True'),
    object('False', 'False', { 'crossplane.io/paused': 'true' }),
  ]
  assert.deepEqual(statesOf(objects), { ready: 2, waiting: 1, drifted: 1, paused: 1 })
  assert.equal(withoutColors(liveText(statesOf(objects), paint)), '● 2 ready · 1 not ready · 1 drifted · 1 paused')
})

test('AWS is there only for who has credentials', () => {
  assert.equal(hasAwsCredentials({}, folder), false)
  assert.equal(hasAwsCredentials({ AWS_PROFILE: 'x' }, folder), true)
  assert.equal(hasAwsCredentials({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/x' }, folder), true, 'as in ECS')
  mkdirSync(join(folder, '.aws'))
  writeFileSync(join(folder, '.aws/credentials'), '')
  assert.equal(hasAwsCredentials({}, folder), true)
})
