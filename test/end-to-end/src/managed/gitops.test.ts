import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type Client, isNotFound, type KubeObject, systemClock } from '@crosstie/kube'
import { SimulatedCloud, thingOf } from '@crosstie/resources/testing'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, Plane } from '../support/plane.js'
import { Running } from '../support/running.js'

/**
 * Another client applies the same manifest continuously, starting before anything exists, while the controllers
 * resolve references, set defaults and report status. In the end no field has changed its owner unexpectedly, and
 * another apply changes nothing.
 */

const cloud = new SimulatedCloud({ naming: 'user-chosen', tags: true, tokens: false, list: false, clock: systemClock })
const thing = thingOf(cloud, { consistencySeconds: 0 })

const APPLIES = 1_000

const manifestOf = (name: string) => ({
  apiVersion: apiVersionOf(thing.type),
  kind: 'Thing',
  metadata: { name, labels: { app: 'x' }, annotations: { 'example.org/source': 'git' } },
  spec: {
    managementPolicies: ['*'],
    forProvider: {
      region: 'r',
      flavor: 'sweet',
      parentIdSelector: { matchLabels: { is: 'parent' } },
      tags: { team: 'a' },
    },
    initProvider: { scaling: { desired: 4 }, tags: { made: 'once' } },
  },
})

type Manifest = ReturnType<typeof manifestOf>

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Applies like kubectl and Argo CD without server-side apply: a merge patch that records the manifest in an
 * annotation.
 */
async function applyFromClient(client: Client, manifest: Manifest): Promise<KubeObject> {
  const { name } = manifest.metadata
  const annotations = { ...manifest.metadata.annotations, [LAST_APPLIED]: JSON.stringify(manifest) }
  const noted = { ...manifest, metadata: { ...manifest.metadata, annotations } }
  const fieldManager = 'argocd-controller'
  try {
    return await client.patch(thing.type, { name }, { type: 'merge', patch: noted }, { fieldManager })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return await client.create<KubeObject>(thing.type, noted, { fieldManager })
  }
}

const applyAs = (fieldManager: string, force: boolean) => (client: Client, manifest: Manifest) =>
  client.apply<KubeObject>(thing.type, manifest, { fieldManager, force })

const appliers: Readonly<Record<string, (client: Client, manifest: Manifest) => Promise<KubeObject>>> = {
  'argo-client-side': applyFromClient,
  'argo-server-side': applyAs('argocd-controller', true),
  'flux-server-side': applyAs('kustomize-controller', true),
  'kubectl-server-side': applyAs('kubectl', false),
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
const specOf = (object: KubeObject): any => object['spec']

const isSettled = (object: KubeObject): boolean =>
  condition(object, 'Ready')?.status === 'True' &&
  condition(object, 'Synced')?.status === 'True' &&
  condition(object, 'Synced')?.observedGeneration === object.metadata.generation &&
  specOf(object).forProvider.size === 3 &&
  specOf(object).forProvider.parentId === 'parent'

function gitOps(open: () => Promise<Plane>): void {
  let plane: Plane
  before(async () => {
    plane = await open()
    await plane.serve(thing)
  })
  after(async () => {
    await plane[Symbol.asyncDispose]()
  })

  test(`the same manifests applied ${APPLIES} times each while references and late initialization work`, async () => {
    const { client } = plane
    const names = Object.keys(appliers)
    for (const name of [...names, 'parent']) await cloud.delete(name)
    await using _running = new Running(plane, [thing], { pollSeconds: 0.2 })
    let applied = 0
    const applying = names.map(async (name) => {
      for (let i = 0; i < APPLIES; i++, applied++) await appliers[name]!(client, manifestOf(name))
    })
    // The referenced object is created after a while. Until then there is nothing to select.
    while (applied < 100) await new Promise((resolve) => setTimeout(resolve, 5))
    const forProvider = { region: 'r', flavor: 'sweet' }
    await plane.create(thing, 'parent', { forProvider }, { labels: { is: 'parent' } })
    await Promise.all(applying)

    const settled = async (name: string): Promise<KubeObject> => {
      for (const deadline = Date.now() + 120_000; Date.now() < deadline; ) {
        const object = await client.get(thing.type, { name })
        if (isSettled(object)) return object
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return assert.fail(`${name} never settled: ${JSON.stringify(await client.get(thing.type, { name }))}`)
    }
    for (const name of names) {
      const object = await settled(name)
      // Creation, reference resolution and late initialization change the spec. A loop would increase the
      // generation further.
      assert.ok(object.metadata.generation! <= 3, `${name} has generation ${object.metadata.generation}`)
      const { size, parentId, parentIdRef, scaling, tags } = specOf(object).forProvider
      const filled = { size, parentId, parentIdRef, scaling, tags }
      const wanted = {
        size: 3,
        parentId: 'parent',
        parentIdRef: { name: 'parent' },
        scaling: undefined,
        tags: { team: 'a' },
      }
      assert.deepEqual(filled, wanted, 'what initProvider gave does not come to forProvider')
      const made = cloud.resources.find((resource) => resource.name === name)!
      assert.deepEqual(made.values['scaling'], { desired: 4 })
      const again = await appliers[name]!(client, manifestOf(name))
      assert.equal(again.metadata.resourceVersion, object.metadata.resourceVersion, 'one more is no change')
    }
    assert.equal(cloud.calls.update, 0, 'nothing was ever sent to the cloud twice')
    assert.equal(cloud.resources.length, names.length + 1)
  })
}

describe('GitOps on the embedded server', () => gitOps(() => Plane.embedded()))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('GitOps on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  gitOps(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
