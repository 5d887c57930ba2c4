import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { apiVersionOf, type Client, type KubeObject, StatusError } from '@crosstie/kube'
import { aggregateType } from '@crosstie/resources'
import { bucket, defineBinding, mysqlInstance, s } from '@crosstie/resources/provider'
import { type Crew, eventually, World, type WorldOptions } from '../support/claims-world.js'
import { type RealKubernetes, startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { azure, cloudKind, specOf, statusOf } from './kinds.js'

/** Returns a deterministic random number generator for the seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const calls = ['get', 'list', 'create', 'update', 'patch', 'apply', 'delete'] as const

/**
 * Returns the client of a process that may be killed. Some calls fail before they take effect, some after. After
 * its death every call fails.
 */
function frail(client: Client, random: () => number, faults: number) {
  const life = { dead: false }
  const wrapped = new Proxy(client, {
    get(target, name) {
      const member = target[name as keyof Client]
      if (typeof member !== 'function') return member
      if (!calls.includes(name as never)) return member.bind(target)
      return async (...args: unknown[]) => {
        const unavailable = () => new StatusError(503, 'ServiceUnavailable', 'the server went away')
        await new Promise((resolve) => setTimeout(resolve, random() * 4))
        if (life.dead || random() < faults) throw unavailable()
        const answer = await (member as (...args: unknown[]) => Promise<unknown>).apply(target, args)
        if (life.dead || random() < faults) throw unavailable()
        return answer
      }
    },
  })
  return { client: wrapped, life }
}

const real = await startRealKubernetes()
after(async () => {
  if (typeof real !== 'string') await real[Symbol.asyncDispose]()
})

interface Engine {
  readonly name: string
  readonly skip: string | false
  open(options: WorldOptions): Promise<World>
}

const engines: readonly Engine[] = [
  { name: 'embedded', skip: false, open: (options) => World.embedded(options) },
  {
    name: 'kube-apiserver',
    skip: typeof real === 'string' ? real : false,
    open: (options) => World.remote((real as RealKubernetes).kubeconfig, options),
  },
]

/** The number of races: `CROSSTIE_RACES=50` runs 50 with different seeds. `CROSSTIE_SEED` replays a failed one. */
const RACES = Number(process.env['CROSSTIE_RACES'] ?? 1)
const USUAL = 7
const SEED = Number(process.env['CROSSTIE_SEED'] ?? USUAL)

for (const engine of engines) {
  const { name, skip } = engine
  const title = 'sets of controllers race on the same claims and are killed at random: one of each, no orphans'
  for (let seed = SEED; seed < SEED + RACES; seed++) {
    const which = RACES > 1 ? ` (seed ${seed})` : ''
    test(`AGG9 CLM3 ${name}: ${title}${which}`, { skip, timeout: 1_200_000 }, () => race(engine, seed))
  }
}

async function race(engine: Engine, seed: number): Promise<void> {
  const label = { 'resourceclass.crossplane.io/aggregate-to': 'race' }
  const random = randomOf(seed)
  // The cloud is slow too, so that concurrent operations interleave.
  const slow = async () => await new Promise<void>((resolve) => setTimeout(resolve, random() * 30))
  const { kinds, bindings, resourceGroup, sqlServer, violations } = azure({ before: slow, after: slow })
  const direct = defineBinding({ claim: bucket, managed: resourceGroup.kind })
  await using world = await engine.open({ bindings: [...bindings, direct], managed: kinds.map(({ kind }) => kind) })
  const create = (type: Parameters<Client['create']>[0], object: Omit<KubeObject, 'apiVersion' | 'kind'>) =>
    world.client.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, ...object } as KubeObject)
  await create(aggregateClassOf, {
    metadata: { name: 'race' },
    aggregationRule: { classSelector: { matchLabels: label } },
  })
  await create(resourceGroup.kind.classType, {
    metadata: { name: 'race', labels: label },
    specTemplate: { forProvider: { location: 'here' } },
  })
  await create(sqlServer.kind.classType, {
    metadata: { name: 'race', labels: label },
    specTemplate: {
      forProvider: {
        administratorLogin: 'me',
        location: 'here',
        resourceGroupNameSelector: { matchAggregate: true },
        sku: { tier: 't', capacity: 1, family: 'f' },
        storageProfile: { storageMB: 1 },
      },
    },
  })
  // The controllers of four processes. Random ones are killed and restarted continuously.
  const crews: { crew: Crew; life: { dead: boolean } }[] = []
  const recruit = () => {
    const { client, life } = frail(world.client, random, 0.02)
    return { crew: world.start(client), life }
  }
  for (let i = 0; i < 4; i++) crews.push(recruit())
  let raging = true
  const reaper = (async () => {
    while (raging) {
      await new Promise((resolve) => setTimeout(resolve, 150 + random() * 250))
      const at = Math.floor(random() * crews.length)
      crews[at]!.life.dead = true
      await crews[at]!.crew.kill()
      crews[at] = recruit()
    }
  })()
  const classRef = { apiVersion: 'aggregation.crossplane.io/v1alpha1', kind: 'AggregateResourceClass', name: 'race' }
  const groupRef = { apiVersion: apiVersionOf(resourceGroup.kind.classType), kind: 'ResourceGroupClass', name: 'race' }
  const names = Array.from({ length: 24 }, (_, i) => `race-${i}`)
  for (const name of names) {
    await create(mysqlInstance.type, { metadata: { name, namespace: 'default' }, spec: { classRef } })
    await create(bucket.type, { metadata: { name, namespace: 'default' }, spec: { classRef: groupRef } })
  }
  const doomed = names.filter((_, i) => i % 3 === 0)
  // Some claims are deleted before their resources are complete.
  for (const name of doomed) {
    await new Promise((resolve) => setTimeout(resolve, random() * 60))
    for (const { type } of [mysqlInstance, bucket]) await world.client.delete(type, { name, namespace: 'default' })
  }
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  raging = false
  await reaper
  const rest = names.filter((name) => !doomed.includes(name))
  const bound = await eventually(
    'all claims that are left are ready, and the others gone',
    async () => {
      const claims = [...(await world.list(mysqlInstance.type)), ...(await world.list(bucket.type))]
      const ready = claims.every((claim) => condition(claim, 'Ready')?.status === 'True')
      return claims.length === 2 * rest.length && ready && claims
    },
    400_000,
  ).catch(async (error) => {
    const claims = [...(await world.list(mysqlInstance.type)), ...(await world.list(bucket.type))]
    const stuck = claims.filter((claim) => condition(claim, 'Ready')?.status !== 'True').slice(0, 3)
    throw new Error(`${error}: ${claims.length} ${JSON.stringify(stuck)}`)
  })
  assert.equal(new Set(bound.map((claim) => specOf(claim).resourceRef.uid)).size, bound.length, 'double bindings')
  await eventually('nothing is left over', async () => {
    const counts = await Promise.all(
      [aggregateType, sqlServer.kind.type, resourceGroup.kind.type].map(
        async (type) => (await world.list(type)).length,
      ),
    )
    return String(counts) === String([rest.length, rest.length, 2 * rest.length])
  }).catch(async (error) => {
    const left = await Promise.all(
      [aggregateType, sqlServer.kind.type, resourceGroup.kind.type].map(
        async (type) => (await world.list(type)).length,
      ),
    )
    throw new Error(`${error}: ${left} of ${rest.length}`)
  })
  await eventually(
    'nor in the cloud',
    async () =>
      resourceGroup.cloud.resources.length === 2 * rest.length && sqlServer.cloud.resources.length === rest.length,
  )
  for (const { type } of [mysqlInstance, bucket]) await world.client.deleteCollection(type, { namespace: 'default' })
  await eventually(
    'all is gone',
    async () => {
      const left = await Promise.all(
        [mysqlInstance.type, bucket.type, aggregateType, sqlServer.kind.type, resourceGroup.kind.type].map((type) =>
          world.list(type),
        ),
      )
      return left.flat().length === 0
    },
    400_000,
  )
  assert.equal(violations.count, 0)
  // The next race may use the same server.
  for (const type of [aggregateClassOf, resourceGroup.kind.classType, sqlServer.kind.classType]) {
    await world.client.delete(type, { name: 'race' })
  }
}

