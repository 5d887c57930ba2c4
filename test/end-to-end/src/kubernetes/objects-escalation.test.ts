import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type Client, type KubeObject, type ResourceType, StatusError } from '@crosstie/kube'
import { object, providerConfig } from '@crosstie/provider-kubernetes'
import { claimKinds, operatorRoles } from '@crosstie/resources'
import { eventually } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { clusterRoleBindings, ObjectWorld, secrets } from './objects-world.js'

const rbac = 'rbac.authorization.k8s.io'
const reviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
}

/** Manifests that would let a user take over a cluster if the controllers applied them with their own permissions. */
const takeovers: Readonly<Record<string, object>> = {
  binding: {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'infra-is-root' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'infra' }],
  },
  role: {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'all', labels: { 'rbac.crosstie.io/aggregate-to-infrastructure-operator': 'true' } },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
  'widened-objects': {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'more', labels: { 'rbac.crosstie.io/aggregate-to-objects': 'true' } },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
  'account-token': {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'token',
      namespace: 'kube-system',
      annotations: { 'kubernetes.io/service-account.name': 'default' },
    },
    type: 'kubernetes.io/service-account-token',
  },
  account: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'mine', namespace: 'kube-system' } },
  webhook: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'sees-everything' },
  },
  definition: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.org' },
  },
  'provider-config': {
    apiVersion: apiVersionOf(providerConfig.type),
    kind: 'ProviderConfig',
    metadata: { name: 'stolen' },
    spec: { credentials: { source: 'Filesystem', fs: { path: '/etc/kubernetes/admin.conf' } } },
  },
  secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'treasure', namespace: 'vault' } },
}

function escalation(open: () => Promise<ObjectWorld>): void {
  let world: ObjectWorld
  let infra: Client
  before(async () => {
    world = await open()
    infra = world.client.as('infra')
    for (const role of operatorRoles(claimKinds, [object])) await world.applyRole(role)
    await world.applyRole({
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'test-infra' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'crosstie:infrastructure-operator' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'infra' }],
    })
    await eventually('the role is aggregated', async () => await infra.list(object.type).catch(() => undefined))
    await world.apply({ ...secrets, kind: 'Namespace', resource: 'namespaces', namespaced: false }, 'vault', {})
    await world.apply(secrets, 'treasure', { stringData: { word: 'open-sesame' } }, 'vault')
  })
  after(async () => await world?.[Symbol.asyncDispose]())

  const declare = (name: string, spec: object) =>
    infra.create(object.type, {
      apiVersion: apiVersionOf(object.type),
      kind: 'Object',
      metadata: { name },
      spec,
    } as KubeObject)

  const mayDoAnything = async (): Promise<boolean> => {
    const attributes = { group: '*', resource: '*', verb: '*' }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: reviews.kind, metadata: {} }
    const answer = await infra.create(reviews, { ...review, spec: { resourceAttributes: attributes } } as KubeObject)
    return (answer['status'] as { allowed: boolean }).allowed
  }

  for (const policies of [['*'], ['Observe']]) {
    test(`CLM7 an infrastructure operator takes over nothing by Objects under ${policies}`, async () => {
      const named = (name: string) => `${name}-${policies[0] === '*' ? 'managed' : 'observed'}`
      for (const [name, manifest] of Object.entries(takeovers)) {
        await declare(named(name), { managementPolicies: policies, forProvider: { manifest } })
      }
      for (const name of Object.keys(takeovers)) {
        const words = /is forbidden: User "crosstie:objects" cannot .*an administrator grants/
        const said = await world.says(named(name), 'Synced', 'False', words)
        assert.doesNotMatch(JSON.stringify(said), /open-sesame|b3Blbi1zZXNhbWU/)
      }
      assert.equal(await world.find(clusterRoleBindings, 'infra-is-root'), undefined)
      assert.equal(await mayDoAnything(), false)
    })
  }

  test('CLM7 an Object hands on no Secret that was not granted, by references or connection details', async () => {
    const treasure = { apiVersion: 'v1', kind: 'Secret', name: 'treasure', namespace: 'vault' }
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'loot', namespace: 'default' } }
    await declare('by-reference', {
      forProvider: {
        manifest,
        references: [{ patchesFrom: { ...treasure, fieldPath: 'data.word' }, toFieldPath: 'data.word' }],
      },
    })
    await declare('by-details', {
      forProvider: {
        manifest,
        connectionDetails: [{ ...treasure, fieldPath: 'data.word', toConnectionSecretKey: 'word' }],
      },
      writeConnectionSecretToRef: { name: 'loot', namespace: 'default' },
    })
    for (const name of ['by-reference', 'by-details']) await world.says(name, 'Synced', 'False', /is forbidden/)
    assert.equal(await world.find(secrets, 'loot', 'default'), undefined)
  })

  test('CLM7 an infrastructure operator reads ProviderConfigs and does not write them', async () => {
    const forbidden = (error: unknown) => error instanceof StatusError && error.code === 403
    await infra.list(providerConfig.type)
    const config = {
      apiVersion: apiVersionOf(providerConfig.type),
      kind: 'ProviderConfig',
      metadata: { name: 'mine' },
      spec: { credentials: { source: 'Filesystem', fs: { path: '/etc/kubernetes/admin.conf' } } },
    }
    await assert.rejects(infra.create(providerConfig.type, config), forbidden)
    const patch = { type: 'merge', patch: { spec: config.spec } } as const
    await assert.rejects(infra.patch(providerConfig.type, { name: 'default' }, patch), forbidden)
  })

  test('CLM7 a managed resource writes no connection Secret into the namespaces of the cluster itself', async () => {
    const forProvider = {
      manifest: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } },
      connectionDetails: [{ fieldPath: 'metadata.name', toConnectionSecretKey: 'word' }],
    }
    await world.grantAll()
    const writeConnectionSecretToRef = { name: 'planted', namespace: 'kube-system' }
    await declare('planting', { managementPolicies: ['Observe'], forProvider, writeConnectionSecretToRef })
    await world.says('planting', 'Synced', 'False', /Secrets in kube-system belong to the cluster itself/)
    assert.equal(await world.find(secrets, 'planted', 'kube-system'), undefined)
  })
}

describe('escalation by Objects on the embedded server', () => escalation(() => ObjectWorld.embedded(undefined, false)))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('escalation by Objects on the real kube-apiserver', { skip }, () => {
  if (typeof real === 'string') return
  escalation(() => ObjectWorld.remote(real.kubeconfig, undefined, false))
  after(async () => await real[Symbol.asyncDispose]())
})
