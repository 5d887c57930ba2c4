import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type Client, type KubeObject, type ResourceType, StatusError } from '@crosstie/kube'
import { claimKinds, operatorRoles, reservationType } from '@crosstie/resources'
import { bucket, defineBinding } from '@crosstie/resources/provider'
import { thingOf } from '@crosstie/resources/testing'
import { eventually, World } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { WatchedCloud } from './watched-cloud.js'

/**
 * The shipped roles and the external calls they may cause (CLM7): every role with every path to a resource of
 * another owner.
 */

const NAME = 'crossplane.io/external-name'
const cloud = new WatchedCloud({ naming: 'user-chosen', tags: true, tokens: false, list: true })
const kind = thingOf(cloud, { kind: 'Vault' })
const { type, classType } = kind

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const roleType: ResourceType = { ...rbac, kind: 'ClusterRole', resource: 'clusterroles', namespaced: false }
const inNamespace: ResourceType = { ...rbac, kind: 'RoleBinding', resource: 'rolebindings', namespaced: true }
const everywhere: ResourceType = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  namespaced: false,
}

const acts = ['claim by name', 'claim by reference', 'adopt', 'change', 'delete', 'write a class', 'reserve'] as const
type Act = (typeof acts)[number]

/**
 * The permitted actions of each role. Only infrastructure operators cause calls that change resources of other
 * owners.
 */
const roles: Readonly<Record<string, { readonly namespaced: boolean; readonly may: readonly Act[] }>> = {
  'crosstie:application-operator': { namespaced: true, may: ['claim by name', 'claim by reference'] },
  admin: { namespaced: true, may: ['claim by name', 'claim by reference'] },
  edit: { namespaced: true, may: ['claim by name', 'claim by reference'] },
  view: { namespaced: true, may: [] },
  'crosstie:infrastructure-operator': { namespaced: false, may: ['adopt', 'change', 'delete', 'write a class'] },
  'crosstie:provider-administrator': { namespaced: false, may: [] },
  none: { namespaced: true, may: [] },
}
const changing: readonly Act[] = ['adopt', 'change', 'delete']

describe('which role may cause which external call', { timeout: 600_000 }, () => {
  let world: World

  before(async () => {
    world = await World.embedded({
      bindings: [defineBinding({ claim: bucket, managed: kind })],
      managed: [kind],
      pollSeconds: 3600,
    })
    world.start()
    for (const role of operatorRoles(claimKinds, [kind])) await world.client.create(roleType, role)
    for (const [role, { namespaced }] of Object.entries(roles)) if (role !== 'none') await bind(role, namespaced)
    await world.client.create(classType, classOf('plain', {}))
    await eventually('the roles are aggregated', async () => {
      const may = (role: string, list: (client: Client) => Promise<unknown>) =>
        list(as(role)).then(Boolean, () => false)
      const claims = (client: Client) => client.list(bucket.type, { namespace: 'team-a' })
      const users = ['crosstie:application-operator', 'admin', 'edit', 'view']
      const seen = await Promise.all([
        ...users.map((role) => may(role, claims)),
        may('crosstie:infrastructure-operator', (client) => client.list(type)),
      ])
      return seen.every(Boolean)
    })
  })
  after(() => world[Symbol.asyncDispose]())

  const as = (role: string): Client => world.client.as(`has ${role}`)

  async function bind(role: string, namespaced: boolean): Promise<void> {
    const binding = namespaced ? inNamespace : everywhere
    await world.client.create(binding, {
      apiVersion: apiVersionOf(binding),
      kind: binding.kind,
      metadata: { name: `test.${role}`, ...(namespaced ? { namespace: 'team-a' } : {}) },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac.group, kind: 'User', name: `has ${role}` }],
    })
  }

  let victims = 0

  for (const [role, { may }] of Object.entries(roles))
    for (const act of acts)
      test(`CLM7 ${role}: ${act} ${may.includes(act) ? 'is allowed' : 'is forbidden'}`, async () => {
        const id = `victim-${++victims}`
        await cloud.create({ name: id, region: 'r1', values: { flavor: 'sour', size: 9 }, tags: {}, token: id })
        if (!['claim by name', 'adopt'].includes(act)) await manage(id)
        const before = structuredClone(cloud.find(id))
        cloud.writes.length = 0
        const done = await perform[act](as(role), id).then(
          () => true,
          (error: unknown) => {
            assert.ok(error instanceof StatusError && error.code === 403, String(error))
            return false
          },
        )
        assert.equal(done, may.includes(act))
        if (done && changing.includes(act)) {
          await eventually('the resource changes', async () => cloud.writesTo(id).length > 0)
          return
        }
        assert.deepEqual(cloud.writesTo(id), [])
        assert.deepEqual(cloud.find(id), before)
      })

  /** Creates an object of the operator that manages the resource. */
  async function manage(name: string): Promise<void> {
    await world.client.create(type, managedOf(name, name))
    await eventually('the operator manages it', async () => {
      const object = await world.find(type, name)
      return object && condition(object, 'Ready')?.status === 'True'
    })
  }

  const perform: Readonly<Record<Act, (client: Client, id: string) => Promise<void>>> = {
    'claim by name': (client, id) => claimAndDelete(client, id, { annotations: { [NAME]: id } }, { classRef }),
    'claim by reference': (client, id) => claimAndDelete(client, id, {}, { resourceRef: referTo(type, id) }),
    adopt: async (client, id) => void (await client.create(type, managedOf(`adopts-${id}`, id))),
    change: async (client, id) => {
      const patch = { spec: { forProvider: { size: 1 } } }
      await client.patch(type, { name: id }, { type: 'merge', patch })
    },
    delete: async (client, id) => void (await client.delete(type, { name: id })),
    'write a class': async (client, id) =>
      void (await client.create(classType, classOf(id, { adoptionPolicy: 'AllowAndDelete' }))),
    reserve: async (client, id) =>
      void (await client.create(reservationType, {
        apiVersion: apiVersionOf(reservationType),
        kind: reservationType.kind,
        metadata: { name: id },
      })),
  }

  /** Creates a claim, waits for its outcome, and deletes it. */
  async function claimAndDelete(client: Client, name: string, metadata: object, spec: object): Promise<void> {
    const key = { name, namespace: 'team-a' }
    const { apiVersion, kind: claimKind } = referTo(bucket.type, name)
    await client.create(bucket.type, { apiVersion, kind: claimKind, metadata: { ...key, ...metadata }, spec })
    await eventually('the claim has an outcome', async () => {
      const ready = condition(await client.get(bucket.type, key), 'Ready')
      return ready?.status === 'True' || ready?.reason === 'ExternalNameTaken'
    })
    await client.delete(bucket.type, key)
    await eventually('the claim is gone', async () => !(await world.find(bucket.type, name, 'team-a')))
  }
})

const referTo = (to: ResourceType, name: string) => ({ apiVersion: apiVersionOf(to), kind: to.kind, name })
const classRef = referTo(classType, 'plain')
const forProvider = { region: 'r1', flavor: 'sour', size: 9 }

function classOf(name: string, template: object): KubeObject {
  const { apiVersion, kind: named } = referTo(classType, name)
  return { apiVersion, kind: named, metadata: { name }, specTemplate: { forProvider, ...template } }
}

function managedOf(name: string, externalName: string): KubeObject {
  const { apiVersion, kind: named } = referTo(type, name)
  return { apiVersion, kind: named, metadata: { name, annotations: { [NAME]: externalName } }, spec: { forProvider } }
}
