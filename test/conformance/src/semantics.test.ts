import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

interface Kind {
  readonly path: string
  object(name: string, metadata?: object): Loose
}

/** Returns a built-in and a custom kind. Both must behave alike, or differ as on the real server. */
async function kinds(t: Case): Promise<Kind[]> {
  const ns = await t.namespace()
  const widgets = await define(t)
  return [
    {
      path: `/api/v1/namespaces/${ns}/configmaps`,
      object: (name, metadata) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } }),
    },
    {
      path: widgets.path(ns),
      object: (name, metadata) => ({ ...widgets.object(name), metadata: { name, ...metadata } }),
    },
  ]
}

const owners = (body: Loose) =>
  body.kind === 'Status' ? body : (body.metadata.managedFields ?? []).map(({ time: _, ...entry }: Loose) => entry)

/** Returns an owner reference. No server serves this kind, so that garbage collection ignores its dependents. */
const owner = (name: string) => ({
  apiVersion: 'unserved.example.com/v1',
  kind: 'Owner',
  name,
  uid: '11111111-1111-1111-1111-111111111111',
})

conformance(
  'semantics',
  {
    'duplicate owner references are removed with a warning': async (t) => {
      const pick = (body: Loose) => (body.kind === 'Status' ? body : body.metadata.ownerReferences)
      for (const { path, object } of await kinds(t)) {
        const twice = { ownerReferences: [owner('a'), owner('a'), owner('b'), owner('a')] }
        await t.post(path, object('a', twice), { pick })
        await t.must('POST', path, { body: object('b') })
        await t.mergePatch(`${path}/b`, { metadata: twice }, { pick })
        const { body } = await t.must('GET', `${path}/b`)
        await t.put(`${path}/b`, { ...body, metadata: { ...body.metadata, ...twice, labels: { k: 'v' } } }, { pick })
        await t.apply(`${path}/b`, 'm', object('b', twice), { pick })
      }
    },
    'unknown members of JSON patch operations': async (t) => {
      const pick = (body: Loose) =>
        body.kind === 'Status'
          ? { ...body, message: body.message?.replace(/^.*strict/s, 'strict') }
          : body.metadata.annotations
      for (const { path, object } of await kinds(t)) {
        await t.must('POST', path, { body: object('a') })
        for (const fieldValidation of ['Strict', 'Warn', 'Ignore']) {
          const operations = [
            { op: 'add', path: '/metadata/annotations', value: { k: fieldValidation }, foo: 1, bar: 2 },
            { op: 'test', path: '/metadata/name', value: 'a', Value: 3 },
          ]
          await t.jsonPatch(`${path}/a`, operations, { query: { fieldValidation }, pick })
        }
      }
    },
    'each duplicate YAML key gives a warning': async (t) => {
      const pick = (body: Loose) => (body.kind === 'Status' ? body : body.kind)
      for (const { path, object } of await kinds(t)) {
        const { apiVersion, kind } = object('a')
        const yaml = (name: string) =>
          `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n  labels:\n    a: b\n    a: c\n    d: e\n    d: f\n`
        const type = 'application/yaml'
        await t.post(path, yaml('a'), { type, query: { fieldValidation: 'Warn' }, pick })
        await t.post(path, yaml('b'), { type, query: { fieldValidation: 'Strict' }, pick })
        await t.apply(`${path}/a`, 'm', yaml('a'), { query: { fieldValidation: 'Warn', force: true }, pick })
      }
    },
    'empty managedFields': async (t) => {
      for (const { path, object } of await kinds(t)) {
        const labels = { k: 'v' }
        const names = ['merge', 'entry', 'json', 'put', 'put-entry', 'null']
        for (const name of names) await t.must('POST', path, { body: object(name, { labels }) })
        await t.mergePatch(`${path}/merge`, { metadata: { managedFields: [] } }, { pick: owners })
        await t.mergePatch(`${path}/merge`, { metadata: { labels: { next: 'v' } } }, { pick: owners })
        await t.mergePatch(`${path}/entry`, { metadata: { managedFields: [{}] } }, { pick: owners })
        await t.jsonPatch(`${path}/json`, [{ op: 'replace', path: '/metadata/managedFields', value: [] }], {
          pick: owners,
        })
        for (const [name, managedFields] of [
          ['put', []],
          ['put-entry', [{}]],
        ] as const) {
          const { body } = await t.must('GET', `${path}/${name}`)
          await t.put(`${path}/${name}`, { ...body, metadata: { ...body.metadata, managedFields } }, { pick: owners })
        }
        await t.mergePatch(`${path}/null`, { metadata: { managedFields: null } }, { pick: owners })
        await t.post(path, object('create', { managedFields: [], labels }), { pick: owners })
      }
    },
    'policies apply to webhook configurations, not to policies': async (t) => {
      const group = 'admissionregistration.k8s.io'
      const all = `/apis/${group}/v1`
      const name = `policy-${t.id}`
      const create = async (resource: string, body: Loose) => {
        await t.must('POST', `${all}/${resource}`, { body })
        t.cleanup(() => t.quiet('DELETE', `${all}/${resource}/${body.metadata.name}`))
      }
      const rules = { apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['*'] }
      await create('validatingadmissionpolicies', {
        metadata: { name },
        spec: {
          matchConstraints: { resourceRules: [rules], objectSelector: { matchLabels: { case: t.id } } },
          validations: [{ expression: 'request.operation == "DELETE"', message: 'not today' }],
        },
      })
      await create('validatingadmissionpolicybindings', {
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      })
      const labels = { case: t.id }
      const hooks = `${all}/validatingwebhookconfigurations`
      const hook = (suffix: string) => ({ metadata: { name: `hook-${suffix}-${t.id}`, labels }, webhooks: [] })
      const deadline = Date.now() + 120_000
      const dryRun = { query: { dryRun: 'All' } }
      while ((await t.quiet('POST', hooks, { ...dryRun, body: hook('probe') })).status === 201) {
        if (Date.now() > deadline) throw new Error('the policy is never applied')
      }
      const pick = (body: Loose) => (body.kind === 'Status' ? body : body.kind)
      await t.post(hooks, hook('a'), { pick })
      await t.post(`${all}/mutatingwebhookconfigurations`, hook('b'), { pick })
      const policy = { matchConstraints: { resourceRules: [rules] }, validations: [{ expression: 'true' }] }
      await t.post(
        `${all}/validatingadmissionpolicies`,
        { metadata: { name: `other-${t.id}`, labels }, spec: policy },
        { pick, ...dryRun },
      )
      await t.post(
        `${all}/validatingadmissionpolicybindings`,
        { metadata: { name: `other-${t.id}`, labels }, spec: { policyName: name, validationActions: ['Deny'] } },
        { pick, ...dryRun },
      )
    },
    'Table and PartialObjectMetadata of v1beta1': async (t) => {
      const [, widgets] = await kinds(t)
      const { path, object } = widgets!
      await t.must('POST', path, { body: object('a') })
      const pick = (value: Loose) => [
        value.kind,
        value.apiVersion,
        (value.rows ?? value.items)?.map((row: Loose) => [(row.object ?? row).kind, (row.object ?? row).apiVersion]),
      ]
      for (const as of ['Table', 'PartialObjectMetadata']) {
        const accept = (kind: string) => `application/json;as=${kind};v=v1beta1;g=meta.k8s.io`
        await t.get(`${path}/a`, { accept: accept(as), pick })
        await t.get(path, { accept: accept(as === 'Table' ? as : `${as}List`), pick })
        const query = {
          allowWatchBookmarks: true,
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
          resourceVersion: '',
        }
        const watch = await t.watch(path, query, { accept: accept(as) })
        const events = await watch.take(2)
        t.see(
          `watch of ${as}`,
          events.map((event) => [event.type, pick(event.object)]),
        )
      }
    },
    'an apiVersion with an empty group': async (t) => {
      const [maps] = await kinds(t)
      const pick = (body: Loose) => (body.kind === 'Status' ? body : body.apiVersion)
      await t.post(maps!.path, { ...maps!.object('a'), apiVersion: '/v1' }, { pick })
      await t.post(maps!.path, { ...maps!.object('b'), apiVersion: '//v1' }, { pick })
      await t.post(maps!.path, { ...maps!.object('c'), apiVersion: '/' }, { pick })
    },
  },
  { managedFields: true },
)