const aggregateClassOf = { ...aggregateType, kind: 'AggregateResourceClass', resource: 'aggregateresourceclasses' }

/** A node of a graph. It refers to any number of other nodes, by the classes that created them. */
function nodeKind(faults: () => boolean) {
  let violations = 0
  const node = cloudKind({
    group: 'graph.crosstie.io',
    version: 'v1',
    kind: 'Node',
    parameters: s.object({
      a: s.optional(
        s.reference(s.string(), {
          to: () => ({ group: 'graph.crosstie.io', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false }),
        }),
      ),
      b: s.optional(
        s.reference(s.string(), {
          to: () => ({ group: 'graph.crosstie.io', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false }),
        }),
      ),
      c: s.optional(
        s.reference(s.string(), {
          to: () => ({ group: 'graph.crosstie.io', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false }),
        }),
      ),
    }),
    cloud: {
      before: () => {
        if (faults()) throw new Error('the cloud is moody')
      },
    },
    deleting: (name) => {
      if (node.cloud.resources.some(({ values }) => ['a', 'b', 'c'].some((field) => values[field] === name)))
        violations++
    },
  })
  return { node, violations: () => violations }
}

/**
 * The size of the largest graph on both engines, such as `CROSSTIE_GRAPH=1000`. A real server is slow with that
 * many.
 */
