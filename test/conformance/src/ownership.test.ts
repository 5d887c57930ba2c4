import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const scene = async (t: Case) => `${configMapsIn(await t.namespace())}/a`
const merge = (t: Case, path: string, fieldManager: string, body: object) =>
  t.mergePatch(path, body, { query: { fieldManager } })

/** Details of field ownership beyond simple applies. */
conformance(
  'ownership',
  {
    'more than ten updaters: the oldest become one': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: '0' }), query: { fieldManager: 'm00' } })
      for (let i = 1; i <= 12; i++) {
        const fieldManager = `m${String(i).padStart(2, '0')}`
        await t.must('PATCH', one, {
          type: 'application/merge-patch+json',
          query: { fieldManager },
          body: { data: { [`k${i}`]: 'x' } },
        })
      }
      await t.get(one, {
        pick: (body) => {
          const entries: { manager: string; fieldsV1: object }[] = body.metadata.managedFields
          const ancient = entries.find(({ manager }) => manager === 'ancient-changes')
          return { count: entries.length, ancient: ancient !== undefined }
        },
      })
    },
    'null in an applied configuration': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a' },
        data: { k: null, l: 'x' },
      })
      await t.apply(one, 'alice', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: null })
    },
    'an empty map is owned as itself': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', {}, { labels: {}, annotations: {} }))
      await t.apply(one, 'bob', configMap('a', { k: 'v' }))
      await t.apply(one, 'bob', configMap('a'))
    },
    'an updater takes a field from an applier, who then lets go of it': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v', l: 'w' }))
      await merge(t, one, 'tool', { data: { k: 'changed' } })
      await t.apply(one, 'alice', configMap('a', { l: 'w' }))
    },
    'what nobody applies any more goes, what an updater owns stays': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await merge(t, one, 'tool', { data: { own: 'x' } })
      await t.apply(one, 'alice', configMap('a'))
    },
    'an updater that sets the same value does not own it': async (t) => {
      const one = await scene(t)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }))
      await merge(t, one, 'tool', { data: { k: 'v' }, metadata: { labels: { l: 'x' } } })
    },
    'three appliers share, two leave, one remains': async (t) => {
      const one = await scene(t)
      for (const manager of ['a1', 'a2', 'a3'])
        await t.must('PATCH', one, {
          type: 'application/apply-patch+yaml',
          query: { fieldManager: manager },
          body: configMap('a', { shared: 'x', [manager]: 'y' }),
        })
      await t.apply(one, 'a1', configMap('a', {}))
      await t.apply(one, 'a2', configMap('a', {}))
      await t.get(one)
      await t.apply(one, 'a3', configMap('a', { shared: 'z' }))
    },
    'apply to an object under deletion': async (t) => {
      const one = await scene(t)
      await t.must('POST', one.slice(0, -2), { body: configMap('a', {}, { finalizers: ['x.io/hold'] }) })
      await t.must('DELETE', one)
      await t.apply(one, 'alice', configMap('a', { k: 'v' }), {
        pick: (body) => [body.data, body.metadata.managedFields.map((entry: { manager: string }) => entry.manager)],
      })
      await t.must('PATCH', one, { type: 'application/merge-patch+json', body: { metadata: { finalizers: null } } })
      await t.get(one)
    },
    'several keys, one of them by default': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: {
            type: 'object',
            properties: {
              ports: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['port', 'protocol'],
                items: {
                  type: 'object',
                  required: ['port'],
                  properties: {
                    port: { type: 'integer' },
                    protocol: { type: 'string', default: 'TCP' },
                    name: { type: 'string' },
                  },
                },
              },
            },
          },
        },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(one, 'alice', widgets.object('a', { spec: { ports: [{ port: 80, name: 'http' }] } }))
      await t.apply(one, 'bob', widgets.object('a', { spec: { ports: [{ port: 80, protocol: 'UDP', name: 'quic' }] } }))
      await t.apply(one, 'bob', widgets.object('a', { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'web' }] } }))
    },
    'nested lists of maps, and a field inside an item': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: {
            type: 'object',
            properties: {
              groups: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['name'],
                items: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string' },
                    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                    options: { type: 'object', additionalProperties: { type: 'string' } },
                  },
                },
              },
            },
          },
        },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      const spec = (...groups: object[]) => widgets.object('a', { spec: { groups } })
      await t.apply(one, 'alice', spec({ name: 'x', tags: ['1', '2'], options: { a: '1' } }))
      await t.apply(one, 'bob', spec({ name: 'x', tags: ['2', '3'], options: { b: '2' } }, { name: 'y' }))
      await t.apply(one, 'alice', spec({ name: 'x' }))
      await t.apply(one, 'bob', spec())
    },
    'a list that was atomic becomes a map': async (t) => {
      const list = (more: object) => ({
        spec: {
          type: 'object',
          properties: {
            l: {
              type: 'array',
              items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'string' } } },
              ...more,
            },
          },
        },
      })
      const widgets = await define(t, { properties: list({}) })
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(one, 'alice', widgets.object('a', { spec: { l: [{ k: 'a', v: '1' }] } }))
      const properties = list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] })
      const value = { type: 'object', properties: { ...properties, mark: { type: 'string' } } }
      await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
        type: 'application/json-patch+json',
        body: [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value }],
      })
      for (;;) {
        const probe = await t.quiet('POST', `${one.slice(0, -2)}?dryRun=All`, {
          body: widgets.object('p', { mark: 'x' }),
        })
        if (probe.body.mark) break
      }
      await t.apply(
        one,
        'alice',
        widgets.object('a', {
          spec: {
            l: [
              { k: 'a', v: '1' },
              { k: 'b', v: '2' },
            ],
          },
        }),
      )
      await t.apply(one, 'bob', widgets.object('a', { spec: { l: [{ k: 'c', v: '3' }] } }))
    },
    'int and float values that are equal are no conflict': async (t) => {
      const widgets = await define(t, {
        properties: { spec: { type: 'object', properties: { n: { type: 'number' } } } },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      const body = (n: string) =>
        `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":${n}}}`
      await t.apply(one, 'alice', body('1'))
      await t.apply(one, 'bob', body('1.0'))
      await t.apply(one, 'bob', body('1.5'))
    },
    'an embedded object is managed by its fields': async (t) => {
      const widgets = await define(t, {
        properties: {
          spec: {
            type: 'object',
            properties: {
              template: {
                type: 'object',
                'x-kubernetes-embedded-resource': true,
                'x-kubernetes-preserve-unknown-fields': true,
              },
            },
          },
        },
      })
      const one = `${widgets.path(await t.namespace())}/a`
      await t.apply(
        one,
        'alice',
        widgets.object('a', {
          spec: {
            template: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n', labels: { l: '1' } }, data: { a: 1 } },
          },
        }),
      )
    },
    'keys with dots, slashes and quotes': async (t) => {
      const one = await scene(t)
      await t.apply(
        one,
        'alice',
        configMap('a', { 'a.b': '1' }, { labels: { 'example.com/x.y': '2' }, annotations: { 'x/y': '"quoted"' } }),
      )
    },
    'the status of a namespace and its finalizers': async (t) => {
      const name = `ns-${t.id}`
      await t.post('/api/v1/namespaces', { metadata: { name } }, { query: { fieldManager: 'maker' } })
      await t.apply(`/api/v1/namespaces/${name}`, 'alice', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { l: 'x' } },
      })
    },
    'two writers from one revision: exactly one wins': async (t) => {
      const one = await scene(t)
      const made = (await t.must('POST', one.slice(0, -2), { body: configMap('a', { k: '0' }) })).body
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => t.quiet('PUT', one, { body: { ...made, data: { k: String(i + 1) } } })),
      )
      t.see('statuses', outcomes.map(({ status }) => status).sort())
    },
    'twenty creates with one generateName are twenty objects': async (t) => {
      const all = configMapsIn(await t.namespace())
      const made = await Promise.all(
        Array.from({ length: 20 }, () => t.must('POST', all, { body: { metadata: { generateName: 'g-' } } })),
      )
      t.see('names', new Set(made.map(({ body }) => body.metadata.name)).size)
      t.see('revisions', new Set(made.map(({ body }) => body.metadata.resourceVersion)).size)
    },
    'eight creates of one name: one wins': async (t) => {
      const all = configMapsIn(await t.namespace())
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () => t.quiet('POST', all, { body: configMap('a') })),
      )
      t.see('statuses', outcomes.map(({ status }) => status).sort())
    },
    'appliers at once: all land': async (t) => {
      const one = await scene(t)
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          t.quiet('PATCH', one, {
            type: 'application/apply-patch+yaml',
            query: { fieldManager: `m${i}` },
            body: configMap('a', { [`k${i}`]: 'v' }),
          }),
        ),
      )
      t.see(
        'statuses',
        outcomes.map(({ status }) => (status < 300 ? 'fine' : status)),
      )
      await t.get(one, { pick: (body) => [Object.keys(body.data).sort(), body.metadata.managedFields.length] })
    },
  },
  { managedFields: true },
)
