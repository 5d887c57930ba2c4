import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const preserve = { 'x-kubernetes-preserve-unknown-fields': true }
const specOf = (body: Loose) => (body.kind === 'Status' ? body : body.spec)
const nested = {
  spec: {
    type: 'object',
    properties: {
      a: { type: 'string' },
      o: { type: 'object', properties: { b: { type: 'string' } } },
      l: { type: 'array', items: { type: 'object', properties: { c: { type: 'string' } } } },
      m: { type: 'object', additionalProperties: { type: 'object', properties: { d: { type: 'string' } } } },
    },
  },
}
const full = { a: '1', x: '2', o: { b: '3', x: '4' }, l: [{ c: '5', x: '6' }], m: { k: { d: '7', x: '8' } } }

conformance('pruning', {
  'on create': async (t) => {
    const widgets = await define(t, { properties: nested })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: full, extra: 1 }), {
      pick: ({ metadata: _, ...rest }) => rest,
    })
  },
  'on update and patch': async (t) => {
    const widgets = await define(t, { properties: nested })
    const all = widgets.path(await t.namespace())
    const made = await t.must('POST', all, { body: widgets.object('a') })
    await t.put(`${all}/a`, { ...made.body, spec: full }, { pick: specOf })
    await t.mergePatch(
      `${all}/a`,
      { spec: { y: 1, o: { y: 1 } } },
      { pick: (body) => [body.spec, body.metadata.generation] },
    )
    await t.jsonPatch(`${all}/a`, [{ op: 'add', path: '/spec/z', value: 1 }], {
      pick: (body) => [body.spec, body.metadata.generation],
    })
    await t.apply(`${all}/a`, 'm', widgets.object('a', { spec: { a: '1', y: 1 } }), {
      query: { force: true },
      pick: specOf,
    })
  },
  'on status': async (t) => {
    const widgets = await define(t, {
      properties: { status: { type: 'object', properties: { p: { type: 'string' } } } },
      version: { subresources: { status: {} } },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a') })
    await t.mergePatch(`${all}/a/status`, { status: { p: 'x', q: 'y' } }, { pick: (body) => body.status })
  },
  'preserve keeps unknown fields at its level and below': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          ...preserve,
          properties: {
            known: { type: 'object', properties: { a: { type: 'string' } } },
            loose: { type: 'object', ...preserve },
          },
        },
      },
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { x: { y: 1 }, known: { a: '1', x: 2 }, loose: { z: 3 } } }),
      { pick: specOf },
    )
  },
  'preserve at the root': async (t) => {
    const widgets = await define(t, {
      schema: {
        type: 'object',
        ...preserve,
        properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { a: '1', x: 2 }, other: { y: 1 } }), {
      pick: ({ metadata: _, ...rest }) => rest,
    })
  },
  'a schema without properties keeps nothing': async (t) => {
    const widgets = await define(t, { properties: { spec: { type: 'object' } } })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { a: '1' } }), { pick: specOf })
  },
  'additionalProperties keep values': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            any: { type: 'object', additionalProperties: true },
            strings: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { any: { a: { b: 1 } }, strings: { x: 'y' } } }),
      { pick: specOf },
    )
  },
  'items of lists of objects under preserve': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          ...preserve,
          properties: {
            l: {
              type: 'array',
              items: {
                type: 'object',
                ...preserve,
                properties: { k: { type: 'object', properties: { a: { type: 'string' } } } },
              },
            },
          },
        },
      },
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { l: [{ k: { a: '1', x: 2 }, y: 3 }], z: [{ q: 1 }] } }),
      { pick: specOf },
    )
  },
  'embedded resources keep apiVersion, kind and metadata': async (t) => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
    }
    const widgets = await define(t, {
      properties: { spec: { type: 'object', properties: { one: embedded, many: { type: 'array', items: embedded } } } },
    })
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', labels: { l: 'x' }, unknown: 1 },
      spec: { a: '1', x: 2 },
      status: {},
    }
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { one: object, many: [object] } }), {
      pick: specOf,
    })
  },
  'metadata keeps only what metadata has': async (t) => {
    const widgets = await define(t, { schema: { type: 'object', ...preserve } })
    await t.post(
      widgets.path(await t.namespace()),
      { ...widgets.object('a'), metadata: { name: 'a', unknown: 'x', labels: { a: 'b' } } },
      { pick: (body) => Object.keys(body.metadata).sort() },
    )
  },
  'what is stored is pruned when read': async (t) => {
    const widgets = await define(t, { properties: { spec: { type: 'object', ...preserve } } })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { a: '1', x: 2 } }) })
    const value = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value }],
    })
    await t.until(`${all}/a`, ({ body }) => body.spec?.x === undefined)
    await t.get(`${all}/a`, { pick: (body) => [body.spec, body.metadata.generation] })
    await t.get(all, { pick: (body) => body.items.map(specOf) })
    await t.mergePatch(
      `${all}/a`,
      { metadata: { labels: { l: 'x' } } },
      { pick: (body) => [body.spec, body.metadata.generation] },
    )
  },
  'int-or-string and nullable objects': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            n: { 'x-kubernetes-int-or-string': true },
            o: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
          },
        },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: { n: '5%', o: null } }), { pick: specOf })
    await t.post(all, widgets.object('b', { spec: { n: 5, o: { a: '1', x: 2 } } }), { pick: specOf })
  },
})
