import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, isNotFound, type KubeObject, systemClock } from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources'
import { defineProviderConfig } from '@crosstie/resources/provider'
import { SimulatedCloud, thingOf } from '@crosstie/resources/testing'
import { eventually, namespaceType } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, Plane } from '../support/plane.js'
import { Running } from '../support/running.js'

const PATIENCE_MS = 180_000

interface QueryStatus {
  readonly count?: number
  readonly truncated?: boolean
  readonly matches?: readonly { readonly externalName: string; readonly name: string }[]
}

const statusOf = (object: KubeObject): QueryStatus => (object['status'] ?? {}) as QueryStatus
const externalName = (object: KubeObject) => object.metadata.annotations?.['crossplane.io/external-name'] ?? ''

/** A cloud in which others create resources, and the calls of the control plane to it. */
function cloudOf(before?: () => void) {
  const options = { naming: 'user-chosen', tags: true, tokens: false, list: true, clock: systemClock } as const
  const cloud = new SimulatedCloud({ ...options, ...(before ? { before } : {}) })
  const ours = { create: 0, update: 0, delete: 0 }
  return {
    cloud,
    async make(name: string, tags: Record<string, string> = {}, values: object = {}, region = 'r') {
      ours.create++
      await cloud.create({ name, region, values: { flavor: 'sweet', size: 3, ...values }, tags, token: '' })
    },
    async remove(name: string) {
      ours.delete++
      await cloud.delete(name)
    },
    assertUntouched() {
      const { create, update, delete: gone } = cloud.calls
      assert.deepEqual({ create, update, delete: gone }, ours, 'a query never touches an external resource')
    },
  }
}

