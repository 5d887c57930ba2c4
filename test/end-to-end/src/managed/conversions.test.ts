import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { loadAll } from 'js-yaml'
import { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { crosstie, Program } from '../support/program.js'

/** The path of the provider, as a provider author specifies it. */
const provider = fileURLToPath(new URL('disk-provider.js', import.meta.url))

const current: ResourceType = {
  group: 'versions.crosstie.io',
  version: 'v1beta1',
  kind: 'Disk',
  resource: 'disks',
  namespaced: false,
}
const old: ResourceType = { ...current, version: 'v1alpha1' }
const definitions: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}
const secrets: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

const oldDisk = (name: string) => `
apiVersion: versions.crosstie.io/v1alpha1
kind: Disk
metadata: {name: ${name}}
spec: {forProvider: {zone: z, sizeGb: 5}}
`

async function clientOf(kubeconfig: string): Promise<HttpClient> {
  return new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of any shape.
const specOf = (object: KubeObject): any => object['spec']

/** Writes an object in the old version, waits for its reconciliation in the new one, and reads it in both. */
async function livesInBothVersions(program: Program, name: string): Promise<void> {
  const applied = await program.run(['apply', '-f', '-'], { input: oldDisk(name) })
  assert.equal(applied.code, 0, applied.err)
  await program.ok('wait', `disk/${name}`, '--timeout', '3m')
  using client = await clientOf(program.kubeconfig)
  assert.deepEqual(specOf(await client.get(old, { name })).forProvider, { zone: 'z', sizeGb: 5, fast: false })
  const { forProvider } = specOf(await client.get(current, { name }))
  assert.deepEqual(forProvider, { zone: 'z', capacity: { gigabytes: 5, fast: false } })
}

/** Waits until the old version is served. The server serves it once the CRD has a conversion webhook. */
const servesOld = (client: Client) =>
  eventually('the old version is served', async () => (await client.discover(old)).length > 0, 180_000)

const caOf = async (client: Client, namespace: string): Promise<string> => {
  const secret = await client.get(secrets, { name: 'crosstie-conversions', namespace })
  return (secret['data'] as Record<string, string>)['ca.crt']!
}

/** Returns the first free port at or above the given one. */
async function freePort(from: number): Promise<number> {
  for (let port = from; ; port++) {
    const listening = createServer().listen(port, '127.0.0.1')
    const free = await once(listening, 'listening').then(
      () => true,
      () => false,
    )
    listening.close()
    if (free) return port
  }
}

describe('MR2 versions of a kind with different fields', { timeout: 900_000 }, () => {
  test('up converts them, also after it was started again', async () => {
    await using program = await Program.up('--providers', provider)
    using client = await clientOf(program.kubeconfig)
    await servesOld(client)
    await livesInBothVersions(program, 'first')
    const before = await caOf(client, 'kube-system')
    // Outside the ephemeral port range of the system.
    const port = await freePort(20_000 + (process.pid % 10_000))
    const url = `https://127.0.0.1:${port}/convert`
    const operations = [{ op: 'replace', path: '/spec/conversion/webhook/clientConfig/url', value: url }] as const
    await client.patch(definitions, { name: 'disks.versions.crosstie.io' }, { type: 'json', operations })
    await program.plane!.stop()

    const args = ['up', '--data-dir', `${program.folder}/data`, '--listen', '127.0.0.1:0', '--providers', provider]
    await using again = new Child(process.execPath, [crosstie, ...args])
    assert.ok(await again.says(/^ {2}kinds /m, 180_000), again.errors)
    await livesInBothVersions(program, 'second')
    using now = await clientOf(program.kubeconfig)
    assert.equal(await caOf(now, 'kube-system'), before, 'the certificate is kept')
    const { conversion } = specOf(await now.get(definitions, { name: 'disks.versions.crosstie.io' }))
    assert.equal(conversion.webhook.clientConfig.url, url, 'and so is the port')
    assert.equal(specOf(await now.get(old, { name: 'first' })).forProvider.sizeGb, 5)
  })

  test('what crosstie manifests prints lets controllers in a cluster convert, and say what to trust', async () => {
    await using program = await Program.on('/nonexistent/kubeconfig')
    const text = await program.ok('manifests', '--providers', provider, '--namespace', 'somewhere')
    const objects = (loadAll(text) as KubeObject[]).filter((each) => each !== null)
    const found = (kind: string, name: string) =>
      objects.find((each) => each.kind === kind && each.metadata.name === name)
    const { conversion, versions } = specOf(found('CustomResourceDefinition', 'disks.versions.crosstie.io')!)
    const service = { namespace: 'somewhere', name: 'crosstie-conversions', port: 9443, path: '/convert' }
    assert.deepEqual(conversion.webhook.clientConfig, { service })
    assert.deepEqual(
      versions.map(({ name }: { name: string }) => name),
      ['v1beta1', 'v1alpha1'],
    )
    assert.equal(specOf(found('Service', 'crosstie-conversions')!).ports[0].port, 9443)
    assert.deepEqual(found('ClusterRole', 'crosstie-conversions')?.['rules'], [
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: ['disks.versions.crosstie.io'],
        verbs: ['get', 'patch'],
      },
    ])
    const [container] = specOf(found('Deployment', 'crosstie')!).template.spec.containers
    assert.ok(container.args.includes('--conversion-service=crosstie-conversions:9443'))

    const plain = await program.ok('manifests', '--providers', 'nop')
    assert.doesNotMatch(plain, /crosstie-conversions/, 'kinds that need none bring no rights')
  })

  test('an address that nobody could reach is refused', async () => {
    await using program = await Program.up('--providers', 'nop')
    const args = ['controllers', '--standalone', '--providers', provider, '--conversions']
    const { code, err } = await program.run([...args, '0.0.0.0:0'])
    assert.deepEqual([code, /the API server must reach it/.test(err)], [2, true], err)
    const other = await program.run([...args, 'somewhere'])
    assert.deepEqual([other.code, /--conversions takes HOST:PORT/.test(other.err)], [2, true], other.err)
  })
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('MR2 versions with different fields on the real kube-apiserver', { skip, timeout: 900_000 }, () => {
  if (typeof real === 'string') return
  after(async () => await real[Symbol.asyncDispose]())

  test('controllers convert them', async () => {
    await using program = await Program.on(real.kubeconfig)
    const args = ['controllers', '--standalone', '--providers', provider, '--conversions', '127.0.0.1:0']
    await using _controllers = program.start(...args)
    using client = await clientOf(real.kubeconfig)
    await servesOld(client)
    await livesInBothVersions(program, 'first')
  })

  test('where others bring the definitions, controllers write into them what to trust', async () => {
    await using program = await Program.on(real.kubeconfig)
    using client = await clientOf(real.kubeconfig)
    const input = await program.ok('manifests', '--only', 'crds', '--providers', provider, '--namespace', 'default')
    const applied = await program.run(['apply', '-f', '-', '--force'], { input })
    assert.equal(applied.code, 0, applied.err)
    const place = ['--conversions', '127.0.0.1:0', '--conversion-service', 'crosstie-conversions:9443']
    const args = [
      'controllers',
      '--standalone',
      '--skip-definitions',
      '--providers',
      provider,
      '--namespace',
      'default',
    ]
    await using controllers = program.start(...args, ...place)
    await eventually('the definition names the Service and its authority', async () => {
      assert.ok(!controllers.exited, controllers.errors)
      const crd = await client.get(definitions, { name: 'disks.versions.crosstie.io' })
      const { service, caBundle } = specOf(crd).conversion.webhook.clientConfig
      return service?.name === 'crosstie-conversions' && caBundle === (await caOf(client, 'default'))
    })
  })
})
