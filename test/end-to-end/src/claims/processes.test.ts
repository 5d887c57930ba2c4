import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { apiVersionOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { nopResource } from '@crosstie/provider-nop'
import { aggregateClassType, aggregateType } from '@crosstie/resources'
import { bucket, mysqlInstance } from '@crosstie/resources/provider'
import { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { specOf, statusOf } from './kinds.js'

const crosstie = fileURLToPath(new URL('../../../../apps/crosstie/bin/crosstie.js', import.meta.url))
const CLAIMS = 25

/** AGG9 with processes: several reconcile the same claims, and random ones are killed continuously. */
async function race(kubeconfig: string, processes: number): Promise<void> {
  const client = new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
  const recruit = () =>
    new Child(process.execPath, [
      crosstie,
      'controllers',
      '--providers',
      'nop',
      '--standalone',
      '--kubeconfig',
      kubeconfig,
      '--poll-seconds',
      '2',
    ])
  const crews = Array.from({ length: processes }, recruit)
  try {
    const create = (type: ResourceType, object: object) =>
      eventually(`${type.kind} is served`, () =>
        client
          .create(type, { apiVersion: apiVersionOf(type), kind: type.kind, ...object } as KubeObject)
          .catch(() => undefined),
      )
    const labels = { 'resourceclass.crossplane.io/aggregate-to': 'three' }
    for (const name of ['a', 'b', 'c']) {
      await create(nopResource.classType, { metadata: { name, labels }, specTemplate: { forProvider: { size: 1 } } })
    }
    await create(aggregateClassType, {
      metadata: { name: 'three' },
      aggregationRule: { classSelector: { matchLabels: labels } },
    })
    const refer = (type: ResourceType, name: string) => ({ apiVersion: apiVersionOf(type), kind: type.kind, name })
    const names = Array.from({ length: CLAIMS }, (_, i) => `race-${i}`)
    const storm = (async () => {
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        await crews[i % processes]!.stop('SIGKILL')
        crews[i % processes] = recruit()
      }
    })()
    for (const name of names) {
      const metadata = { name, namespace: 'default' }
      await create(mysqlInstance.type, { metadata, spec: { classRef: refer(aggregateClassType, 'three') } })
      await create(bucket.type, { metadata, spec: { classRef: refer(nopResource.classType, 'a') } })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const doomed = names.filter((_, i) => i % 5 === 4)
    for (const name of doomed) {
      for (const { type } of [mysqlInstance, bucket]) await client.delete(type, { name, namespace: 'default' })
    }
    await storm
    const left = CLAIMS - doomed.length
    const list = async (type: ResourceType) => (await client.list(type)).items
    const claims = await eventually(
      'all claims are ready, or gone',
      async () => {
        const all = [...(await list(mysqlInstance.type)), ...(await list(bucket.type))]
        return all.length === 2 * left && all.every((claim) => condition(claim, 'Ready')?.status === 'True') && all
      },
      300_000,
    )
    assert.equal(new Set(claims.map((claim) => specOf(claim).resourceRef.uid)).size, claims.length, 'double bindings')
    const count = async () => [(await list(aggregateType)).length, (await list(nopResource.type)).length]
    await eventually(
      'nothing is left over',
      async () => String(await count()) === String([left, 4 * left]),
      300_000,
    ).catch(async (error) => {
      throw new Error(`${error}: ${await count()} of ${left}`)
    })
    for (const aggregate of await list(aggregateType)) assert.equal(statusOf(aggregate).aggregatedResources.length, 3)
    await toldOnBothSides(client)
    await shownToPeople(client)
    for (const { type } of [mysqlInstance, bucket]) await client.deleteCollection(type, { namespace: 'default' })
    await eventually('all is gone', async () => String(await count()) === '0,0', 300_000)
  } finally {
    for (const crew of crews) await crew.stop('SIGKILL')
    client.close()
  }
}

/** Waits for the events on both sides of each relation: claims, bound objects and members. */
async function toldOnBothSides(client: HttpClient): Promise<void> {
  const wanted = [
    'MySQLInstance ChoseClass',
    'MySQLInstance Provisioned',
    'MySQLInstance BoundToResource',
    'AggregateResource BoundToClaim',
    'AggregateResource Aggregated',
    'NopResource BoundToAggregate',
    'Bucket BoundToResource',
    'NopResource BoundToClaim',
  ]
  await eventually(`there are events of ${wanted.join(', ')}`, async () => {
    const told = new Set(
      (await client.list(eventType)).items.map((event) => `${involved(event).kind} ${event['reason']}`),
    )
    return wanted.every((each) => told.has(each))
  })
}

const eventType: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }
const involved = (event: KubeObject) => event['involvedObject'] as { readonly kind: string }

/** Asserts the columns of claims in `kubectl get`. */
async function shownToPeople(client: HttpClient): Promise<void> {
  const { group, version, resource } = mysqlInstance.type
  const path = `/apis/${group}/${version}/namespaces/default/${resource}`
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
  const { columnDefinitions, rows } = await client.read<Table>(path, { accept })
  assert.deepEqual(
    columnDefinitions.map(({ name }) => name.toUpperCase()),
    ['NAME', 'CLASS', 'RESOURCE', 'PHASE', 'READY', 'AGE'],
  )
  for (const { cells } of rows) {
    const [name, type, bound, phase, ready] = cells
    assert.deepEqual([type, phase, ready], ['three', 'Bound', 'True'])
    assert.match(String(bound), new RegExp(`^default-${name}-\\w{5}$`))
  }
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

test('AGG9 CLM3 processes race on one embedded server and are killed', { timeout: 1_200_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-processes-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const where = ['--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig]
  const server = new Child(process.execPath, [crosstie, 'up', '--providers', 'nop', ...where])
  try {
    await server.says(/^ready: /m)
    // The server runs controllers too. These processes are additional.
    await race(kubeconfig, 2)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

const real = await startRealKubernetes()

describe('on the real kube-apiserver', { skip: typeof real === 'string' ? real : false }, () => {
  test('AGG9 CLM3 processes race and are killed', { timeout: 1_200_000 }, async () => {
    if (typeof real === 'string') return
    try {
      await race(real.kubeconfig, 3)
    } finally {
      await real[Symbol.asyncDispose]()
    }
  })
})
