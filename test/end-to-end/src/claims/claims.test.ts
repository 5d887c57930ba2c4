import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType, StatusError } from '@crosstie/kube'
import { aggregateClassType, aggregateType, claimKinds } from '@crosstie/resources'
import { bucket, defineBinding, kubernetesCluster, mysqlInstance } from '@crosstie/resources/provider'
import { loadAll } from 'js-yaml'
import { type Crew, eventually, namespaceType, World, type WorldOptions } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { azure, gcp, specOf, statusOf } from './kinds.js'

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

const example = async (file: string): Promise<readonly KubeObject[]> => {
  const url = new URL(`../../../../test/end-to-end/testdata/private-mysql/${file}`, import.meta.url)
  return loadAll(await readFile(url, 'utf8')) as KubeObject[]
}

/** Tests that run on every Kubernetes API. */
function claims(open: (options: WorldOptions) => Promise<World>): void {
  const azureCloud = azure()
  const gcpCloud = gcp()
  const kinds = [...azureCloud.kinds, ...gcpCloud.kinds]
  const direct = defineBinding({
    claim: bucket,
    managed: azureCloud.resourceGroup.kind,
    configure: ({ asked, forProvider }) => {
      if (asked['predefinedACL'] === 'PublicReadWrite') throw new Error('a public bucket is not offered here')
      return forProvider
    },
  })
  const types = [
    ...kinds.flatMap(({ kind }) => [kind.type, kind.classType]),
    ...claimKinds.map(({ type }) => type),
    aggregateType,
    aggregateClassType,
  ]
  const typeOf = (object: KubeObject): ResourceType => {
    const { group } = parseApiVersion(object.apiVersion)!
    return types.find((type) => type.kind === object.kind && type.group === group)!
  }
  let world: World
  let crew: Crew
  const create = (object: KubeObject) => world.client.create(typeOf(object), object)
  const claimOf = (name: string, spec: object, more: object = {}): KubeObject => ({
    apiVersion: apiVersionOf(bucket.type),
    kind: 'Bucket',
    metadata: { name, namespace: 'default', ...more },
    spec,
  })
  const groupClass = (name: string, template: object = {}, metadata: object = {}): KubeObject => ({
    apiVersion: 'azure.crossplane.io/v1alpha3',
    kind: 'ResourceGroupClass',
    metadata: { name, ...metadata },
    specTemplate: { forProvider: { location: 'here' }, ...template },
  })
  const read = async (object: KubeObject) =>
    world.find(typeOf(object), object.metadata.name!, object.metadata.namespace)
  const ready = (object: KubeObject) =>
    eventually(`${object.kind} ${object.metadata.name} is ready`, async () => {
      const found = await read(object)
      return found && condition(found, 'Ready')?.status === 'True' && found
    }).catch(async (error) => {
      throw new Error(`${error}: ${JSON.stringify(statusOf((await read(object))!))}`)
    })
  const gone = (object: KubeObject) =>
    eventually(`${object.kind} ${object.metadata.name} is gone`, async () => !(await read(object)))
  const waits = (object: KubeObject, words: RegExp) =>
    eventually(`${object.metadata.name} says ${words}`, async () => {
      const found = await read(object)
      const said = found && `${condition(found, 'Ready')?.message} ${condition(found, 'Synced')?.message}`
      return said && words.test(said) ? found : undefined
    }).catch(async (error) => {
      throw new Error(`${error}: ${JSON.stringify(statusOf((await read(object))!))}`)
    })
  const remove = (object: KubeObject) =>
    world.client.delete(typeOf(object), {
      name: object.metadata.name!,
      ...(object.metadata.namespace ? { namespace: object.metadata.namespace } : {}),
    })

  before(async () => {
    world = await open({
      bindings: [...azureCloud.bindings, ...gcpCloud.bindings, direct],
      managed: kinds.map(({ kind }) => kind),
    })
    crew = world.start()
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
  })

  test('AGG1 AGG2 AGG3 AGG6 AGG7 AGG11 XN3 the private MySQL server of 002, field by field, in any order', async () => {
    const [claim] = await example('claim.yaml')
    const infrastructure = await example('infrastructure.yaml')
    await create(claim!)
    await waits(claim!, /waiting for a default class/)
    for (const object of [...infrastructure].reverse()) await create(object)

    const sql = await ready(claim!)
    const uid = sql.metadata.uid!
    const labels = {
      'resourceclaim.crossplane.io/namespace': 'default',
      'resourceclaim.crossplane.io/name': 'sql',
      'resourceclaim.crossplane.io/uid': uid,
    }
    const aggregateClass = (await world.find(aggregateClassType, 'private-mysql-server'))!
    const { resourceRef, classRef } = specOf(sql)
    assert.match(resourceRef.name, /^default-sql-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.deepEqual(classRef, {
      apiVersion: 'aggregation.crossplane.io/v1alpha1',
      kind: 'AggregateResourceClass',
      name: 'private-mysql-server',
      uid: aggregateClass.metadata.uid,
    })
    assert.equal(statusOf(sql).bindingPhase, 'Bound')

    const aggregate = (await world.find(aggregateType, resourceRef.name))!
    assert.deepEqual(resourceRef, {
      apiVersion: 'aggregation.crossplane.io/v1alpha1',
      kind: 'AggregateResource',
      name: aggregate.metadata.name,
      uid: aggregate.metadata.uid,
    })
    assert.deepEqual(aggregate['spec'], {
      aggregationRule: { resourceSelector: { matchLabels: labels } },
      claimRef: {
        apiVersion: 'database.crossplane.io/v1alpha1',
        kind: 'MySQLInstance',
        namespace: 'default',
        name: 'sql',
        uid,
      },
      classRef,
      writeConnectionSecretsToRef: { namespace: 'crossplane-system', name: uid },
      reclaimPolicy: 'Delete',
    })
    const parts = await Promise.all(
      azureCloud.kinds
        .filter(({ kind }) => kind !== azureCloud.subnet.kind)
        .map(async ({ kind }) => {
          const [part, ...more] = await world.list(kind.type, `resourceclaim.crossplane.io/uid=${uid}`)
          assert.equal(more.length, 0)
          return part!
        }),
    )
    const [group, server, rule] = parts as [KubeObject, KubeObject, KubeObject]
    assert.equal(statusOf(aggregate).bindingPhase, 'Bound')
    const entry = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject) => ({
      apiVersion,
      kind,
      name,
      uid,
      bindingPhase: 'Bound',
    })
    const byKind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1)
    assert.deepEqual([...statusOf(aggregate).aggregatedResources].sort(byKind), parts.map(entry).sort(byKind))

    for (const part of parts) {
      assert.match(part.metadata.name!, /^default-sql-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      assert.deepEqual(part.metadata.labels, labels)
      assert.equal(part.metadata.annotations?.['crossplane.io/external-name'], 'very-private-database')
      assert.deepEqual(specOf(part).aggregateRef, {
        apiVersion: 'aggregation.crossplane.io/v1alpha1',
        kind: 'AggregateResource',
        name: aggregate.metadata.name,
        uid: aggregate.metadata.uid,
      })
      assert.equal(specOf(part).claimRef, undefined)
      const classType = azureCloud.kinds.find(({ kind }) => kind.type.kind === part.kind)!.kind.classType
      assert.deepEqual(specOf(part).classRef, {
        apiVersion: apiVersionOf(classType),
        kind: classType.kind,
        name: 'private-mysql-server',
        uid: (await world.find(classType, 'private-mysql-server'))!.metadata.uid,
      })
      assert.deepEqual(specOf(part).providerConfigRef.name, 'example')
      assert.equal(statusOf(part).bindingPhase, 'Bound')
    }
    assert.deepEqual(specOf(group).forProvider, { location: 'Central US' })
    const selector = { matchAggregate: true, matchClassRef: { name: 'private-mysql-server' } }
    assert.deepEqual(specOf(server).forProvider, {
      administratorLogin: 'my-cool-login',
      resourceGroupName: 'very-private-database',
      resourceGroupNameRef: { name: group.metadata.name },
      resourceGroupNameSelector: selector,
      location: 'Central US',
      sslEnforcement: 'Disabled',
      version: '5.6',
      sku: { tier: 'GeneralPurpose', capacity: 2, family: 'Gen5' },
      storageProfile: { storageMB: 25600, backupRetentionDays: 7, geoRedundantBackup: 'Disabled' },
    })
    assert.deepEqual(specOf(rule).forProvider, {
      serverName: 'very-private-database',
      serverNameRef: { name: server.metadata.name },
      serverNameSelector: selector,
      resourceGroupName: 'very-private-database',
      resourceGroupNameRef: { name: group.metadata.name },
      resourceGroupNameSelector: selector,
      properties: { virtualNetworkSubnetId: 'private', virtualNetworkSubnetIdRef: { name: 'private' } },
    })

    const secret = await eventually('the Secret is there', () => world.find(secretType, 'sql', 'default'))
    const decoded = (object: KubeObject) =>
      Object.fromEntries(
        Object.entries(object['data'] as Record<string, string>).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString(),
        ]),
      )
    const published = {
      endpoint: 'very-private-database.mysql.example.org',
      username: 'my-cool-login',
      password: 'secret-of-very-private-database',
    }
    assert.deepEqual(decoded(secret), published)
    assert.deepEqual(decoded((await world.find(secretType, uid, 'crossplane-system'))!), published)

    // CLM5: all members are deleted with the claim, dependencies after their dependents.
    await remove(claim!)
    await gone(claim!)
    for (const object of [aggregate, ...parts]) assert.equal(await read(object), undefined)
    assert.equal(azureCloud.violations.count, 0)
    assert.deepEqual(
      [azureCloud.sqlServer, azureCloud.rule].map(({ cloud }) => cloud.resources.length),
      [0, 0],
    )
    // The garbage collector of a real control plane discovers new kinds every 30 seconds.
    await eventually('its Secret is collected', async () => !(await world.find(secretType, 'sql', 'default')), 240_000)
  })

  test('AGG11 a cluster with two node pools and two service accounts in a new subnet of an existing network', async () => {
    const label = { 'resourceclass.crossplane.io/aggregate-to': 'cool-gke-cluster' }
    const of = (kind: string, name: string, forProvider: object, more: object = {}) => {
      const { classType } = gcpCloud.kinds.find((each) => each.kind.type.kind === kind)!.kind
      return {
        apiVersion: apiVersionOf(classType),
        kind: classType.kind,
        metadata: { name, labels: label },
        specTemplate: { forProvider, ...more },
      }
    }
    const same = (name: string) => ({ matchAggregate: true, matchClassRef: { name } })
    const claim: KubeObject = {
      apiVersion: 'compute.crossplane.io/v1beta1',
      kind: 'KubernetesCluster',
      metadata: { namespace: 'default', name: 'coolcluster' },
      spec: {
        classRef: {
          apiVersion: 'aggregation.crossplane.io/v1alpha1',
          kind: 'AggregateResourceClass',
          name: 'cool-gke-cluster',
        },
        writeConnectionSecretToRef: { name: 'coolcluster' },
      },
    }
    await create(claim)
    await waits(claim, /waiting for AggregateResourceClass cool-gke-cluster, which does not exist/)
    const secrets = { writeConnectionSecretsToNamespace: 'crossplane-system' }
    const prefixed = (object: KubeObject, prefix: string): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'aggregation.crossplane.io/connection-secret-prefix': prefix } },
    })
    const objects: KubeObject[] = [
      of('GKENodePool', 'a', { clusterSelector: same('a'), serviceAccountSelector: same('a') }),
      of('GKENodePool', 'b', { clusterSelector: same('a'), serviceAccountSelector: same('b') }),
      prefixed(of('ServiceAccount', 'a', {}, secrets), 'a-'),
      prefixed(of('ServiceAccount', 'b', {}, secrets), 'b-'),
      of('GKECluster', 'a', { location: 'us', subnetworkSelector: same('a') }, secrets),
      of('Subnetwork', 'a', { ipCidrRange: '10.0.0.0/24', networkRef: { name: 'existing' } }),
      {
        apiVersion: 'aggregation.crossplane.io/v1alpha1',
        kind: 'AggregateResourceClass',
        metadata: { name: 'cool-gke-cluster' },
        aggregationRule: { classSelector: { matchLabels: label } },
        specTemplate: secrets,
      },
    ]
    for (const object of objects) await create(object)
    await waits(
      claim,
      /waiting for Subnetwork default-coolcluster-\w+: cannot resolve references: .*"existing" not found/,
    )
    await create({
      apiVersion: 'compute.gcp.crossplane.io/v1alpha3',
      kind: 'Network',
      metadata: { name: 'existing' },
      spec: { forProvider: {} },
    })
    const bound = await ready(claim)
    const aggregate = (await world.find(aggregateType, specOf(bound).resourceRef.name))!
    assert.equal(statusOf(aggregate).aggregatedResources.length, 6)
    const pools = await world.list(gcpCloud.nodePool.kind.type)
    const accounts = new Map(
      (await world.list(gcpCloud.serviceAccount.kind.type)).map((each) => [
        each.metadata.name,
        specOf(each).classRef.name,
      ]),
    )
    for (const pool of pools) {
      assert.equal(accounts.get(specOf(pool).forProvider.serviceAccountRef.name), specOf(pool).classRef.name)
    }
    assert.equal(new Set(pools.map((pool) => specOf(pool).forProvider.clusterRef.name)).size, 1)
    const secret = await eventually('the Secret is there', () => world.find(secretType, 'coolcluster', 'default'))
    assert.deepEqual(Object.keys(secret['data'] as object).sort(), ['a-key', 'b-key', 'endpoint', 'kubeconfig'])
    await remove(claim)
    await gone(claim)
    assert.equal((await world.list(gcpCloud.nodePool.kind.type)).length, 0)
  })

  test('CLM2 CLM3 CLM5 XN3 XN4 XN5 dynamic provisioning without an aggregate', async () => {
    await create(
      groupClass(
        'plain',
        {},
        {
          annotations: { 'crossplane.io/external-name-prefix': 'pre-', 'crossplane.io/external-name-suffix': '-post' },
        },
      ),
    )
    const classRef = { apiVersion: 'azure.crossplane.io/v1alpha3', kind: 'ResourceGroupClass', name: 'plain' }
    const claim = claimOf('plain', { classRef }, { annotations: { 'crossplane.io/external-name': 'mine' } })
    await create(claim)
    const bound = await ready(claim)
    const { resourceRef } = specOf(bound)
    assert.match(resourceRef.name, /^default-plain-\w{5}$/)
    assert.equal(bound.metadata.annotations?.['crossplane.io/external-name'], 'pre-mine-post')
    const managed = (await world.find(azureCloud.resourceGroup.kind.type, resourceRef.name))!
    assert.equal(managed.metadata.uid, resourceRef.uid)
    assert.equal(managed.metadata.annotations?.['crossplane.io/external-name'], 'pre-mine-post')
    assert.equal(managed.metadata.annotations?.['resourceclaim.crossplane.io/provisioning'], undefined)
    assert.deepEqual([statusOf(bound).bindingPhase, statusOf(managed).bindingPhase], ['Bound', 'Bound'])
    assert.equal(specOf(managed).claimRef.uid, bound.metadata.uid)
    const moved = { ...bound, spec: { ...specOf(bound), resourceRef: { ...resourceRef, name: 'other' } } }
    await assert.rejects(
      world.client.update(bucket.type, moved),
      (error: unknown) => error instanceof StatusError && /cannot change once the claim is bound/.test(error.message),
    )
    await remove(claim)
    await gone(claim)
    assert.equal(await read(managed), undefined)
    assert.equal(
      azureCloud.resourceGroup.cloud.resources.some(({ name }) => name === 'pre-mine-post'),
      false,
    )
  })

  test('CLM2 by selector, and the default only when nothing else is said', async () => {
    await create(groupClass('chosen', {}, { labels: { size: 'large' } }))
    await create(groupClass('default', {}, { annotations: { 'resourceclass.crossplane.io/is-default-class': 'true' } }))
    const chosen = claimOf('by-selector', { classSelector: { matchLabels: { size: 'large' } } })
    const defaulted = claimOf('by-default', {})
    const waiting = claimOf('by-none', { classSelector: { matchLabels: { size: 'huge' } } })
    for (const claim of [chosen, defaulted, waiting]) await create(claim)
    assert.equal(specOf(await ready(chosen)).classRef.name, 'chosen')
    assert.equal(specOf(await ready(defaulted)).classRef.name, 'default')
    await waits(waiting, /waiting for a class with labels size=huge/)
    await create(groupClass('late', {}, { labels: { size: 'huge' } }))
    assert.equal(specOf(await ready(waiting)).classRef.name, 'late')
    for (const claim of [chosen, defaulted, waiting]) await remove(claim)
    for (const claim of [chosen, defaulted, waiting]) await gone(claim)
    await remove(groupClass('default'))
  })

  test('CLM2 CLM3 CLM5 static: two claims for one resource, one gets it; retained, nobody else gets it after', async () => {
    const group: KubeObject = {
      apiVersion: 'azure.crossplane.io/v1alpha3',
      kind: 'ResourceGroup',
      metadata: { name: 'there' },
      spec: { forProvider: { location: 'here' } },
    }
    const resourceRef = { apiVersion: group.apiVersion, kind: group.kind, name: 'there' }
    const [a, b] = [claimOf('static-a', { resourceRef }), claimOf('static-b', { resourceRef })]
    await create(a)
    await waits(a, /waiting for ResourceGroup there, which does not exist/)
    await create(b)
    await create(group)
    const winner = await eventually('one is bound', async () => {
      const both = await Promise.all([a, b].map(async (claim) => (await read(claim))!))
      return both.find((claim) => statusOf(claim).bindingPhase === 'Bound')
    })
    const loser = winner.metadata.name === 'static-a' ? b : a
    await waits(loser, /which is bound to another claim/)
    await remove(winner)
    await gone(winner)
    const kept = (await read(group))!
    assert.equal(statusOf(kept).bindingPhase, 'Released')
    assert.equal(specOf(kept).claimRef.uid, winner.metadata.uid)
    await waits(loser, /which is bound to another claim/)
    await remove(loser)
    await gone(loser)
    assert.ok(await read(group))
  })

  test('CLM4 a Secret that somebody else owns is never written over', async () => {
    await create(groupClass('secretive', { writeConnectionSecretsToNamespace: 'crossplane-system' }))
    const taken = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'taken', namespace: 'default' },
      data: { mine: 'bWluZQ==' },
    }
    await world.client.create(secretType, taken)
    const [sqlClaim] = await example('claim.yaml')
    const claim = {
      ...sqlClaim!,
      metadata: { namespace: 'default', name: 'greedy' },
      spec: { writeConnectionSecretToRef: { name: 'taken' } },
    }
    await create(claim)
    await waits(claim, /the Secret default\/taken exists and belongs to somebody else/)
    assert.deepEqual((await world.find(secretType, 'taken', 'default'))!['data'], { mine: 'bWluZQ==' })
    await remove(claim)
    await gone(claim)
    assert.ok(await world.find(secretType, 'taken', 'default'))
  })

  test('CLM6 AGG4 nonsense is never acted on', async () => {
    const before = (await world.list(aggregateType)).length
    const odd = claimOf('odd', {
      classRef: {
        apiVersion: 'database.azure.crossplane.io/v1beta1',
        kind: 'SQLServerClass',
        name: 'private-mysql-server',
      },
    })
    const aggregated = claimOf('aggregated', {
      classRef: {
        apiVersion: 'aggregation.crossplane.io/v1alpha1',
        kind: 'AggregateResourceClass',
        name: 'cool-gke-cluster',
      },
    })
    const server = claimOf('server', {
      resourceRef: { apiVersion: 'database.azure.crossplane.io/v1beta1', kind: 'SQLServer', name: 'any' },
    })
    const undefaulted: KubeObject = {
      apiVersion: 'compute.crossplane.io/v1beta1',
      kind: 'KubernetesCluster',
      metadata: { namespace: 'default', name: 'undefaulted' },
      spec: {},
    }
    for (const claim of [odd, aggregated, server, undefaulted]) await create(claim)
    await waits(aggregated, /AggregateResourceClass cool-gke-cluster has nothing to offer to a Bucket/)
    // The default aggregates contain ResourceGroups too, which support clusters but do not satisfy the claim.
    await waits(
      undefaulted,
      /waiting for a default class; AggregateResourceClass private-mysql-server has nothing to offer/,
    )
    for (const claim of [odd, server]) assert.equal((await read(claim))!['status'], undefined)
    assert.equal((await world.list(aggregateType)).length, before)
    for (const claim of [odd, aggregated, server, undefaulted]) {
      await remove(claim)
      await gone(claim)
    }
  })

  test('AGG5 AGG8 AGG10 a static aggregate binds its parts once it is claimed, each part follows its own policy', async () => {
    const labels = { set: 'static' }
    const server: KubeObject = {
      apiVersion: 'database.azure.crossplane.io/v1beta1',
      kind: 'SQLServer',
      metadata: { name: 'static-server', labels },
      spec: {
        reclaimPolicy: 'Delete',
        forProvider: {
          administratorLogin: 'me',
          resourceGroupName: 'x',
          location: 'y',
          sku: { tier: 't', capacity: 1, family: 'f' },
          storageProfile: { storageMB: 1 },
        },
      },
    }
    const group: KubeObject = {
      apiVersion: 'azure.crossplane.io/v1alpha3',
      kind: 'ResourceGroup',
      metadata: { name: 'static-group', labels },
      spec: { reclaimPolicy: 'Retain', forProvider: { location: 'here' } },
    }
    const aggregate = (name: string): KubeObject => ({
      apiVersion: 'aggregation.crossplane.io/v1alpha1',
      kind: 'AggregateResource',
      metadata: { name },
      spec: { aggregationRule: { resourceSelector: { matchLabels: labels } }, reclaimPolicy: 'Delete' },
    })
    for (const object of [server, group, aggregate('first'), aggregate('second')]) await create(object)
    await ready(server)
    assert.equal(specOf((await read(server))!).aggregateRef, undefined)
    const claimFor = (name: string): KubeObject => ({
      apiVersion: 'database.crossplane.io/v1alpha1',
      kind: 'MySQLInstance',
      metadata: { namespace: 'default', name: `of-${name}` },
      spec: { resourceRef: { apiVersion: 'aggregation.crossplane.io/v1alpha1', kind: 'AggregateResource', name } },
    })
    await create(claimFor('first'))
    await ready(claimFor('first'))
    assert.equal(specOf((await read(server))!).aggregateRef.name, 'first')
    assert.equal(statusOf((await read(aggregate('first')))!).aggregatedResources.length, 2)
    await create(claimFor('second'))
    await waits(claimFor('second'), /AggregateResource second, which has nothing to offer to a MySQLInstance/)
    await remove(claimFor('first'))
    await gone(claimFor('first'))
    assert.equal(await read(server), undefined)
    assert.equal(await read(aggregate('first')), undefined)
    assert.equal(statusOf((await read(group))!).bindingPhase, 'Released')
    await remove(claimFor('second'))
    await gone(claimFor('second'))
  })

  test('a bound resource that was deleted is not replaced in silence', async () => {
    const classRef = { apiVersion: 'azure.crossplane.io/v1alpha3', kind: 'ResourceGroupClass', name: 'plain' }
    const claim = claimOf('loses', { classRef })
    await create(claim)
    const bound = await ready(claim)
    await world.client.delete(azureCloud.resourceGroup.kind.type, { name: specOf(bound).resourceRef.name })
    await waits(claim, /ResourceGroup default-loses-\w+ was deleted/)
    await remove(claim)
    await gone(claim)
  })

  test('a class that does not suit the claim says why, and nothing is made', async () => {
    const classRef = { apiVersion: 'azure.crossplane.io/v1alpha3', kind: 'ResourceGroupClass', name: 'plain' }
    const claim = claimOf('unsuited', { classRef, predefinedACL: 'PublicReadWrite' })
    await create(claim)
    await waits(claim, /a public bucket is not offered here/)
    await remove(claim)
    await gone(claim)
    assert.ok(crew.events.some((event) => /unsuited Warning CannotReconcileClaim/.test(event)))
  })

  test('deleting a namespace with claims ends', async () => {
    const classRef = { apiVersion: 'azure.crossplane.io/v1alpha3', kind: 'ResourceGroupClass', name: 'plain' }
    const claim = claimOf('leaves', { classRef }, { namespace: 'team-b' })
    await create(claim)
    await ready(claim)
    await world.client.delete(namespaceType, { name: 'team-b' })
    await gone(claim)
  })

  test('several versions of a claim kind are one claim', async () => {
    const type = { ...kubernetesCluster.type, version: 'v1alpha1' }
    const claim = {
      apiVersion: 'compute.crossplane.io/v1alpha1',
      kind: 'KubernetesCluster',
      metadata: { namespace: 'default', name: 'old' },
      spec: {},
    }
    await world.client.create(type, claim)
    assert.equal(
      (await world.client.get(kubernetesCluster.type, { namespace: 'default', name: 'old' })).apiVersion,
      'compute.crossplane.io/v1beta1',
    )
    await remove(claim)
    await gone(claim)
    assert.equal(mysqlInstance.type.version, 'v1alpha1')
  })
}

describe('claims on the embedded server', () => claims((options) => World.embedded(options)))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('claims on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  claims((options) => World.remote(typeof real === 'string' ? '' : real.kubeconfig, options))
})
