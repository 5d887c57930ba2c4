import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const scene = async (t: Case) => `${configMapsIn(await t.namespace())}/a`

/** Timestamps depend on the server. The order of managers is part of the response. */
conformance(
  'apply',
  {
    'who is there already needs no name': async (t) => {
      const ns = await t.namespace()
      const widgets = await define(t, { properties: { size: { type: 'integer' } } })
      const { apiVersion, kind } = widgets.object('a')
      const kinds = [
        { all: configMapsIn(ns), type: { apiVersion: 'v1', kind: 'ConfigMap' }, made: configMap('a') },
        { all: widgets.path(ns), type: { apiVersion, kind }, made: widgets.object('a') },
      ]
      for (const { all, type, made } of kinds) {
        await t.must('POST', all, { body: made })
        await t.apply(`${all}/a`, 'm', type)
        await t.apply(`${all}/a`, 'm', { ...type, metadata: { labels: { l: 'x' } } })
        await t.apply(`${all}/a`, 'm', { ...type, metadata: null })
        await t.apply(`${all}/a`, 'm', { ...type, metadata: { name: '' } })
        await t.apply(`${all}/a`, 'm', { ...type, metadata: { name: 'b' } })
        await t.apply(`${all}/a`, 'm', { ...type, metadata: { namespace: 'other' } })
        await t.apply(`${all}/absent`, 'm', type)
        await t.apply(`${all}/absent`, 'm', { ...type, metadata: { generateName: 'g-' } })
      }
      await t.apply(`${widgets.path(ns)}/a`, 'm', { apiVersion, kind, metadata: [] })
      await t.apply(`${widgets.path(ns)}/absent`, 'm', { apiVersion, kind, metadata: 'x' })
    },
    'apply creates what is not there': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.get(one)
    },
    'apply again with the same intent changes nothing': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
    },
    'apply changes and adds fields of one manager': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.apply(one, 'alice', configMap('a', { k: 'w', more: 'x' }, { labels: { l: '1' } }))
    },
    'apply removes what is no longer in the intent': async (t) => {
      const one = await scene(t)
      await t.apply(
        one,
        'alice',
        configMap('a', { k: 'v', gone: 'x' }, { labels: { l: '1' }, annotations: { n: '2' } }),
      )
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
    },
    'two managers own different fields': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { alice: '1' }))
      await t.apply(one, 'bob', configMap('a', { bob: '2' }))
      await t.apply(one, 'alice', configMap('a', {}))
    },
    'two managers share a field of equal value': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.apply(one, 'bob', configMap('a', { k: 'v' }))
      await t.apply(one, 'alice', configMap('a', { k: 'w' }))
      await t.apply(one, 'alice', configMap('a'))
      await t.get(one)
    },
    'a different value is a conflict': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }, { labels: { l: '1' } }))
      await t.apply(one, 'bob', configMap('a', { k: 'w' }))
      await t.apply(one, 'bob', configMap('a', { k: 'w', m: 'y' }, { labels: { l: '2' } }))
      await t.get(one)
    },
    'force takes the field over': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }))
      await t.apply(one, 'bob', configMap('a', { k: 'w' }), { query: { force: true } })
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }))
    },
    'a conflict with an updater names operation and time': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: 'v' }) })
      await t.apply(one, 'bob', configMap('a', { k: 'w' }))
      await t.apply(one, 'bob', configMap('a', { k: 'w' }), { query: { force: true } })
    },
    'an update takes over what it changes from appliers': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }))
      await t.mergePatch(one, { data: { k: 'w' } })
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }))
    },
    'an update that removes a field removes it from all managers': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v', m: 'x' }))
      await t.mergePatch(one, { data: { k: null } })
      await t.mergePatch(one, { data: null })
    },
    'managers of updates are named by parameter or user agent': async (t) => {
      const one = await scene(t)
      await t.post(one.slice(0, -2), configMap('a', { k: '1' }), { headers: { 'user-agent': 'tool/v1.2 (linux)' } })
      await t.mergePatch(one, { data: { k: '2' } }, { query: { fieldManager: 'someone' } })
      await t.mergePatch(one, { data: { l: '3' } }, { headers: { 'user-agent': 'other tool' } })
      await t.mergePatch(one, { data: { m: '4' } }, { headers: { 'user-agent': '' } })
    },
    'updates of one manager are one entry': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: '1' }), query: { fieldManager: 'm' } })
      await t.mergePatch(one, { data: { l: '2' } }, { query: { fieldManager: 'm' } })
      await t.put(one, configMap('a', { n: '3' }), { query: { fieldManager: 'm' } })
    },
    'the same name as applier and updater are two entries': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: '1' }), query: { fieldManager: 'm' } })
      await t.apply(one, 'm', configMap('a', { k: '1', l: '2' }))
    },
    'apply without a field manager': async (t) => {
      const one = await scene(t)
      await t.apply(one, '', configMap('a'))
      await t.apply(one, '', configMap('a'), { query: { fieldManager: '' } })
      await t.apply(one, 'x'.repeat(129), configMap('a'))
    },
    'apply bodies that are refused': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', { metadata: { name: 'a' } })
      await t.apply(one, 'alice', { apiVersion: 'v1', metadata: { name: 'a' } })
      await t.apply(one, 'alice', { kind: 'ConfigMap', metadata: { name: 'a' } })
      await t.apply(one, 'alice', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })
      await t.apply(one, 'alice', configMap('b'))
      await t.apply(one, 'alice', configMap('a', {}, { managedFields: [{ manager: 'x' }] }))
      await t.apply(one, 'alice', configMap('a', {}, { namespace: 'other' }))
      await t.apply(one, 'alice', { apiVersion: 'v1', kind: 'ConfigMap' })
      // The messages for invalid YAML depend on the YAML library.
      await t.apply(one, 'alice', 'a: [', { pick: ({ reason, code }) => ({ reason, code }) })
      await t.apply(one, 'alice', '')
      await t.apply(one, 'alice', { ...configMap('a'), nonsense: 1 })
      await t.apply(one, 'alice', { ...configMap('a'), data: { k: 5 } })
    },
    'apply with a revision is a precondition': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: '1' }, { resourceVersion: '5' }))
      const made = await t.must('PATCH', one, {
        type: 'application/apply-patch+yaml',
        query: { fieldManager: 'alice' },
        body: configMap('a', { k: '1' }),
      })
      const { resourceVersion } = made.body.metadata
      await t.apply(one, 'alice', configMap('a', { k: '2' }, { resourceVersion }))
      await t.apply(one, 'alice', configMap('a', { k: '3' }, { resourceVersion }))
    },
    'apply with a uid of another object': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', {}, { uid: '11111111-1111-4111-8111-111111111111' }))
    },
    'apply in YAML': async (t) => {
      const one = await scene(t)
      await t.apply(
        one,
        'alice',
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "yes"\n  multi: |\n    two\n    lines\n',
      )
    },
    'apply of bytes and times that cannot be read': async (t) => {
      const ns = await t.namespace()
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }
      const one = `/api/v1/namespaces/${ns}/secrets/a`
      await t.apply(one, 'alice', { ...secret, data: { k: 'b c' } })
      await t.apply(one, 'alice', { ...secret, metadata: { name: 'a', namespace: ns }, data: { k: 'b c' } })
      await t.apply(one, 'alice', { ...secret, data: { k: 'Yg==' } })
      await t.apply(one, 'alice', { ...secret, data: { k: 'b c' } })
      await t.apply(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/a`, 'alice', {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'a' },
        spec: { renewTime: 'soon' },
      })
    },
    'apply with dryRun': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }), { query: { dryRun: 'All' } })
      await t.get(one)
    },
    'managedFields can be cleared': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.jsonPatch(one, [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }])
      await t.apply(one, 'alice', configMap('a', { k: 'w' }))
      await t.mergePatch(one, { metadata: { managedFields: [] } })
    },
    'a malformed managedFields list is ignored': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await t.mergePatch(one, {
        metadata: {
          managedFields: [
            { manager: 'x', operation: 'Nonsense', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
          ],
        },
      })
      await t.mergePatch(one, {
        metadata: {
          managedFields: [
            { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
          ],
        },
      })
    },
    'finalizers are a set, owner references a map by uid': async (t) => {
      const one = await scene(t)
      const uid = (n: number) => `0000000${n}-0000-4000-8000-000000000000`
      const owner = (n: number) => ({ apiVersion: 'none.example.com/v1', kind: 'Thing', name: `o${n}`, uid: uid(n) })
      await t.apply(one, 'alice', configMap('a', {}, { finalizers: ['x.io/a'], ownerReferences: [owner(1)] }))
      await t.apply(one, 'bob', configMap('a', {}, { finalizers: ['x.io/b'], ownerReferences: [owner(2)] }))
      await t.apply(one, 'alice', configMap('a', {}))
      await t.apply(one, 'bob', configMap('a', {}, { finalizers: ['x.io/b', 'x.io/b'] }))
    },
    'rules of a role are atomic': async (t) => {
      const one = `/apis/rbac.authorization.k8s.io/v1/namespaces/${await t.namespace()}/roles/a`
      const role = (...resources: string[]) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'a' },
        rules: resources.map((each) => ({ apiGroups: [''], resources: [each], verbs: ['get'] })),
      })
      await t.apply(one, 'alice', role('secrets'))
      await t.apply(one, 'bob', role('configmaps'))
    },
    'a patch that only touches metadata that is not managed': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: 'v' }, { generateName: 'a-' }) })
      await t.mergePatch(
        one,
        { metadata: { annotations: { x: 'y' }, labels: { l: 'm' } } },
        { query: { fieldManager: 'p' } },
      )
    },
    'custom objects: apply with a schema': async (t) => {
      const { one, object } = await widget(t)
      await t.apply(
        one,
        'alice',
        object({ size: 1, tags: ['a'], ports: [{ name: 'http', port: 80 }], options: { x: '1' } }),
      )
      await t.apply(one, 'bob', object({ tags: ['b'], ports: [{ name: 'https', port: 443 }], options: { y: '2' } }))
      await t.apply(one, 'bob', object({ ports: [{ name: 'http', port: 8080 }] }))
      await t.apply(one, 'alice', object({ size: 1 }))
    },
    'custom objects: atomic lists and maps conflict as a whole': async (t) => {
      const { one, object } = await widget(t)
      await t.apply(one, 'alice', object({ plain: [1, 2], whole: { x: '1' } }))
      await t.apply(one, 'bob', object({ plain: [3], whole: { y: '2' } }))
      await t.apply(one, 'bob', object({ plain: [3] }), { query: { force: true } })
    },
    'custom objects: list maps merge by key and keep order': async (t) => {
      const { one, object } = await widget(t)
      const port = (name: string, number: number) => ({ name, port: number })
      await t.apply(one, 'alice', object({ ports: [port('a', 1), port('b', 2), port('c', 3)] }))
      await t.apply(one, 'bob', object({ ports: [port('d', 4), port('b', 2)] }))
      await t.apply(one, 'alice', object({ ports: [port('c', 3), port('a', 1)] }))
      await t.apply(one, 'alice', object({ ports: [port('a', 1), port('a', 2)] }))
      await t.apply(one, 'alice', object({ ports: [{ port: 1 }] }))
    },
    'custom objects: unknown fields are warned of and dropped': async (t) => {
      const { one, object } = await widget(t)
      await t.apply(one, 'alice', object({ size: 1, unknown: 2 }))
      await t.apply(one, 'alice', object({ size: 1, unknown: 2 }), { query: { fieldValidation: 'Strict' } })
      await t.apply(one, 'alice', object({ size: 'x' }))
    },
    'custom objects: unknown shapes are managed leaf by leaf': async (t) => {
      const widgets = await define(t)
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(one, 'alice', widgets.object('a', { spec: { deep: { x: 1 }, list: [{ name: 'a' }] } }))
      await t.apply(one, 'bob', widgets.object('a', { spec: { deep: { y: 2 } } }))
      await t.apply(one, 'bob', widgets.object('a', { spec: { list: [{ name: 'b' }] } }))
    },
    'custom objects: defaults are owned by nobody': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: { type: 'object', properties: { n: { type: 'integer', default: 3 }, m: { type: 'integer' } } },
        },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(one, 'alice', widgets.object('a', { spec: { m: 1 } }))
      await t.apply(one, 'bob', widgets.object('a', { spec: { n: 4 } }))
      await t.apply(one, 'bob', widgets.object('a'))
    },
    'custom objects: status is a manager of its own': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: { type: 'object', properties: { n: { type: 'integer' } } },
          status: { type: 'object', properties: { p: { type: 'string' }, q: { type: 'string' } } },
        },
        version: { subresources: { status: {} } },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(one, 'alice', widgets.object('a', { spec: { n: 1 }, status: { p: 'x' } }))
      await t.apply(`${one}/status`, 'alice', widgets.object('a', { spec: { n: 2 }, status: { p: 'x' } }))
      await t.apply(`${one}/status`, 'bob', widgets.object('a', { status: { p: 'y' } }))
      await t.apply(one, 'alice', widgets.object('a', { spec: { n: 3 } }))
      await t.apply(`${one.slice(0, -1)}b/status`, 'alice', widgets.object('b', { status: { p: 'x' } }))
    },
    'custom objects: create and update managers': async (t) => {
      const { one, object } = await widget(t)
      const made = await t.post(
        one.slice(0, -2),
        object({ size: 1, tags: ['a', 'b'], ports: [{ name: 'http', port: 80 }] }),
      )
      await t.put(one, { ...made.body, spec: { size: 2, tags: ['a'] } }, { query: { fieldManager: 'other' } })
      await t.jsonPatch(one, [{ op: 'add', path: '/spec/options', value: { x: '1' } }], {
        query: { fieldManager: 'third' },
      })
    },
    'custom objects: apply of another version': async (t) => {
      const version = (name: string, storage: boolean) => ({
        name,
        served: true,
        storage,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' } } } },
          },
        },
      })
      const widgets = await define(t, { versions: [version('v1', true), version('v2', false)] })
      const ns = await t.namespace()
      await t.apply(`${widgets.path(ns, 'v1')}/a`, 'alice', widgets.object('a', { spec: { n: 1 } }, 'v1'))
      await t.apply(`${widgets.path(ns, 'v2')}/a`, 'bob', widgets.object('a', { spec: { m: 2 } }, 'v2'))
      await t.apply(`${widgets.path(ns, 'v2')}/a`, 'bob', widgets.object('a', { spec: { n: 2 } }, 'v2'))
      await t.apply(`${widgets.path(ns, 'v2')}/a`, 'alice', widgets.object('a', { spec: { n: 3 } }, 'v2'))
    },
    'custom objects: nulls are judged before they are dropped': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: {
            type: 'object',
            required: ['any'],
            properties: {
              text: { type: 'string' },
              filled: { type: 'string', default: 'default' },
              maybe: { type: 'string', nullable: true },
              any: { 'x-kubernetes-preserve-unknown-fields': true },
              list: { type: 'array', items: { type: 'object', properties: { key: { type: 'string' } } } },
              map: { type: 'object', additionalProperties: { type: 'string' } },
            },
          },
        },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      const apply = (spec: object | null, options = {}) =>
        t.apply(one, 'alice', widgets.object('a', { spec }), { query: { force: 'true' }, ...options })
      await apply({ any: 1, text: null })
      await apply({ any: 1, list: [{ key: 'a' }, { key: null }] })
      await apply({ any: 1, list: [null] })
      await apply({ any: 1, map: { a: null } })
      await apply({ text: 'a' })
      await apply(null)
      await apply({ any: null, filled: null, maybe: null })
      await t.get(one)
      await apply({ any: null, filled: null, maybe: null })
      await apply({ any: { deep: null }, text: null })
      await apply({ any: { deep: null }, text: 'a' })
    },
  },
  { managedFields: true },
)

async function widget(t: Case) {
  const widgets = await define(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' }, port: { type: 'integer' } },
            },
          },
          options: { type: 'object', additionalProperties: { type: 'string' } },
          plain: { type: 'array', items: { type: 'integer' } },
          whole: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        },
      },
    },
  })
  const one = `${widgets.path(await t.namespace())}/a`
  return { one, object: (spec: object) => widgets.object('a', { spec }) }
}
