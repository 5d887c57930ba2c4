import { APPLY_PATCH, type Case } from './harness/case.js'
import { CRDS, type Definition, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const spec = (properties: Record<string, Loose>, more: object = {}) => ({
  spec: { type: 'object', properties, ...more },
})
const specOf = (body: Loose) => (body.kind === 'Status' ? body : (body.spec ?? null))

/** Changes the schema of a registered CRD and waits until it is in effect. */
async function reschema(
  t: Case,
  widgets: Definition,
  properties: Record<string, Loose>,
  inForce: () => Promise<boolean>,
): Promise<void> {
  const value = { type: 'object', properties }
  const body = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value }]
  await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, { type: 'application/json-patch+json', body })
  const deadline = Date.now() + 120_000
  while (!(await inForce())) if (Date.now() > deadline) throw new Error('the new schema is not in force')
}

conformance('defaulting', {
  'on create, where nothing is given': async (t) => {
    const widgets = await define(t, {
      properties: spec({
        s: { type: 'string', default: 'x' },
        n: { type: 'integer', default: 0 },
        b: { type: 'boolean', default: false },
        l: { type: 'array', items: { type: 'string' }, default: [] },
        o: { type: 'object', default: {} },
      }),
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: {} }), { pick: specOf })
    await t.post(all, widgets.object('b'), { pick: specOf })
    await t.post(all, widgets.object('c', { spec: { s: '', n: 5, b: true, l: ['y'], o: {} } }), { pick: specOf })
    await t.post(all, widgets.object('d', { spec: { s: null, n: null } }), { pick: specOf })
  },
  'null is kept where nullable, replaced by the default where not': async (t) => {
    const widgets = await define(t, {
      properties: spec({
        yes: { type: 'string', nullable: true, default: 'x' },
        no: { type: 'string', default: 'x' },
        bare: { type: 'string' },
        bareYes: { type: 'string', nullable: true },
      }),
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { yes: null, no: null, bare: null, bareYes: null } }),
      { pick: specOf },
    )
  },
  'defaults bring their own defaults': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          default: {},
          properties: { a: { type: 'object', default: {}, properties: { b: { type: 'string', default: 'deep' } } } },
        },
      },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a'), { pick: specOf })
  },
  'inside lists and maps': async (t) => {
    const inner = { type: 'object', properties: { n: { type: 'integer', default: 7 }, m: { type: 'string' } } }
    const widgets = await define(t, {
      properties: spec({
        list: { type: 'array', items: inner },
        map: { type: 'object', additionalProperties: inner },
        lists: { type: 'array', items: { type: 'array', items: inner } },
      }),
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { list: [{}, { n: 1 }], map: { x: {}, y: { m: 'z' } }, lists: [[{}]] } }),
      { pick: specOf },
    )
  },
  'not through unknown fields': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { n: { type: 'integer', default: 1 } } } },
        },
      },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { known: {}, unknown: {} } }), {
      pick: specOf,
    })
  },
  'on update, patch and apply': async (t) => {
    const widgets = await define(t, {
      properties: spec({ s: { type: 'string', default: 'x' }, other: { type: 'string' } }),
    })
    const all = widgets.path(await t.namespace())
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { s: 'mine' } }) })
    await t.put(`${all}/a`, { ...made.body, spec: { other: 'o' } }, { pick: specOf })
    await t.mergePatch(`${all}/a`, { spec: { s: 'mine' } }, { pick: specOf })
    await t.mergePatch(`${all}/a`, { spec: { s: null } }, { pick: specOf })
    await t.ask('PATCH', `${all}/b`, {
      type: APPLY_PATCH,
      query: { fieldManager: 'm' },
      body: widgets.object('b', { spec: { other: 'o' } }),
      pick: specOf,
    })
  },
  'status gets defaults too': async (t) => {
    const widgets = await define(t, {
      properties: {
        ...spec({ n: { type: 'integer', default: 1 } }),
        status: {
          type: 'object',
          default: { phase: 'New' },
          properties: { phase: { type: 'string', default: 'Old' }, more: { type: 'integer', default: 3 } },
        },
      },
      version: { subresources: { status: {} } },
    })
    const all = widgets.path(await t.namespace())
    const pick = (body: Loose) => ({ spec: body.spec, status: body.status })
    await t.post(all, widgets.object('a', { spec: {} }), { pick })
    await t.mergePatch(`${all}/a/status`, { status: { phase: 'Set' } }, { pick })
    await t.mergePatch(`${all}/a/status`, { status: null }, { pick })
  },
  'a default added later shows on objects already there': async (t) => {
    const widgets = await define(t, { properties: spec({ a: { type: 'string' } }) })
    const all = widgets.path(await t.namespace())
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { a: '1' } }) })
    const read = async () => (await t.must('GET', `${all}/a`)).body
    await reschema(
      t,
      widgets,
      spec({ a: { type: 'string' }, b: { type: 'string', default: 'late' } }),
      async () => (await read()).spec.b === 'late',
    )
    t.see('get', {
      spec: (await read()).spec,
      same: (await read()).metadata.resourceVersion === made.body.metadata.resourceVersion,
      generation: (await read()).metadata.generation,
    })
    await t.get(all, { pick: (body) => body.items.map(specOf) })
    const watch = await t.watch(all)
    t.see(
      'watch',
      (await watch.take(1)).map(({ object }) => object.spec),
    )
    await t.mergePatch(
      `${all}/a`,
      { metadata: { labels: { l: 'x' } } },
      { pick: (body) => [body.spec, body.metadata.generation] },
    )
    await reschema(
      t,
      widgets,
      spec({ a: { type: 'string' }, b: { type: 'string' } }),
      async () =>
        (await t.must('POST', `${all}?dryRun=All`, { body: widgets.object('probe', { spec: {} }) })).body.spec.b ===
        undefined,
    )
    await t.get(`${all}/a`, { pick: specOf })
  },
  'a default removed later shows no more on objects that never stored it': async (t) => {
    const widgets = await define(t, { properties: spec({ a: { type: 'string' } }) })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { a: '1' } }) })
    const b = async () => (await t.must('GET', `${all}/a`)).body.spec.b
    await reschema(
      t,
      widgets,
      spec({ a: { type: 'string' }, b: { type: 'string', default: 'late' } }),
      async () => (await b()) === 'late',
    )
    await reschema(
      t,
      widgets,
      spec({ a: { type: 'string' }, b: { type: 'string' } }),
      async () => (await b()) === undefined,
    )
    await t.get(`${all}/a`, { pick: specOf })
  },
  'of embedded resources': async (t) => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        apiVersion: { type: 'string', default: 'v1' },
        kind: { type: 'string', default: 'Thing' },
        metadata: { type: 'object', properties: { name: { type: 'string', default: 'named' } } },
        n: { type: 'integer', default: 1 },
      },
    }
    const widgets = await define(t, { properties: spec({ template: embedded }) })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: { template: {} } }), { pick: specOf })
    await t.post(all, widgets.object('b', { spec: { template: { metadata: {} } } }), { pick: specOf })
  },
  'of embedded resources never bring what is no metadata': async (t) => {
    const embedded = (properties: Record<string, Loose>, more: object = {}) => ({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties,
      ...more,
    })
    const text = (value: string) => ({ type: 'string', default: value })
    const type = { apiVersion: text('v1'), kind: text('Thing') }
    const metadata = { name: 'named', nonsense: 'x', labels: { a: 'b' } }
    const whole = { apiVersion: 'v1', kind: 'Thing', metadata }
    const note = { note: { type: 'string' } }
    const keeps = { 'x-kubernetes-preserve-unknown-fields': true }
    const widgets = await define(t, {
      scope: 'Cluster',
      properties: spec({
        byField: embedded({
          ...type,
          metadata: { type: 'object', properties: { name: text('named'), nonsense: text('x') } },
        }),
        byMetadata: embedded({ ...type, metadata: { type: 'object', default: metadata } }),
        whole: embedded(note, { default: whole }),
        keeping: embedded(note, { default: whole, ...keeps }),
        around: { type: 'object', properties: { inner: embedded(note) }, default: { inner: whole } },
        listed: { type: 'array', items: embedded({ ...type, metadata: { type: 'object', default: metadata } }) },
        mapped: {
          type: 'object',
          additionalProperties: embedded({ ...type, metadata: { type: 'object', default: metadata } }),
        },
      }),
    })
    const given = {
      byField: { metadata: {} },
      byMetadata: {},
      listed: [{}, { metadata: { nonsense: 'y' } }],
      mapped: { m: {} },
    }
    await t.post(widgets.path(), widgets.object('a', { spec: given }), { pick: specOf })
    await t.get(`${widgets.path()}/a`, { pick: specOf })
  },
  'metadata is never defaulted at the root': async (t) => {
    const crd = (metadata: Loose) => ({ type: 'object', properties: { metadata } })
    const widgets = await define(t)
    const path = `${CRDS}/${widgets.crd.metadata.name}`
    const change = (value: Loose) => [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value }]
    await t.jsonPatch(path, change(crd({ type: 'object', default: { name: 'x' } })))
    await t.jsonPatch(path, change(crd({ type: 'object', properties: { name: { type: 'string', default: 'x' } } })))
  },
  'a dry run shows the defaults': async (t) => {
    const widgets = await define(t, { properties: spec({ s: { type: 'string', default: 'x' } }) })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: {} }), {
      query: { dryRun: 'All' },
      pick: specOf,
    })
  },
  'each version has its own': async (t) => {
    const version = (name: string, value: string) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: spec({
            s: { type: 'string', default: value },
            only: { type: 'string', ...(name === 'v2' ? { default: 'two' } : {}) },
          }),
        },
      },
    })
    const widgets = await define(t, { versions: [version('v1', 'one'), version('v2', 'two')] })
    const ns = await t.namespace()
    await t.post(widgets.path(ns, 'v1'), widgets.object('a', { spec: {} }, 'v1'), { pick: specOf })
    await t.get(`${widgets.path(ns, 'v2')}/a`, { pick: specOf })
    await t.post(widgets.path(ns, 'v2'), widgets.object('b', { spec: {} }, 'v2'), { pick: specOf })
    await t.get(`${widgets.path(ns, 'v1')}/b`, { pick: specOf })
  },
  'a dry run shows the defaults of the stored version': async (t) => {
    const version = (name: string, value?: string) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: spec({ s: { type: 'string', default: value } }) } },
    })
    const widgets = await define(t, { versions: [version('v1', 'one'), version('v2'), version('v3', 'three')] })
    const ns = await t.namespace()
    const dry = { query: { dryRun: 'All' }, pick: specOf }
    for (const name of ['v1', 'v2', 'v3']) {
      const path = widgets.path(ns, name)
      await t.post(path, widgets.object('a', { spec: {} }, name), dry)
      await t.apply(`${path}/a`, 'alice', widgets.object('a', { spec: {} }, name), dry)
    }
    await t.post(widgets.path(ns, 'v1'), widgets.object('b', { spec: { s: 'given' } }, 'v1'), { pick: specOf })
    await t.mergePatch(`${widgets.path(ns, 'v2')}/b`, { spec: { s: null } }, dry)
  },
  'a status that nobody sent': async (t) => {
    const status = {
      type: 'object',
      default: { phase: 'Waiting' },
      properties: { phase: { type: 'string' }, n: { type: 'integer', default: 3 } },
    }
    const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } }
    const properties = { ...spec({ s: { type: 'string' } }), status }
    const widgets = await define(t, {
      versions: [{ ...version, schema: { openAPIV3Schema: { type: 'object', properties } } }],
    })
    const path = widgets.path(await t.namespace())
    const pick = (body: Loose) => ({ spec: body.spec, status: body.status })
    const sent = { spec: { s: 'a' }, status: { phase: 'Mine' } }
    await t.post(path, widgets.object('a', sent), { query: { dryRun: 'All' }, pick })
    await t.apply(`${path}/a`, 'alice', widgets.object('a', { spec: { s: 'a' } }), { query: { dryRun: 'All' }, pick })
    await t.post(path, widgets.object('a', sent), { pick })
    await t.get(`${path}/a`, { pick })
    await t.mergePatch(`${path}/a`, { spec: { s: 'b' } }, { query: { dryRun: 'All' }, pick })
    await t.mergePatch(`${path}/a/status`, { status: null }, { pick })
  },
  'built-in kinds': async (t) => {
    const ns = await t.namespace()
    await t.post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'a' }, stringData: { k: 'v' } })
    await t.post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'a' },
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: ns },
      ],
    })
  },
})