const LARGEST = Number(process.env['CROSSTIE_GRAPH'] ?? 0)

for (const engine of engines) {
  for (const [size, faults] of [
    [20, 0.05],
    [100, 0.02],
    ...(engine.name === 'embedded' ? [[300, 0.005] as const] : []),
    ...(LARGEST > 0 ? [[LARGEST, 0.005] as const] : []),
  ] as const) {
    const { name, skip } = engine
    test(
      `${name}: random graph of ${size} parts with faults: ready, then gone, in order, no orphans`,
      {
        skip,
        timeout: 1_200_000,
      },
      () => graph(engine, size, faults),
    )
  }
}

async function graph(engine: Engine, size: number, faults: number): Promise<void> {
  const name = `graph-${size}`
  const label = { 'resourceclass.crossplane.io/aggregate-to': name }
  const random = randomOf(size + SEED - USUAL)
  const { node, violations } = nodeKind(() => random() < faults)
  const bindings = [defineBinding({ claim: mysqlInstance, managed: node.kind })]
  await using world = await engine.open({ bindings, managed: [node.kind] })
  const crew = world.start(frail(world.client, random, faults / 10).client)
  await world.client.create(aggregateClassOf, {
    apiVersion: apiVersionOf(aggregateClassOf),
    kind: aggregateClassOf.kind,
    metadata: { name },
    aggregationRule: { classSelector: { matchLabels: label } },
  })
  const { classType } = node.kind
  const order = Array.from({ length: size }, (_, i) => i).sort(() => random() - 0.5)
  for (const i of order) {
    const fields = ['a', 'b', 'c'].filter(() => i > 0 && random() < 0.5)
    const select = () => ({ matchAggregate: true, matchClassRef: { name: `${name}-${Math.floor(random() * i)}` } })
    await world.client.create(classType, {
      apiVersion: apiVersionOf(classType),
      kind: classType.kind,
      metadata: { name: `${name}-${i}`, labels: label },
      specTemplate: { forProvider: Object.fromEntries(fields.map((field) => [`${field}Selector`, select()])) },
    })
  }
  const classRef = { apiVersion: 'aggregation.crossplane.io/v1alpha1', kind: 'AggregateResourceClass', name }
  const key = { name, namespace: 'default' }
  const { apiVersion, kind } = { apiVersion: apiVersionOf(mysqlInstance.type), kind: 'MySQLInstance' }
  await world.client.create(mysqlInstance.type, { apiVersion, kind, metadata: key, spec: { classRef } })
  const claim = await eventually(
    'the claim is ready',
    async () => {
      const found = await world.find(mysqlInstance.type, key.name, key.namespace)
      return found && condition(found, 'Ready')?.status === 'True' && found
    },
    600_000,
  )
  const aggregate = (await world.find(aggregateType, specOf(claim).resourceRef.name))!
  assert.equal(statusOf(aggregate).aggregatedResources.length, size)
  assert.equal(node.cloud.resources.length, size)
  await world.client.delete(mysqlInstance.type, key)
  await eventually(
    'the claim is gone',
    async () => !(await world.find(mysqlInstance.type, key.name, key.namespace)),
    600_000,
  ).catch(async (error) => {
    const left = (await world.find(aggregateType, aggregate.metadata.name!))!
    throw new Error(`${error}: ${JSON.stringify(statusOf(left).conditions)}`)
  })
  assert.equal((await world.list(node.kind.type)).length, 0)
  assert.equal(node.cloud.resources.length, 0)
  assert.equal(violations(), 0)
  await crew.kill()
}
