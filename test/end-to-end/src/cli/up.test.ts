import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Child } from '../support/children.js'
import { crosstie, Program } from '../support/program.js'

const example = `
apiVersion: database.crossplane.io/v1alpha1
kind: PostgreSQLInstance
metadata: {name: app, namespace: default}
spec: {classRef: {apiVersion: nop.crossplane.io/v1alpha1, kind: NopResourceClass, name: nothing}}
---
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResourceClass
metadata: {name: nothing}
specTemplate: {forProvider: {size: 1}}
`
const page = '# Mine\n\n## Try it\n\n```sh\n# look\ncrosstie trace postgresqlinstance/app\n```\n'

describe('crosstie up', { timeout: 900_000 }, () => {
  let folder: string
  const { NO_COLOR: _, FORCE_COLOR: __, KUBECONFIG: ___, npm_execpath: ____, ...rest } = process.env
  const children: Child[] = []
  /** Runs `crosstie up` as from a shell in the folder. */
  const up = (...args: readonly string[]) => {
    const line = ['-c', `cd "${folder}" && exec "$0" "$@"`, process.execPath, crosstie, 'up', ...args]
    const child = new Child('sh', line, rest)
    children.push(child)
    return child
  }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crosstie-up-'))
    await mkdir(join(folder, 'mine'))
    await writeFile(join(folder, 'mine/claim.yaml'), example)
    await writeFile(join(folder, 'mine/README.md'), page)
    await writeFile(join(folder, 'crosstie.yaml'), 'providers: [nop]\nexample: ./mine\nlisten: 127.0.0.1:0\n')
  })
  after(async () => {
    await Promise.all(children.map((child) => child.stop('SIGKILL')))
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  test('reads crosstie.yaml, applies the example, follows it, and says what to do next', async () => {
    const child = up()
    assert.ok(await child.says(/Ctrl-C stops it/, 180_000), child.errors)
    assert.match(child.output, /^ready: https:\/\/127\.0\.0\.1:\d+ \(kubeconfig .*\/\.crosstie\/kubeconfig\)$/m)
    assert.match(
      child.output,
      /\n {2}providers +nop\n {2}kinds +\d+ managed[\s\S]*\nready: /,
      'ready once kinds are served',
    )
    assert.match(
      child.output,
      /\n {2}\+ nopresourceclass\.nop\.crossplane\.io\/nothing created\n {2}\+ postgresqlinstance/,
    )
    assert.match(child.output, /✓ NopResource default-app-\w+ +ready[\s\S]*✓ PostgreSQLInstance default\/app +bound/)
    assert.match(
      child.output,
      /\nNext, in another terminal in this folder:\n {2}# look\n {2}crosstie trace postgresqlinstance\/app\n/,
    )
    assert.match(child.errors, /^\{"time":".*","level":"info","message":".*\}$/m, 'where nobody looks the log is JSON')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what must not be there.
    assert.doesNotMatch(child.output + child.errors, /\x1b/, 'and there are no colours')
    await child.stop()
  })

  test('goes on where it was, and ends with 0 when told to stop', async () => {
    const child = up()
    assert.ok(await child.says(/✓ PostgreSQLInstance default\/app +bound/, 180_000), child.errors)
    assert.match(child.output, /nothing unchanged/)
    await child.stop('SIGINT')
    assert.match(child.errors, /"message":"stopping"/)
  })

  test('says what it cannot do, and does nothing then', async () => {
    await using program = await Program.on('/nonexistent/kubeconfig')
    const cases: readonly [readonly string[], RegExp][] = [
      [['--example', 'private-databas'], /Did you mean 'private-database'\?/],
      [['--providers', 'sqll'], /unknown provider 'sqll'/],
      [['--listen', 'everywhere'], /--listen takes HOST:PORT/],
      [['--event-ttl', 'soon'], /--event-ttl takes a duration/],
      [['--metrics', 'nowhere'], /--metrics takes HOST:PORT/],
      [['--poll-seconds', 'often'], /--poll-seconds takes a whole number/],
      [['--calls-per-second', 'many'], /--calls-per-second takes a whole number/],
      [['--listen', '192.0.2.1:6443'], /cannot listen on 192\.0\.2\.1:6443: this machine does not have that address/],
      [['--providers', './none.js'], /the provider file \.\/none\.js does not exist/],
      [['sql'], /'sql' is more than it takes: options only/],
      [['--config', 'none.yaml'], /there is no configuration none\.yaml/],
    ]
    for (const [args, says] of cases) {
      const { code, out, err } = await program.run(['up', '--listen', '127.0.0.1:0', ...args])
      assert.deepEqual([code, says.test(err), out], [2, true, ''], `${args.join(' ')}: ${err}`)
    }
  })
})
