import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startServer, writeKubeconfig } from '@crosstie/apiserver'
import { type Access, HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { apiVersionOf, type Client, type KubeObject, type ResourceType, StatusError } from '@crosstie/kube'
import {
  aggregateClassType,
  aggregateType,
  claimKinds,
  deepestCause,
  operatorRoles,
  traceClaim,
} from '@crosstie/resources'
import { bucket, defineBinding } from '@crosstie/resources/provider'
import { eventually, World } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { azure, specOf } from './kinds.js'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false }
const roleType: ResourceType = { ...rbac, kind: 'ClusterRole', resource: 'clusterroles' }
const clusterBindingType: ResourceType = { ...rbac, kind: 'ClusterRoleBinding', resource: 'clusterrolebindings' }
const bindingType: ResourceType = { ...rbac, kind: 'RoleBinding', resource: 'rolebindings', namespaced: true }
const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

/** A Kubernetes API with users. */
interface Realm extends AsyncDisposable {
  readonly kubeconfig: string
  as(user: string): HttpClient
}

const people = ['app-a', 'app-b', 'editor', 'viewer', 'infra', 'nobody']

function operators(open: () => Promise<Realm>): void {
  const { resourceGroup, sqlServer, bindings, kinds } = azure()
  const managed = kinds.map(({ kind }) => kind)
  let realm: Realm
  let world: World
  const users = new Map<string, HttpClient>()
  const as = (user: string): Client => users.get(user)!

  before(async () => {
    realm = await open()
    const direct = defineBinding({ claim: bucket, managed: resourceGroup.kind })
    world = await World.remote(realm.kubeconfig, { bindings: [...bindings, direct], managed })
    world.start()
    for (const user of people) users.set(user, realm.as(user))
    for (const role of operatorRoles(claimKinds, managed)) await world.client.create(roleType, role)
    await bind('app-a', 'crosstie:application-operator', 'team-a')
    await bind('app-b', 'crosstie:application-operator', 'team-b')
    await bind('editor', 'edit', 'team-a')
    await bind('viewer', 'view', 'team-a')
    await bind('infra', 'crosstie:infrastructure-operator')
    await eventually('the roles are aggregated', async () => {
      const { items } = await as('app-a')
        .list(bucket.type, { namespace: 'team-a' })
        .catch(() => ({ items: undefined }))
      const edits = await as('viewer')
        .list(bucket.type, { namespace: 'team-a' })
        .catch(() => ({ items: undefined }))
      const runs = await as('infra')
        .list(aggregateType)
        .catch(() => ({ items: undefined }))
      return items !== undefined && edits.items !== undefined && runs.items !== undefined
    })
  })
  after(async () => {
    for (const client of users.values()) client.close()
    await world[Symbol.asyncDispose]()
    await realm[Symbol.asyncDispose]()
  })

  async function bind(user: string, role: string, namespace?: string): Promise<void> {
    const type = namespace ? bindingType : clusterBindingType
    await world.client.create(type, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: type.kind,
      metadata: { name: `test-${user}`, ...(namespace ? { namespace } : {}) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
  }

  const claim = (name: string, namespace: string, spec: object, more: object = {}): KubeObject => ({
    apiVersion: apiVersionOf(bucket.type),
    kind: 'Bucket',
    metadata: { name, namespace, ...more },
    spec,
  })
  const classOf = (name: string): KubeObject => ({
    apiVersion: apiVersionOf(resourceGroup.kind.classType),
    kind: 'ResourceGroupClass',
    metadata: { name },
    specTemplate: { forProvider: { location: 'here' }, writeConnectionSecretsToNamespace: 'crossplane-system' },
  })
  const group = (name: string): KubeObject => ({
    apiVersion: apiVersionOf(resourceGroup.kind.type),
    kind: 'ResourceGroup',
    metadata: { name },
    spec: { forProvider: { location: 'here' } },
  })
  const classRef = { apiVersion: 'azure.crossplane.io/v1alpha3', kind: 'ResourceGroupClass', name: 'plain' }
  const forbidden = async (what: string, call: Promise<unknown>) =>
    assert.rejects(call, (error: unknown) => error instanceof StatusError && error.code === 403, what)
  const ready = (client: Client, object: KubeObject) =>
    eventually(`${object.metadata.name} is ready`, async () => {
      const found = await client.get(bucket.type, {
        name: object.metadata.name!,
        namespace: object.metadata.namespace!,
      })
      return condition(found, 'Ready')?.status === 'True' && found
    })
  const says = (client: Client, object: KubeObject, words: RegExp) =>
    eventually(`${object.metadata.name} says ${words}`, async () => {
      const found = await client.get(bucket.type, {
        name: object.metadata.name!,
        namespace: object.metadata.namespace!,
      })
      return words.test(`${condition(found, 'Ready')?.message} ${condition(found, 'Synced')?.message}`) && found
    })

  test('CLM7 an infrastructure operator manages classes, resources and aggregates, reads claims, and no Secrets', async () => {
    const infra = as('infra')
    await infra.create(resourceGroup.kind.classType, classOf('plain'))
    await infra.create(resourceGroup.kind.type, group('made-by-infra'))
    await infra.list(aggregateClassType)
    await infra.list(sqlServer.kind.type)
    await infra.list(bucket.type)
    await infra.delete(resourceGroup.kind.type, { name: 'made-by-infra' })
    await forbidden('claims', infra.create(bucket.type, claim('x', 'team-a', {})))
    await forbidden('Secrets', infra.list(secretType, { namespace: 'team-a' }))
  })

  test('CLM7 an application operator claims in their namespace and reads Secrets there, and not one thing more', async () => {
    const app = as('app-a')
    const mine = claim('mine', 'team-a', { classRef, writeConnectionSecretToRef: { name: 'mine' } })
    await app.create(bucket.type, mine)
    const bound = await ready(app, mine)
    await app.list(bucket.type, { namespace: 'team-a' })
    await app.list(secretType, { namespace: 'team-a' })
    const name = specOf(bound).resourceRef.name as string
    const other = { namespace: 'team-b' }
    await forbidden('to write a status', app.update(bucket.type, bound, { subresource: 'status' }))
    await forbidden('to read a managed resource', app.get(resourceGroup.kind.type, { name }))
    await forbidden('to change one', app.update(resourceGroup.kind.type, group(name)))
    await forbidden('to make one', app.create(resourceGroup.kind.type, group('own')))
    await forbidden('to delete one', app.delete(resourceGroup.kind.type, { name }))
    await forbidden('to read classes', app.list(resourceGroup.kind.classType))
    await forbidden('to make a class', app.create(resourceGroup.kind.classType, classOf('own')))
    await forbidden('to read aggregates', app.list(aggregateType))
    await forbidden(
      'to make an aggregate class',
      app.create(aggregateClassType, {
        ...group('x'),
        apiVersion: apiVersionOf(aggregateClassType),
        kind: 'AggregateResourceClass',
      }),
    )
    await forbidden('to read claims elsewhere', app.list(bucket.type, other))
    await forbidden('to read claims everywhere', app.list(bucket.type))
    await forbidden('to claim elsewhere', app.create(bucket.type, claim('x', 'team-b', { classRef })))
    await forbidden('to read Secrets elsewhere', app.list(secretType, other))
    await forbidden('to read Secrets of the control plane', app.list(secretType, { namespace: 'crossplane-system' }))
    await forbidden(
      'to write Secrets',
      app.create(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'team-a' } }),
    )
    await app.delete(bucket.type, { name: 'mine', namespace: 'team-a' })
  })

  test("CLM7 another namespace's resource is not to be had by claiming it: by name, by uid, or by its external name", async () => {
    const [a, b] = [as('app-a'), as('app-b')]
    const theirs = claim(
      'theirs',
      'team-b',
      { classRef },
      { annotations: { 'crossplane.io/external-name': 'treasure' } },
    )
    await b.create(bucket.type, theirs)
    const { resourceRef } = specOf(await ready(b, theirs))
    const { uid: _, ...byName } = resourceRef
    const thief = (name: string, spec: object, more: object = {}) =>
      claim(name, 'team-a', { writeConnectionSecretToRef: { name }, ...spec }, more)
    const stolen = [thief('by-name', { resourceRef: byName }), thief('by-uid', { resourceRef })]
    for (const each of stolen) {
      await a.create(bucket.type, each)
      await says(a, each, /which is bound to another claim/)
    }
    const named = thief(
      'by-external-name',
      { classRef },
      { annotations: { 'crossplane.io/external-name': 'treasure' } },
    )
    await a.create(bucket.type, named)
    await says(a, named, /external name "treasure" is taken by another ResourceGroup\. Delete this claim/)
    for (const each of [...stolen, named]) {
      await assert.rejects(a.get(secretType, { name: each.metadata.name!, namespace: 'team-a' }), /not found/)
      await a.delete(bucket.type, { name: each.metadata.name!, namespace: 'team-a' })
      await eventually(
        `${each.metadata.name} is gone`,
        async () => !(await world.find(bucket.type, each.metadata.name!, 'team-a')),
      )
    }
    assert.ok(
      resourceGroup.cloud.resources.some(({ name }) => name === 'treasure'),
      'and nothing of it was deleted',
    )
    await ready(b, theirs)
  })

  test('CLM7 claims belong to edit and view as people know them', async () => {
    await as('editor').create(bucket.type, claim('edited', 'team-a', { classRef }))
    await as('viewer').list(bucket.type, { namespace: 'team-a' })
    await forbidden('view', as('viewer').create(bucket.type, claim('viewed', 'team-a', { classRef })))
    await forbidden('edit elsewhere', as('editor').list(bucket.type, { namespace: 'team-b' }))
    await forbidden('nobody', as('nobody').list(bucket.type, { namespace: 'team-a' }))
    await as('editor').delete(bucket.type, { name: 'edited', namespace: 'team-a' })
  })

  test('trace: from a claim to the deepest cause', async () => {
    const server = claim('traced', 'team-a', { classRef: { ...classRef, name: 'missing' } })
    await world.client.create(bucket.type, server)
    const types = [bucket.type, resourceGroup.kind.type, aggregateType]
    const options = { client: world.client, types }
    const waiting = await says(world.client, server, /waiting for ResourceGroupClass missing/)
    assert.match(
      deepestCause(await traceClaim(options, waiting))!.why,
      /ResourceGroupClass missing, which does not exist/,
    )
    await world.client.create(resourceGroup.kind.classType, classOf('missing'))
    const bound = await ready(world.client, server)
    const tree = await traceClaim(options, bound)
    assert.equal(deepestCause(tree), undefined)
    assert.deepEqual(
      tree.children.map(({ reference: { kind }, phase, ready }) => [kind, phase, ready]),
      [['ResourceGroup', 'Bound', 'True']],
    )
    const seenByApp = await traceClaim({ client: as('app-a'), types }, bound)
    assert.deepEqual([seenByApp.ready, deepestCause(seenByApp)], ['True', undefined])
    assert.deepEqual(
      seenByApp.children.map(({ ready, why }) => [ready, why]),
      [['Unknown', 'you have no right to look at it']],
      'an application operator sees the claim, and that there is more',
    )
  })
}

