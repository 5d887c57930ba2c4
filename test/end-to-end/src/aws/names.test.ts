import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DeleteVpcCommand, DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2'
import { startServer, writeKubeconfig } from '@crosstie/apiserver'
import { apiVersionOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { provider } from '@crosstie/provider-aws'
import { Moto, motoMissing } from '@crosstie/provider-aws/testing'
import { externalNamePolicy } from '@crosstie/resources'
import { type Crew, eventually, World } from '../support/claims-world.js'
import { findKubectl, kubectlWith } from '../support/kubectl.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { region, secretType } from './world.js'

const NAME = 'crossplane.io/external-name'
const PATIENCE_MS = 120_000
const vpc = provider.kinds.find(({ type }) => type.kind === 'VPC')!
const kubectlPath = findKubectl()
const missing = (await motoMissing()) ?? (kubectlPath ? undefined : 'there is no kubectl here')

const admissionType = (kind: string, resource: string): ResourceType => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind,
  resource,
  namespaced: false,
})
const policies = admissionType('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
const policyBindings = admissionType('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings')

/** The name of an external resource survives operations with kubectl (XN1). */
function names(open: () => Promise<string>): void {
  let folder: string
  let moto: Moto
  let world: World
  let crew: Crew
  let kubectl: (...args: readonly string[]) => Promise<string>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crosstie-names-'))
    moto = await Moto.start()
    const kubeconfig = await open()
    kubectl = kubectlWith(kubectlPath!, kubeconfig)
    world = await World.remote(kubeconfig, { bindings: [], managed: [{ ...vpc, consistencySeconds: 0 }] })
    crew = world.start()
    const { spec, credentials } = moto.config()
    const secretRef = { namespace: 'crossplane-system', name: 'aws', key: 'credentials' }
    await world.client.create(secretType, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: secretRef.namespace, name: secretRef.name },
      data: { [secretRef.key]: Buffer.from(credentials ?? '').toString('base64') },
    })
    const { type } = vpc.providerConfig!
    await world.client.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name: 'default' },
      spec: { ...spec, credentials: { source: 'Secret', secretRef } },
    })
  })
  after(async () => {
    await world?.[Symbol.asyncDispose]()
    await moto?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const vpcs = async () => {
    const { Vpcs = [] } = await moto.client(EC2Client, region).send(new DescribeVpcsCommand({}))
    return Vpcs.filter(({ IsDefault }) => !IsDefault).map(({ VpcId }) => VpcId!)
  }

  /** Creates a VPC. Returns the manifest file of the user and the resulting object. */
  async function created(name: string): Promise<{ readonly file: string; readonly object: KubeObject }> {
    const file = join(folder, `${name}.json`)
    const manifest = {
      apiVersion: apiVersionOf(vpc.type),
      kind: 'VPC',
      metadata: { name },
      spec: { forProvider: { region, cidrBlock: '10.0.0.0/16' } },
    }
    await writeFile(file, JSON.stringify(manifest))
    await kubectl('apply', '-f', file)
    return { file, object: await inSync(name) }
  }

  const inSync = (name: string) =>
    eventually(
      `${name} is in sync`,
      async () => {
        const found = await world.find(vpc.type, name)
        const recorded = (found?.['status'] as { externalName?: string } | undefined)?.externalName
        return found && recorded && condition(found, 'Synced')?.status === 'True' ? found : undefined
      },
      PATIENCE_MS,
    )

  /** Replaces an object. kubectl reads the object first, and the controllers may write in between. */
  async function replace(file: string): Promise<void> {
    for (const deadline = Date.now() + PATIENCE_MS; ; ) {
      try {
        await kubectl('replace', '-f', file)
        return
      } catch (error) {
        if (!/\(Conflict\)/.test(String((error as { stderr?: string }).stderr)) || Date.now() > deadline) throw error
      }
    }
  }

  const nameOf = (object: KubeObject | undefined) => object?.metadata.annotations?.[NAME]
  const refused = (error: unknown) => {
    assert.match(String((error as { stderr?: string }).stderr), /can be neither removed nor changed.*kubectl apply/)
    return true
  }

  test('without the policy the reconciler restores the name and the finalizer after kubectl replace', async () => {
    const { file, object } = await created('plain')
    const before = await vpcs()
    for (const change of [
      () => replace(file),
      () => kubectl('annotate', 'vpc', 'plain', `${NAME}-`),
      () => kubectl('annotate', '--overwrite', 'vpc', 'plain', `${NAME}=vpc-typo`),
    ]) {
      await change()
      const restored = await eventually(
        'the name is back',
        async () => {
          const found = await world.find(vpc.type, 'plain')
          return nameOf(found) === nameOf(object) && found?.metadata.finalizers?.length ? found : undefined
        },
        PATIENCE_MS,
      )
      assert.equal(restored.metadata.uid, object.metadata.uid)
      await kubectl('annotate', '--overwrite', 'vpc', 'plain', `crossplane.io/reconcile-requested-at=${Date.now()}`)
      await inSync('plain')
    }
    assert.deepEqual(await vpcs(), before)
    assert.ok(crew.events.some((event) => event.includes('ExternalNameRestored')))
    await kubectl('annotate', 'vpc', 'plain', `${NAME}-`)
    await kubectl('delete', 'vpc', 'plain')
    assert.deepEqual(
      await vpcs(),
      before.filter((name) => name !== nameOf(object)),
    )
  })

  test('with the policy removing or changing the name is refused, and the controllers still write it', async () => {
    const [policy, binding] = externalNamePolicy('aws', [vpc])
    await world.client.create(policies, policy!)
    await world.client.create(policyBindings, binding!)
    await created('probe')
    await eventually(
      'the policy is in effect',
      async () => {
        const error = await kubectl('annotate', 'vpc', 'probe', `${NAME}-`).catch((failed) => failed)
        await inSync('probe')
        return typeof error !== 'string'
      },
      PATIENCE_MS,
    )
    const { file, object } = await created('guarded')
    const before = await vpcs()
    await assert.rejects(replace(file), refused)
    await assert.rejects(kubectl('annotate', 'vpc', 'guarded', `${NAME}-`), refused)
    await assert.rejects(kubectl('annotate', '--overwrite', 'vpc', 'guarded', `${NAME}=vpc-typo`), refused)
    const patch = JSON.stringify([{ op: 'remove', path: '/metadata/annotations' }])
    await assert.rejects(kubectl('patch', 'vpc', 'guarded', '--type=json', '-p', patch), refused)
    await kubectl('apply', '-f', file)
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', file)
    await kubectl('label', 'vpc', 'guarded', 'team=a')
    assert.equal(nameOf(await inSync('guarded')), nameOf(object))
    assert.deepEqual(await vpcs(), before)
    // The resource is deleted outside, and created again under another name.
    const id = nameOf(object)!
    await moto.client(EC2Client, region).send(new DeleteVpcCommand({ VpcId: id }))
    const again = await eventually(
      'it is created again',
      async () => {
        const found = await world.find(vpc.type, 'guarded')
        return found && nameOf(found) !== id && nameOf(found) ? found : undefined
      },
      PATIENCE_MS,
    )
    assert.equal(nameOf(await inSync('guarded')), nameOf(again))
    for (const name of ['guarded', 'probe']) await kubectl('delete', 'vpc', name)
    assert.deepEqual(await vpcs(), [])
  })
}

describe('external names on the embedded server', { skip: missing ?? false, timeout: 900_000 }, () => {
  let close = async () => {}
  after(() => close())
  names(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-names-'))
    const server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
    close = async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    }
    const kubeconfig = join(dataDir, 'test.kubeconfig')
    await writeKubeconfig(kubeconfig, server.adminAccess())
    return kubeconfig
  })
})

const real = missing ?? (await startRealKubernetes())
const skip = typeof real === 'string' ? real : false

describe('external names on the real kube-apiserver', { skip, timeout: 900_000 }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  names(async () => (typeof real === 'string' ? '' : real.kubeconfig))
})
