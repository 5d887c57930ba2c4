import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '@crosstie/kube'
import { aggregatedRules, runAggregation } from './aggregation.js'
import { bootstrap, reconciled } from './bootstrap.js'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './bootstrap-roles.js'
import { signingKey } from './jwt.js'
import { CLUSTER_ROLES, CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from './kinds.js'
import { runServiceAccounts } from './serviceaccounts.js'
import { FakeClient, FakeObjects } from './testing.js'
import { ServiceAccountTokens } from './tokens.js'

const real = readFileSync(new URL('../../src/access/testdata/bootstrap-1.34.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as KubeObject)
const idOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

test('default roles and bindings are those of kube-apiserver 1.34', () => {
  const known = new Map(real.map((object) => [idOf(object), object]))
  for (const object of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) {
    const want = known.get(idOf(object))
    assert.ok(want, idOf(object))
    assert.deepEqual(object.metadata.labels, want.metadata.labels, idOf(object))
    assert.deepEqual(object.metadata.annotations, want.metadata.annotations, idOf(object))
    for (const field of ['rules', 'aggregationRule', 'roleRef', 'subjects']) {
      const empty = field === 'rules' && object['aggregationRule'] ? [] : undefined
      assert.deepEqual(object[field] ?? null, want[field] ?? empty ?? null, `${field} of ${idOf(object)}`)
    }
  }
})

test('roles that are left out refer to kinds that cannot exist here', () => {
  const ours = new Set(clusterRoles.map(idOf))
  const absent = real.filter((object) => object.kind === 'ClusterRole' && !ours.has(idOf(object)))
  const names = absent.map(({ metadata }) => metadata.name!.replace(/^system:/, '')).sort()
  const about =
    /^(certificates.k8s.io:|controller:(?!.*(aggregation|garbage-collector$|namespace|service-account|root-ca))|heapster|kube-|kubelet|node|persistent|volume)/
  for (const name of names) assert.match(name.replace('pod-garbage-collector', 'pod-gc'), about)
})

test('a start creates missing objects, a second start changes nothing', async () => {
  const client = new FakeClient()
  await bootstrap(client.port)
  assert.equal(client.log.length, 4 + clusterRoles.length + clusterRoleBindings.length + 2)
  assert.ok(client.find(NAMESPACES, 'kube-node-lease'))
  client.log.length = 0
  await bootstrap(client.port)
  assert.deepEqual(client.log, [])
  await client.delete(CLUSTER_ROLES, { name: 'edit' })
  await bootstrap(client.port)
  assert.deepEqual(client.log, ['delete clusterroles/edit', 'create clusterroles/edit'])
})

test('existing objects are extended, never reduced', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((verb) => ({ verbs: [verb] }))
  const role = (rules: unknown, fields: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ClusterRole',
    metadata: { name: 'x', labels: { l: '1' }, annotations: {}, ...fields },
    rules,
  })
  assert.equal(reconciled(role([b, a]), role([a])), 'keep')
  assert.deepEqual((reconciled(role([c]), role([a, b])) as KubeObject)['rules'], [c, a, b])
  const off = { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } }
  assert.equal(reconciled(role([], off), role([a])), 'keep')
  const relabelled = reconciled(role([a], { labels: { l: '2' } }), role([a], { labels: { l: '1', m: '1' } }))
  assert.deepEqual((relabelled as KubeObject).metadata.labels, { l: '2', m: '1' })
  const binding = (name: string, ...subjects: string[]) => ({ ...role(undefined), roleRef: { name }, subjects })
  assert.equal(reconciled(binding('r', 's'), binding('other', 's')), 'replace')
  assert.deepEqual((reconciled(binding('r', 's'), binding('r', 't')) as KubeObject)['subjects'], ['s', 't'])
  const gathering = (...clusterRoleSelectors: unknown[]) => ({
    ...role([c]),
    aggregationRule: { clusterRoleSelectors },
  })
  const merged = reconciled(gathering('mine'), { ...gathering('theirs'), rules: [] }) as KubeObject
  assert.deepEqual(merged['aggregationRule'], { clusterRoleSelectors: ['mine', 'theirs'] })
  assert.deepEqual(merged['rules'], [c])
})

const rule = (verb: string) => ({ verbs: [verb], apiGroups: [''], resources: ['x'] })
const clusterRole = (name: string, labels: object, rules: unknown[], matchLabels?: object): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels: labels as Record<string, string> },
  rules,
  ...(matchLabels ? { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } } : {}),
})