async function embedded(): Promise<Realm> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-operators-'))
  const tokenFile = join(folder, 'tokens.csv')
  await writeFile(tokenFile, people.map((user) => `token-of-${user},${user},uid-${user}\n`).join(''))
  const server = await startServer({ dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0, tokenFile })
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, server.adminAccess())
  const admin = await kubeconfigAccess({ file: kubeconfig })
  const { ca } = await admin.tls()
  return {
    kubeconfig,
    as: (user) =>
      new HttpClient({
        server: admin.server,
        tls: async () => (ca ? { ca } : {}),
        headers: async () => ({ authorization: `Bearer token-of-${user}` }),
        renew: () => {},
      }),
    async [Symbol.asyncDispose]() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe('operators on the embedded server', () => operators(embedded))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('operators on the real kube-apiserver', { skip }, () => {
  operators(async () => {
    if (typeof real === 'string') throw new Error(real)
    const admin = await kubeconfigAccess({ file: real.kubeconfig })
    const impersonating = (user: string): Access => ({
      ...admin,
      server: admin.server,
      tls: () => admin.tls(),
      renew: () => admin.renew(),
      headers: async () => ({ ...(await admin.headers()), 'impersonate-user': user }),
    })
    return {
      kubeconfig: real.kubeconfig,
      as: (user) => new HttpClient(impersonating(user)),
      [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
    }
  })
})