/** Tests that run on every Kubernetes API. */
function queries(open: () => Promise<Plane>): void {
  let plane: Plane
  const world = cloudOf()
  const thing = thingOf(world.cloud, { consistencySeconds: 0 })
  let running: Running

  before(async () => {
    plane = await open()
    await plane.serve(thing)
    running = new Running(plane, [thing])
  })
  after(async () => {
    await running?.[Symbol.asyncDispose]()
    await plane?.[Symbol.asyncDispose]()
  })

  async function ask(kind: ManagedKind, name: string, spec: object): Promise<void> {
    const { type } = kind.query!
    const filled = { forProvider: { region: 'r' }, refreshInterval: '1s', ...spec }
    await plane.client.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name },
      spec: filled,
    })
  }

  const owned = async (kind: ManagedKind, query: string): Promise<readonly KubeObject[]> => {
    const { items } = await plane.client.list(kind.type)
    return items.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === query))
  }

  /** Waits until a query has created and observed objects for exactly these resources. */
  async function shows(kind: ManagedKind, query: string, wanted: readonly string[]): Promise<readonly KubeObject[]> {
    const sorted = [...wanted].sort()
    return await eventually(
      `${query} shows ${sorted}`,
      async () => {
        const status = statusOf(await plane.client.get(kind.query!.type, { name: query }))
        const objects = await owned(kind, query)
        const seen = objects.filter((object) => condition(object, 'Synced')?.status === 'True')
        const same = (names: readonly string[]) => JSON.stringify([...names].sort()) === JSON.stringify(sorted)
        return (
          objects.length === sorted.length &&
          same(seen.map(externalName)) &&
          same((status.matches ?? []).map((match) => match.externalName)) &&
          seen
        )
      },
      PATIENCE_MS,
    )
  }

  test('OBS4 a query owns one observed resource for each match, and they come and go with the world', async () => {
    await world.make('db-1', { team: 'payments' })
    await world.make('db-2', { team: 'payments' })
    await world.make('Web Server', { team: 'payments' })
    await world.make('web', { team: 'shop' })
    await world.make('elsewhere', { team: 'payments' }, {}, 'other')
    await ask(thing, 'payments', {
      filter: { matchFields: { 'tags.team': 'payments' } },
      template: { metadata: { labels: { found: 'yes' } } },
    })
    const first = await shows(thing, 'payments', ['db-1', 'db-2', 'Web Server'])
    const db = first.find((object) => externalName(object) === 'db-1')!
    assert.equal(db.metadata.name, 'payments-db-1')
    assert.equal(db.metadata.labels?.['found'], 'yes')
    assert.deepEqual((db['spec'] as { managementPolicies: unknown }).managementPolicies, ['Observe'])
    assert.equal((db['status'] as { atProvider: { flavor: string } }).atProvider.flavor, 'sweet')
    assert.match(first.find((object) => externalName(object) === 'Web Server')!.metadata.name!, /^payments-web-server-/)

    await world.remove('db-1')
    await world.make('db-3', { team: 'payments' })
    world.cloud.meddle('web', {}, { team: 'payments' })
    await shows(thing, 'payments', ['db-2', 'db-3', 'Web Server', 'web'])
    const query = await plane.client.get(thing.query!.type, { name: 'payments' })
    assert.deepEqual([statusOf(query).count, statusOf(query).truncated], [4, false])
    world.assertUntouched()
  })

  test('OBS4 none is a result; what somebody deletes is made again; a name that is taken is left to its owner', async () => {
    await ask(thing, 'rare', { filter: { matchFields: { externalName: 'rare-*' } } })
    await shows(thing, 'rare', [])
    await plane.create(thing, 'rare-rare-1', { managementPolicies: [], forProvider: { region: 'r' } })
    await world.make('rare-1')
    await world.make('rare-2')
    const [only] = await shows(thing, 'rare', ['rare-2'])
    const query = await plane.client.get(thing.query!.type, { name: 'rare' })
    assert.match(condition(query, 'Synced')?.message ?? '', /another Thing of that name: rare-rare-1/)
    await plane.client.delete(thing.type, { name: 'rare-rare-2' })
    const [again] = await eventually(
      'it is made again',
      async () => {
        const objects = await shows(thing, 'rare', ['rare-2'])
        return objects[0]!.metadata.uid !== only!.metadata.uid && objects
      },
      PATIENCE_MS,
    )
    assert.equal(again!.metadata.name, 'rare-rare-2')
    await plane.client.delete(thing.type, { name: 'rare-rare-1' })
    await shows(thing, 'rare', ['rare-1', 'rare-2'])
    world.assertUntouched()
  })

  test('OBS4 an expression chooses, a limit bounds, and both say so', async () => {
    for (let i = 0; i < 6; i++) await world.make(`sized-${i}`, { set: 'sized' }, { size: i })
    const filter = { matchFields: { 'tags.set': 'sized' }, expression: 'atProvider.size >= 2' }
    await ask(thing, 'sized', { filter, limit: 3 })
    await shows(thing, 'sized', ['sized-2', 'sized-3', 'sized-4'])
    const query = await plane.client.get(thing.query!.type, { name: 'sized' })
    assert.deepEqual([statusOf(query).count, statusOf(query).truncated], [4, true])
    assert.match(condition(query, 'Synced')?.message ?? '', /4 match and the limit is 3/)
    await plane.client.patch(
      thing.query!.type,
      { name: 'sized' },
      { type: 'merge', patch: { spec: { limit: 10, filter: { expression: "atProvider.tags.set == 'sized'" } } } },
    )
    await shows(
      thing,
      'sized',
      [0, 1, 2, 3, 4, 5].map((i) => `sized-${i}`),
    )
    world.assertUntouched()
  })

  test('OBS4 a filter that makes no sense is told of, and nothing that was found goes away', async () => {
    await world.make('kept', { set: 'kept' })
    await ask(thing, 'kept', { filter: { matchFields: { 'tags.set': 'kept' } } })
    await shows(thing, 'kept', ['kept'])
    const complains = async (filter: object, words: RegExp) => {
      await plane.client.patch(
        thing.query!.type,
        { name: 'kept' },
        { type: 'merge', patch: { spec: { filter: filter as never } } },
      )
      await eventually(
        `it says ${words}`,
        async () => {
          const query = await plane.client.get(thing.query!.type, { name: 'kept' })
          return words.test(condition(query, 'Synced')?.message ?? '')
        },
        PATIENCE_MS,
      )
      assert.equal((await owned(thing, 'kept')).length, 1)
    }
    await complains({ matchFields: { 'tagz.set': 'kept' } }, /Thing has no field 'tagz' to filter by: choose from/)
    await complains({ matchFields: { 'tagz.set': null }, expression: 'atProvider.size >' }, /expression cannot be used/)
    await complains({ expression: '1 + 1' }, /must be true or false, and is int/)
    await assert.rejects(ask(thing, 'huge', { limit: 100_000 }), /should be less than or equal to 1000/)
    await assert.rejects(ask(thing, 'nowhere', { forProvider: {} }), /spec.forProvider.region: Required value/)
  })

  test('OBS4 what a query owns is only observed, whatever its policies say, also when the query is deleted', async () => {
    const names = ['safe-1', 'safe-2', 'safe-3']
    for (const name of names) await world.make(name, { set: 'safe' })
    await ask(thing, 'safe', { filter: { matchFields: { 'tags.set': 'safe' } } })
    const objects = await shows(thing, 'safe', names)
    for (const { metadata } of objects) {
      const spec = { managementPolicies: ['*'], deletionPolicy: 'Delete', forProvider: { flavor: 'sweet', size: 77 } }
      await plane.client.patch(thing.type, { name: metadata.name! }, { type: 'merge', patch: { spec } as never })
    }
    await eventually(
      'the policies are as before',
      async () =>
        (await owned(thing, 'safe')).every(({ spec }) => {
          const { managementPolicies } = spec as { managementPolicies: readonly string[] }
          return managementPolicies.join() === 'Observe'
        }),
      PATIENCE_MS,
    )
    const spec = { managementPolicies: ['*'] }
    const changed = objects[0]!.metadata.name!
    await plane.client.patch(thing.type, { name: changed }, { type: 'merge', patch: { spec } as never })
    await plane.client.delete(thing.query!.type, { name: 'safe' })
    await eventually('all that it owned is gone', async () => (await owned(thing, 'safe')).length === 0, PATIENCE_MS)
    for (const name of names) {
      assert.equal(world.cloud.resources.find((resource) => resource.name === name)?.values['size'], 3)
    }
    world.assertUntouched()
  })

  test('OBS4 what an orphaning deletion of the query leaves behind does not act either, nor while policies are off', async () => {
    await world.make('left', { set: 'left' })
    await ask(thing, 'left', { filter: { matchFields: { 'tags.set': 'left' } } })
    const [object] = await shows(thing, 'left', ['left'])
    const name = object!.metadata.name!
    await plane.client.delete(thing.query!.type, { name: 'left' }, { propagationPolicy: 'Orphan' })
    await eventually(
      'it has no owner',
      async () => !(await plane.client.get(thing.type, { name })).metadata.ownerReferences?.length,
      PATIENCE_MS,
    )
    await running[Symbol.asyncDispose]()
    running = new Running(plane, [thing], { features: { managementPolicies: false } })
    const spec = { managementPolicies: ['*'], forProvider: { flavor: 'sweet', size: 99 } }
    await plane.client.patch(thing.type, { name }, { type: 'merge', patch: { spec } as never })
    await eventually(
      'it was looked at',
      async () => {
        const left = await plane.client.get(thing.type, { name })
        return condition(left, 'Drifted')?.reason === 'NotAllowed'
      },
      PATIENCE_MS,
    )
    await plane.client.delete(thing.type, { name })
    await eventually(
      'it is gone',
      () =>
        plane.client.get(thing.type, { name }).then(
          () => false,
          (error) => isNotFound(error),
        ),
      PATIENCE_MS,
    )
    assert.equal(world.cloud.resources.find((resource) => resource.name === 'left')?.values['size'], 3)
    world.assertUntouched()
    await running[Symbol.asyncDispose]()
    running = new Running(plane, [thing])
  })

  test('OBS4 while looking fails all stays as it is; credentials that go with their namespace take nothing along', async () => {
    const canary = 'c4n4ry-credentials'
    let broken = false
    const theirs = cloudOf(() => {
      if (broken) throw new Error(`${canary} is not allowed to list`)
    })
    const config = defineProviderConfig({ group: 'sim.crosstie.io' })
    const gadget = thingOf(theirs.cloud, { kind: 'Gadget', consistencySeconds: 0, providerConfig: config })
    for (const crd of [config.crd(), config.usageCrd()]) await plane.define(crd)
    await plane.serve(gadget)
    await using crew = new Running(plane, [gadget])
    await plane.client.create(namespaceType, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'credentials' },
    })
    const secretType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
    await plane.client.create(secretType, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cloud', namespace: 'credentials' },
      data: { key: Buffer.from(canary).toString('base64') },
    })
    const secretRef = { name: 'cloud', namespace: 'credentials', key: 'key' }
    await plane.client.create(config.type, {
      apiVersion: apiVersionOf(config.type),
      kind: config.type.kind,
      metadata: { name: 'acme' },
      spec: { credentials: { source: 'Secret', secretRef } },
    })
    await theirs.make('g-1')
    await theirs.make('g-2')
    await ask(gadget, 'all', { providerConfigRef: { name: 'acme' } })
    await shows(gadget, 'all', ['g-1', 'g-2'])
    const says = async (words: RegExp) =>
      await eventually(
        `it says ${words}`,
        async () => {
          const query = await plane.client.get(gadget.query!.type, { name: 'all' })
          return words.test(condition(query, 'Synced')?.message ?? '') && query
        },
        PATIENCE_MS,
      )
    broken = true
    const failing = await says(/cannot list Gadget: <redacted> is not allowed to list/)
    assert.equal((await owned(gadget, 'all')).length, 2)
    assert.equal(statusOf(failing).count, 2)
    const shown = JSON.stringify([failing, await owned(gadget, 'all'), crew.events])
    assert.ok(!shown.includes(canary), 'credentials are seen nowhere')
    broken = false
    await plane.client.delete(namespaceType, { name: 'credentials' })
    await says(/cannot list Gadget: .*credentials/)
    assert.equal((await owned(gadget, 'all')).length, 2)
    await plane.client.delete(gadget.query!.type, { name: 'all' })
    await eventually('all is gone', async () => (await owned(gadget, 'all')).length === 0, PATIENCE_MS)
    theirs.assertUntouched()
    assert.equal(theirs.cloud.resources.length, 2)
  })

  test('OBS4 under churn a query ends with exactly what is there', async () => {
    let seed = 20_231_116
    const random = (bound: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * bound)
    }
    await ask(thing, 'churn', { filter: { matchFields: { 'tags.set': 'churn' } }, limit: 40 })
    const there = new Set<string>()
    for (let round = 0; round < 200; round++) {
      const name = `churn-${random(60)}`
      if (there.delete(name)) await world.remove(name)
      else {
        there.add(name)
        await world.make(name, { set: 'churn' })
      }
      if (round % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (round % 50 === 49) await shows(thing, 'churn', [...there].sort().slice(0, 40))
    }
    await shows(thing, 'churn', [...there].sort().slice(0, 40))
    world.assertUntouched()
  })
}

describe('queries on the embedded server', () => queries(() => Plane.embedded()))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('queries on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  queries(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