test('aggregated rules: by name, without duplicates, without the role itself', () => {
  const all = [
    clusterRole('z', { to: 'a' }, [rule('1'), rule('2')]),
    clusterRole('b', { to: 'a' }, [rule('2'), rule('3')]),
    clusterRole('other', {}, [rule('9')]),
    clusterRole('sum', { to: 'a' }, [rule('8')], { to: 'a' }),
  ]
  assert.deepEqual(aggregatedRules(all[3]!, all), [rule('2'), rule('3'), rule('1')])
  assert.equal(aggregatedRules(all[0]!, all), undefined)
  assert.deepEqual(aggregatedRules({ ...all[3]!, aggregationRule: {} }, all), [])
})

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (holds()) return
    await delay(5)
  }
  assert.fail(`never: ${what}`)
}

function running(start: (client: FakeClient, signal: AbortSignal) => Promise<void>) {
  const client = new FakeClient()
  const stop = new AbortController()
  const done = start(client, stop.signal)
  const end = async () => {
    stop.abort()
    await done
  }
  return { client, end }
}
const failed = (what: string, error: unknown) => {
  throw new Error(what, { cause: error })
}

test('the aggregation controller follows changes through several levels', async () => {
  const { client, end } = running((c, signal) => runAggregation({ client: c.port, failed }, signal))
  const verbsOf = (name: string) =>
    ((client.find(CLUSTER_ROLES, name)?.['rules'] ?? []) as { verbs: string[] }[]).flatMap(({ verbs }) => verbs)
  await client.create(CLUSTER_ROLES, clusterRole('admin', {}, [], { to: 'admin' }))
  await client.create(CLUSTER_ROLES, clusterRole('edit', { to: 'admin' }, [], { to: 'edit' }))
  await client.create(CLUSTER_ROLES, clusterRole('mine', { to: 'edit' }, [rule('read')]))
  await until('admin has it', () => verbsOf('admin').join() === 'read')
  await client.delete(CLUSTER_ROLES, { name: 'mine' })
  await until('admin lost it', () => verbsOf('admin').length === 0)
  await end()
})

function serviceAccountWorld() {
  const key = signingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  const common = { issuer: 'https://x', audiences: ['https://x'], clock: { now: () => 0 }, newId: () => 'id' }
  const tokens = new ServiceAccountTokens({ objects: new FakeObjects(), key, ...common })
  return running((client, signal) => runServiceAccounts({ client: client.port, tokens, ca: 'PEM', failed }, signal))
}
const namespace = (name: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...fields },
})

test('every namespace gets its default account and CA bundle, also after their deletion', async () => {
  const { client, end } = serviceAccountWorld()
  await client.create(NAMESPACES, namespace('one'))
  await client.create(NAMESPACES, namespace('going', { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  const account = () => client.find(SERVICE_ACCOUNTS, 'default', 'one')
  const bundle = () => client.find(CONFIG_MAPS, 'kube-root-ca.crt', 'one')
  await until('both exist', () => account() !== undefined && bundle() !== undefined)
  assert.deepEqual(bundle()?.['data'], { 'ca.crt': 'PEM' })
  assert.match(bundle()?.metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle/)
  await client.delete(SERVICE_ACCOUNTS, { namespace: 'one', name: 'default' })
  await client.delete(CONFIG_MAPS, { namespace: 'one', name: 'kube-root-ca.crt' })
  await until('both exist again', () => account() !== undefined && bundle() !== undefined)
  await client.update(CONFIG_MAPS, { ...bundle()!, data: { 'ca.crt': 'PEM', more: 'x' } })
  await until('the bundle is repaired', () => Object.keys(bundle()?.['data'] as object).length === 1)
  assert.equal(client.find(SERVICE_ACCOUNTS, 'default', 'going'), undefined)
  await end()
})

test('token Secrets are filled, and deleted with their account', async () => {
  const { client, end } = serviceAccountWorld()
  const annotations = { 'kubernetes.io/service-account.name': 'robot' }
  const secret = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { name, namespace: 'one', annotations: { ...annotations, ...more } },
  })
  const find = (name: string) => client.find(SECRETS, name, 'one')
  await client.create(NAMESPACES, namespace('one'))
  const metadata = { name: 'robot', namespace: 'one' }
  const account = await client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  await client.create(SECRETS, secret('a'))
  await client.create(SECRETS, secret('stale', { 'kubernetes.io/service-account.uid': 'older' }))
  await until('it is filled', () => find('a')?.['data'] !== undefined)
  const data = find('a')?.['data'] as Record<string, string>
  const text = (field: string) => Buffer.from(data[field]!, 'base64').toString()
  assert.equal(text('ca.crt'), 'PEM')
  assert.equal(text('namespace'), 'one')
  assert.equal(text('token').split('.').length, 3)
  assert.equal(find('a')?.metadata.annotations?.['kubernetes.io/service-account.uid'], account.metadata.uid)
  await until('the stale one is gone', () => find('stale') === undefined)
  await client.delete(SERVICE_ACCOUNTS, { namespace: 'one', name: 'robot' })
  await until('it went', () => find('a') === undefined)
  await client.create(SECRETS, secret('orphan'))
  await until('so did one without account', () => find('orphan') === undefined)
  await end()
})
