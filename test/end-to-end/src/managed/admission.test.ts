import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type KubeObject, type ResourceType, StatusError, systemClock } from '@crosstie/kube'
import { provider as aws } from '@crosstie/provider-aws'
import { provider as kubernetes } from '@crosstie/provider-kubernetes'
import { provider as sql } from '@crosstie/provider-sql'
import type { ManagedKind } from '@crosstie/resources'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { SimulatedCloud, thingOf } from '@crosstie/resources/testing'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, crdType, Plane } from '../support/plane.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read specs of any shape.
const specOf = (object: KubeObject): any => object['spec']

const refused = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StatusError, String(error))
  assert.equal(error.code, 422)
  assert.match(error.message, words)
  return true
}

/** Rules of the generated CRDs. They hold on every Kubernetes API. */
function admission(open: () => Promise<Plane>): void {
  let plane: Plane
  let broken = false
  const cloud = new SimulatedCloud({
    naming: 'user-chosen',
    tags: true,
    tokens: false,
    list: false,
    clock: systemClock,
    before: (call) => {
      if (broken && call === 'create') throw new Error('the cloud refuses this flavor')
    },
  })
  const thing = thingOf(cloud, { consistencySeconds: 0 })
  const base = { region: 'r', flavor: 'sweet' }

  before(async () => {
    plane = await open()
    await plane.serve(thing)
  })
  after(async () => {
    await plane[Symbol.asyncDispose]()
  })

  const merge = (name: string, spec: object): Promise<KubeObject> =>
    plane.client.patch(thing.type, { name }, { type: 'merge', patch: { spec } as never })
  const create = (name: string, spec: object) => plane.create(thing, name, { forProvider: base, ...spec })

  test('POL1 managementPolicies is a set, and narrowing the default by server-side apply leaves only what was applied', async () => {
    await assert.rejects(
      create('twice', { managementPolicies: ['Observe', 'Create', 'Observe'] }),
      refused(/spec.managementPolicies.*remove the repeated one/),
    )
    await create('narrow', {})
    const object = { apiVersion: apiVersionOf(thing.type), kind: 'Thing', metadata: { name: 'narrow' } }
    const applied = await plane.client.apply(
      thing.type,
      { ...object, spec: { managementPolicies: ['Observe'], forProvider: base } } as never,
      { fieldManager: 'user', force: true },
    )
    assert.deepEqual(specOf(applied).managementPolicies, ['Observe'])
  })

  test('POL7 former values in the list are refused with the command that migrates them', async () => {
    await assert.rejects(create('old', { managementPolicies: ['ObserveOnly'] }), refused(/crosstie migrate/))
  })

  test('POL9 a former policy beside a list that allows more is refused', async () => {
    const all = ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize']
    for (const managementPolicy of ['ObserveOnly', 'OrphanOnDelete']) {
      await assert.rejects(
        create('both', { managementPolicy, managementPolicies: all }),
        refused(/forbids actions that spec.managementPolicies allows; run `crosstie migrate`/),
      )
    }
    await create('agree', { managementPolicy: 'ObserveOnly', managementPolicies: ['Observe'] })
    await create('full', { managementPolicy: 'FullControl', managementPolicies: ['Observe', 'Delete'] })
  })

  test('MR11 a mistake can be corrected until the external resource exists', async () => {
    await create('early', {})
    await merge('early', { forProvider: { flavor: 'sour', region: 's' } })
    broken = true
    const failed = await plane.settle(thing, 'early')
    assert.match(condition(failed, 'Synced')?.message ?? '', /refuses this flavor/)
    await merge('early', { forProvider: { flavor: 'plain', region: 'r' } })
    broken = false
    const created = await plane.settle(thing, 'early')
    assert.equal((created['status'] as { externalName?: string }).externalName, 'early')
    for (const flavor of ['sweet', null]) {
      await assert.rejects(
        merge('early', { forProvider: { flavor } }),
        refused(/spec.forProvider.flavor: Forbidden: spec.forProvider.flavor is immutable/),
      )
    }
    await assert.rejects(merge('early', { forProvider: { region: 's' } }), refused(/spec.forProvider.region/))
    await merge('early', { forProvider: { flavor: 'plain', size: 7 } })
    await plane.settle(thing, 'early')
    assert.equal(cloud.resources.find(({ name }) => name === 'early')?.values['flavor'], 'plain')
  })

  test('MR11 a change that slipped through is drift, and can be corrected to what the provider has', async () => {
    await create('slipped', {})
    const { status, ...object } = await plane.settle(thing, 'slipped')
    // Without the recorded name no rule applies, as on a server that has not recorded it.
    const { externalName: _, ...rest } = status as Record<string, unknown>
    await plane.client.update(thing.type, { ...object, status: rest } as never, { subresource: 'status' })
    await merge('slipped', { forProvider: { flavor: 'sour' } })
    const drifted = await plane.settle(thing, 'slipped')
    assert.equal(condition(drifted, 'Drifted')?.reason, 'Immutable')
    assert.match(condition(drifted, 'Drifted')?.message ?? '', /flavor/)
    await assert.rejects(merge('slipped', { forProvider: { flavor: 'plain' } }), refused(/is immutable/))
    await merge('slipped', { forProvider: { flavor: 'sweet' } })
    assert.equal(condition(await plane.settle(thing, 'slipped'), 'Drifted')?.status, 'False')
  })

  test('MR11 a create whose result is unknown counts as created', async () => {
    const doubted = await create('doubted', {})
    const status = { creationInDoubt: true }
    await plane.client.update(thing.type, { ...doubted, status } as never, { subresource: 'status' })
    await assert.rejects(merge('doubted', { forProvider: { flavor: 'sour' } }), refused(/is immutable/))
  })

  test('MR11 AGG6 a wrong reference can be corrected, and a removed one is resolved again', async () => {
    for (const name of ['p1', 'p2']) {
      await plane.create(thing, name, { forProvider: base }, { labels: { parent: name } })
      await plane.settle(thing, name)
    }
    const leaf = leafOf(thing.type)
    await plane.serve(leaf)
    const change = (forProvider: object) =>
      plane.client.patch(leaf.type, { name: 'leaf' }, { type: 'merge', patch: { spec: { forProvider } } as never })
    const parentIdSelector = (parent: string) => ({ matchLabels: { parent } })
    await plane.create(leaf, 'leaf', { forProvider: { parentIdRef: { name: 'typo' } } })
    assert.match(condition(await plane.settle(leaf, 'leaf'), 'Synced')?.message ?? '', /"typo" not found/)
    await change({ parentIdRef: { name: 'p1' }, parentIdSelector: parentIdSelector('p1') })
    assert.equal(condition(await plane.settle(leaf, 'leaf'), 'Synced')?.status, 'True')
    await assert.rejects(change({ parentIdRef: { name: 'p2' } }), refused(/spec.forProvider.parentIdRef is immutable/))
    await change({ parentIdRef: null })
    const again = await plane.settle(leaf, 'leaf')
    assert.deepEqual(specOf(again).forProvider.parentIdRef, { name: 'p1' })
    assert.equal(condition(again, 'Synced')?.status, 'True')
    await change({ parentIdRef: null, parentIdSelector: parentIdSelector('p2') })
    const other = await plane.settle(leaf, 'leaf')
    assert.equal(specOf(other).forProvider.parentId, 'p1')
    assert.match(condition(other, 'Synced')?.message ?? '', /spec.forProvider.parentId is immutable/)
  })

  test('INI5 ignoreChanges accepts paths to fields of the kind and nothing else', async () => {
    const good = ['size', 'scaling.min', 'scaling[desired]', 'scaling[*]', 'members[0]', 'members[*]', 'tags']
    const keys = ['tags[*]', 'tags.team', 'tags[team]', "tags['a.b/c']", 'tags["a.b/c"]', 'password']
    await create('paths', { ignoreChanges: [...good, ...keys] })
    const bad = ['sizes', 'scaling.max', 'scaling..min', 'size[0]', 'tags[', 'tags[]', 'tags.a.b', '', '.size', 'size.']
    for (const path of [...bad, 'members[x]', 'spec.forProvider.size', 'x'.repeat(300)]) {
      await assert.rejects(merge('paths', { ignoreChanges: ['size', path] }), refused(/spec.ignoreChanges/), path)
    }
    await assert.rejects(
      merge('paths', { ignoreChanges: ['sizes'] }),
      refused(/spec.ignoreChanges: "sizes" is not a path to a field of spec.forProvider of Thing/),
    )
  })

  test('objects that were stored before the rules stay editable', async () => {
    const crd = thing.crd()
    const name = crd.metadata.name!
    const stored = await plane.client.get(crdType, { name })
    // biome-ignore lint/suspicious/noExplicitAny: the schema of a CRD is changed in place.
    const loose = structuredClone(stored) as any
    for (const version of loose.spec.versions) {
      const { properties } = version.schema.openAPIV3Schema.properties.spec
      properties.ignoreChanges = { type: 'array', items: { type: 'string' } }
      properties.managementPolicies = {
        type: 'array',
        default: ['*'],
        maxItems: 9,
        items: { type: 'string', maxLength: 64 },
      }
    }
    await plane.client.update(crdType, loose)
    await served(() =>
      create('legacy', { ignoreChanges: ['no such [field'], managementPolicies: ['Create', 'Create'] }),
    )
    const now = await plane.client.get(crdType, { name })
    await plane.client.update(crdType, { ...now, spec: stored['spec'] } as never)
    // A value that was accepted earlier may stay, so each attempt uses a new one.
    let tries = 0
    await served(() =>
      assert.rejects(merge('legacy', { ignoreChanges: [`also [broken ${tries++}`] }), refused(/ignoreChanges/)),
    )
    await merge('legacy', { forProvider: { size: 5 } })
    await assert.rejects(merge('legacy', { managementPolicies: ['Observe', 'Observe'] }), refused(/repeated/))
    const object = await plane.client.get(thing.type, { name: 'legacy' })
    await plane.client.update(thing.type, { ...object, status: { conditions: [] } } as never, { subresource: 'status' })
    await merge('legacy', { ignoreChanges: ['size'], managementPolicies: ['Create'] })
  })

  test('the CRDs of all providers are accepted with these rules', async () => {
    for (const kind of [...aws.kinds, ...sql.kinds, ...kubernetes.kinds]) {
      const crd = kind.crd()
      const { conversion: _, ...spec } = crd['spec'] as Record<string, unknown>
      await plane.client.create(crdType, { ...crd, spec } as never)
    }
  })
}

/** A kind with an immutable reference. Its resources are kept in memory. */
function leafOf(parent: ResourceType): ManagedKind {
  const created = new Map<string, { readonly parentId: string }>()
  return defineManaged({
    group: 'sim.crosstie.io',
    version: 'v1alpha1',
    kind: 'Leaf',
    parameters: s.object({ parentId: s.reference(s.string({ immutable: true }), { to: () => parent }) }),
    observation: s.object({}),
    naming: 'user-chosen',
    connect: () => created,
    async observe({ client, externalName }) {
      const found = client.get(externalName)
      return found ? present({ ready: true, atProvider: found }) : absent
    },
    async create({ client, externalName, forProvider }) {
      client.set(externalName, { parentId: forProvider.parentId })
      return {}
    },
    async update() {},
    async delete({ client, externalName }) {
      client.delete(externalName)
    },
  })
}

/** Repeats an operation until the server uses a changed schema. */
async function served(act: () => Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + 120_000; ; ) {
    try {
      await act()
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

describe('admission of managed resources on the embedded server', () => {
  admission(() => Plane.embedded())
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('admission of managed resources on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  admission(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
