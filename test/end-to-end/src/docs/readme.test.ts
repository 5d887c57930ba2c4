import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../support/kubectl.js'
import { fileOf } from '../support/program.js'

const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'crosstie-readme-'))
const clone = join(folder, 'crosstie')
const skip = await run('git', ['clone', '--quiet', fileOf('.'), clone]).then(
  () => false as const,
  (error: Error) => `this checkout cannot be cloned: ${error.message.trim().split('\n').at(-1)}`,
)

/** The environment without variables of this checkout or of the test run. */
const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, KUBECONFIG: ___, FORCE_COLOR: ____, ...rest } = process.env
const inherited = Object.entries(rest).filter(([name]) => !/^npm_(config_local|lifecycle|package)/.test(name))
// Packages in the npm cache are reused. Other packages come from the configured registry.
const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', npm_config_prefer_offline: 'true' }

/** A shell and its child processes, which are killed at the end of the test. */
class Terminal {
  readonly #process
  output = ''
  ended = false

  constructor(line: string) {
    this.#process = spawn('sh', ['-c', line], { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#process.on('exit', () => {
      this.ended = true
    })
  }

  async says(words: RegExp, withinMs: number): Promise<RegExpExecArray> {
    await eventually(
      async () => this.ended || words.test(this.output),
      (known) => known,
      withinMs,
    ).catch(() => assert.fail(`it never said ${words}:\n${this.output.slice(-4_000)}`))
    return words.exec(this.output) ?? assert.fail(`it ended without ${words}:\n${this.output.slice(-4_000)}`)
  }

  async stop(): Promise<void> {
    if (!this.ended) process.kill(-this.#process.pid!, 'SIGTERM')
    await eventually(
      async () => this.ended,
      (ended) => ended,
      60_000,
    ).catch(() => process.kill(-this.#process.pid!, 'SIGKILL'))
  }
}

/** Errors of npm when the registry is unreachable. Any other error fails the test. */
const NO_REGISTRY =
  /npm (error|ERR!) (code|errno|network) .*(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED)/

describe("the README's first command, in a clean clone", { skip, timeout: 900_000 }, () => {
  let terminal: Terminal | undefined
  let missing = ''
  after(async () => {
    await terminal?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
  })
  const crosstie = async (...args: readonly string[]) =>
    (await run('npx', ['--no-install', 'crosstie', ...args], { cwd: clone, env }).catch((error) => error))
      .stdout as string
  const sql = async (statement: string) =>
    (await run('node', ['examples/private-database/sql.mjs', statement], { cwd: clone, env })).stdout

  test('turns a claim into a real database', async (t) => {
    const [, command] = /^```sh\n(.*)\n```$/m.exec(readFileSync(join(clone, 'README.md'), 'utf8'))!
    assert.equal(command, 'npm ci && npm start')
    terminal = new Terminal(command)
    await terminal.says(/^ready: |npm (error|ERR!)/m, 600_000)
    if (NO_REGISTRY.test(terminal.output)) {
      missing = 'npm ci needs packages that are neither in its cache nor to be had from here'
      t.skip(missing)
      return
    }
    await terminal.says(/^ready: https:\/\/127\.0\.0\.1:\d+ \(kubeconfig .*\.crosstie\/kubeconfig\)$/m, 600_000)
    const [, why] = await terminal.says(/^ {2}sql +(?:PostgreSQL on .*|.*not started: (.*))$/m, 180_000)
    if (why) {
      missing = `no PostgreSQL can be started here: ${why}`
      t.skip(missing)
      return
    }
    await terminal.says(/✓ PostgreSQLInstance default\/app +bound/, 180_000)
    assert.match(terminal.output, /✓ Role default-app-\w+ +ready[\s\S]*✓ PostgreSQLInstance/)
    assert.match((await terminal.says(/^Next[\s\S]*Ctrl-C/m, 180_000))[0], /npx crosstie trace postgresqlinstance\/app/)
  })

  test('which the Secret of the claim logs in to', async (t) => {
    if (missing) return t.skip(missing)
    assert.match(await crosstie('trace', 'postgresqlinstance/app'), /PostgreSQLInstance default\/app .*Bound +True/)
    assert.match(await sql('select current_user, current_database()'), /default-app-\w+/)
    assert.match(await sql('create table orders (number int)'), /CREATE/)
  })

  test('and what is broken is reported and put right', async (t) => {
    if (missing) return t.skip(missing)
    const open =
      'select count(*)::int as open from pg_database, aclexplode(datacl) where datname = current_database() and grantee = 0'
    assert.match(await sql('grant connect on database :database to public'), /GRANT/)
    await eventually(
      () => sql(open),
      (text) => /│ 0 +│ 0 +│/.test(text),
      180_000,
    )
    const drift = await eventually(
      () => crosstie('drift', '--corrected'),
      (text) => /Corrected/.test(text),
      120_000,
    )
    assert.match(drift, /database\.postgresql\.sql\.crossplane\.io\/default-app-\w+ +Corrected .*publicPrivileges/)
  })

  test('until it is told to stop, and stops', async () => {
    await terminal!.stop()
    assert.ok(terminal!.ended)
  })
})
