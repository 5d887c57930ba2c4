import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Child } from '../support/children.js'
import { eventually, findKubectl, kubectlWith } from '../support/kubectl.js'
import { type RealKubernetes, startRealKubernetes } from '../support/oracle.js'

const file = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
const crosstie = file('apps/crosstie/bin/crosstie.js')
const manifest = file('providers/nop/examples/nopresource.yaml')
const kubectlPath = findKubectl()
const noKubectl = kubectlPath ? false : 'there is no kubectl here: node scripts/oracle.mjs build kubectl'

interface Engine {
  readonly kubeconfig: string
  /** Starts the process with the controllers. */
  start(): Promise<Child>
}

/** The first steps of a user, with standard tools. */
function walk(engine: () => Engine): void {
  let controllers: Child
  const kubectl = (...args: readonly string[]) => kubectlWith(kubectlPath!, engine().kubeconfig)(...args)
  const row = async () => (await kubectl('get', 'nopresource', 'example', '--no-headers')).trim().split(/\s+/)

  test('the kinds are there soon after the start', async () => {
    controllers = await engine().start()
    await eventually(
      () => kubectl('get', 'crd', '-o', 'name'),
      (names) => names.includes('nopresources.nop.crossplane.io'),
    )
    // kubectl fails immediately for a CRD without conditions.
    const served = ['--for=condition=Established', 'crd/nopresources.nop.crossplane.io', '--timeout=120s']
    await eventually(
      () => kubectl('wait', ...served).catch(String),
      (said) => said.includes('condition met'),
    )
  })

  test('what is applied becomes ready', async () => {
    await eventually(
      () => kubectl('apply', '-f', manifest).catch(String),
      (said) => said.includes('nopresource.nop.crossplane.io/example'),
    )
    await kubectl('wait', '--for=condition=Ready', 'nopresource/example', '--timeout=120s')
    const [name, ready, synced, externalName] = await row()
    assert.deepEqual([name, ready, synced, externalName], ['example', 'True', 'True', 'example'])
  })

  test('describe tells how it came to be', async () => {
    const told = await eventually(
      () => kubectl('describe', 'nopresource', 'example'),
      (text) => text.includes('CreatedExternalResource'),
    )
    assert.match(told, /Reason:\s+Available\s+Status:\s+True\s+Type:\s+Ready/)
    assert.match(told, /Reason:\s+ReconcileSuccess\s+Status:\s+True\s+Type:\s+Synced/)
    assert.match(told, /Normal\s+CreatedExternalResource\s+\S+\s+crosstie\s+Successfully requested creation/)
  })

  test('applying the same again changes nothing', async () => {
    const revision = () => kubectl('get', 'nopresource', 'example', '-o', 'jsonpath={.metadata.resourceVersion}')
    const before = await revision()
    assert.match(await kubectl('apply', '-f', manifest), /unchanged/)
    assert.equal(await revision(), before)
  })

  test('a change is followed', async () => {
    await kubectl('patch', 'nopresource', 'example', '--type=merge', '-p', '{"spec":{"forProvider":{"size":11}}}')
    const size = () => kubectl('get', 'nopresource', 'example', '-o', 'jsonpath={.status.atProvider.size}')
    await eventually(size, (text) => text === '11')
  })

  test('a restart resumes', async () => {
    await controllers.stop('SIGKILL')
    controllers = await engine().start()
    await eventually(
      () =>
        kubectl('patch', 'nopresource', 'example', '--type=merge', '-p', '{"metadata":{"labels":{"a":"b"}}}').catch(
          String,
        ),
      (said) => said.includes('patched'),
    )
    assert.deepEqual((await row()).slice(0, 3), ['example', 'True', 'True'])
    await kubectl('patch', 'nopresource', 'example', '--type=merge', '-p', '{"spec":{"forProvider":{"size":12}}}')
    const size = () => kubectl('get', 'nopresource', 'example', '-o', 'jsonpath={.status.atProvider.size}')
    await eventually(size, (text) => text === '12')
  })

  test('what is deleted goes', async () => {
    await kubectl('delete', 'nopresource', 'example', '--timeout=120s')
    assert.equal((await kubectl('get', 'nopresource', '-o', 'name')).trim(), '')
  })

  test('it stops when told to, and says nothing that it should not', async () => {
    await controllers.stop()
    assert.match(controllers.errors, /stopping/)
    assert.doesNotMatch(controllers.errors, /"level":"(error|warn)","message":"cannot /)
  })

  after(async () => {
    await controllers?.stop('SIGKILL')
  })
}

describe('a walk on the embedded server', { skip: noKubectl, timeout: 600_000 }, () => {
  let dataDir: string
  let kubeconfig: string
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'crosstie-walk-'))
    kubeconfig = join(dataDir, 'kubeconfig')
  })
  after(async () => {
    await rm(dataDir, { recursive: true, force: true })
  })
  walk(() => ({
    kubeconfig,
    async start() {
      const where = ['--data-dir', dataDir, '--listen', '127.0.0.1:0']
      const child = new Child(process.execPath, [crosstie, 'up', '--providers', 'nop', ...where])
      assert.ok(await child.says(/^ready: /m), child.errors)
      await stat(kubeconfig)
      return child
    },
  }))
})

const real: RealKubernetes | string = noKubectl || (await startRealKubernetes())
const noReal = typeof real === 'string' ? real : false

describe('a walk on the real kube-apiserver', { skip: noReal, timeout: 600_000 }, () => {
  const { kubeconfig } = real as RealKubernetes
  after(async () => {
    await (real as RealKubernetes)[Symbol.asyncDispose]()
  })
  walk(() => ({
    kubeconfig,
    async start() {
      const child = new Child(process.execPath, [
        crosstie,
        'controllers',
        '--providers',
        'nop',
        '--kubeconfig',
        kubeconfig,
      ])
      assert.ok(await child.says(/^starting: /m), child.errors)
      return child
    },
  }))
})
