import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import { conformance } from './harness/suite.js'

const properties = {
  spec: { type: 'object', properties: { n: { type: 'integer', maximum: 9 }, replicas: { type: 'integer' } } },
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string', enum: ['Good', 'Bad'] },
      replicas: { type: 'integer' },
      selector: { type: 'string' },
    },
  },
}

async function withStatus(t: Case) {
  const widgets = await define(t, { properties, version: { subresources: { status: {} } } })
  const all = widgets.path(await t.namespace())
  return { widgets, all, one: `${all}/a` }
}

async function withScale(t: Case, scale: object = {}) {
  const subresources = {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
      ...scale,
    },
  }
  const widgets = await define(t, { properties, version: { subresources } })
  const all = widgets.path(await t.namespace())
  return { widgets, all, one: `${all}/a`, scale: `${all}/a/scale` }
}

conformance('subresources', {
  'token and finalize belong to service accounts and namespaces only': async (t) => {
    const namespace = await t.namespace()
    const widgets = await define(t, { properties })
    const all = widgets.path(namespace)
    const one = `${all}/a`
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.put(`${one}/finalize`, { ...made.body, spec: { n: 2 } })
    await t.get(one)
    const maps = `/api/v1/namespaces/${namespace}/configmaps`
    const map = await t.must('POST', maps, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'default' } },
    })
    await t.put(`${maps}/default/finalize`, { ...map.body, data: { changed: '' } })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    await t.post(`${maps}/default/token`, request)
    await t.post(`${one}/token`, request)
  },
  'status: create ignores it': async (t) => {
    const { widgets, all } = await withStatus(t)
    await t.post(all, widgets.object('a', { spec: { n: 1 }, status: { phase: 'Good' } }))
  },
  'status: the main endpoint ignores it, its own ignores the rest': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.put(`${one}/status`, { ...made.body, spec: { n: 5 }, status: { phase: 'Good' } })
    const now = await t.get(one)
    await t.put(one, { ...now.body, spec: { n: 2 }, status: { phase: 'Bad' } })
    await t.get(`${one}/status`)
  },
  'status: patches': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.mergePatch(`${one}/status`, { spec: { n: 5 }, status: { phase: 'Good' } })
    await t.jsonPatch(`${one}/status`, [{ op: 'replace', path: '/status/phase', value: 'Bad' }])
    await t.mergePatch(one, { status: { phase: 'Good' } })
    await t.mergePatch(`${one}/status`, { status: null })
    await t.strategicPatch(`${one}/status`, {})
  },
  'status: metadata through it': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.must('POST', all, { body: widgets.object('a') })
    await t.mergePatch(`${one}/status`, {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['x.io/f'] },
      status: { phase: 'Good' },
    })
    await t.get(one)
  },
  'status: does not count as a generation': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.mergePatch(`${one}/status`, { status: { phase: 'Good' } }, { pick: (body) => body.metadata.generation })
    await t.mergePatch(one, { spec: { n: 2 } }, { pick: (body) => body.metadata.generation })
    await t.mergePatch(one, { metadata: { labels: { x: 'y' } } }, { pick: (body) => body.metadata.generation })
  },
  'status: is validated, and the rest with it': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.mergePatch(`${one}/status`, { status: { phase: 'Ugly' } })
    await t.mergePatch(`${one}/status`, { status: { phase: 5 } })
    await t.mergePatch(`${one}/status`, { status: { phase: 'Good', unknown: 1 } })
    await t.mergePatch(
      `${one}/status`,
      { status: { phase: 'Good', unknown: 1 } },
      { query: { fieldValidation: 'Strict' } },
    )
  },
  'status: optimistic concurrency': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    const made = await t.must('POST', all, { body: widgets.object('a') })
    await t.put(`${one}/status`, { ...made.body, status: { phase: 'Good' } })
    await t.put(`${one}/status`, { ...made.body, status: { phase: 'Bad' } })
    await t.put(`${one}/status`, widgets.object('a', { status: { phase: 'Bad' } }))
  },
  'status: of what is not there, and verbs that it has not': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.get(`${one}/status`)
    await t.put(`${one}/status`, widgets.object('a'))
    await t.mergePatch(`${one}/status`, {})
    await t.must('POST', all, { body: widgets.object('a') })
    await t.post(`${one}/status`, widgets.object('a'))
    await t.delete(`${one}/status`)
  },
  'status: dry run': async (t) => {
    const { widgets, all, one } = await withStatus(t)
    await t.must('POST', all, { body: widgets.object('a') })
    await t.mergePatch(`${one}/status`, { status: { phase: 'Good' } }, { query: { dryRun: 'All' } })
    await t.get(one)
  },
  'status: without the subresource it is a field like any other': async (t) => {
    const widgets = await define(t, { properties })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { status: { phase: 'Good' } }))
    await t.get(`${all}/a/status`)
    await t.put(`${all}/a/status`, widgets.object('a'))
    await t.mergePatch(
      `${all}/a`,
      { status: { phase: 'Bad' } },
      { pick: (body) => [body.metadata.generation, body.status] },
    )
  },
  'status: of a namespace': async (t) => {
    const ns = await t.namespace()
    await t.get(`/api/v1/namespaces/${ns}/status`)
    await t.mergePatch(`/api/v1/namespaces/${ns}/status`, {
      status: { conditions: [{ type: 'X', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }] },
    })
    await t.mergePatch(`/api/v1/namespaces/${ns}`, { status: { conditions: null } })
  },
  'scale: reads the paths': async (t) => {
    const { widgets, all, one, scale } = await withScale(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 3 } }) })
    await t.get(scale)
    await t.must('PATCH', `${one}/status`, {
      type: 'application/merge-patch+json',
      body: { status: { replicas: 2, selector: 'app=x' } },
    })
    await t.get(scale)
  },
  'scale: put and patch': async (t) => {
    const { widgets, all, one, scale } = await withScale(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 3, n: 1 } }) })
    const now = await t.must('GET', scale)
    await t.put(scale, { ...now.body, spec: { replicas: 5 } })
    await t.put(scale, { ...now.body, spec: { replicas: 6 } })
    await t.mergePatch(scale, { spec: { replicas: 7 } })
    await t.jsonPatch(scale, [{ op: 'replace', path: '/spec/replicas', value: 8 }])
    await t.get(one)
    await t.strategicPatch(scale, { spec: { replicas: 9 } })
  },
  'scale: without metadata': async (t) => {
    const { widgets, all, scale } = await withScale(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 1 } }) })
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 3 } }
    await t.put(scale, body)
    await t.mergePatch(scale, { metadata: null })
    await t.apply(scale, 'm', body)
    await t.apply(scale, 'm', body, { query: { force: true } })
  },
  'scale: what is refused': async (t) => {
    const { widgets, all, scale } = await withScale(t)
    await t.get(scale)
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 3 } }) })
    await t.mergePatch(scale, { spec: { replicas: -1 } })
    await t.mergePatch(scale, { spec: { replicas: 'x' } })
    await t.put(scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'b' }, spec: { replicas: 1 } })
    await t.put(scale, widgets.object('a'))
    await t.put(scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 1 } })
    await t.delete(scale)
  },
  'scale: without replicas in the object': async (t) => {
    const { widgets, all, scale } = await withScale(t)
    await t.must('POST', all, { body: widgets.object('a') })
    await t.get(scale)
    await t.mergePatch(scale, { spec: { replicas: 2 } })
  },
  'scale: without a selector path': async (t) => {
    const { widgets, all, scale } = await withScale(t, { labelSelectorPath: undefined })
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 1 } }) })
    await t.get(scale)
  },
  'scale: apply': async (t) => {
    const { widgets, all, one, scale } = await withScale(t)
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 1 } }) })
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 4 } }
    await t.apply(scale, 'scaler', body, { query: { force: true } })
    await t.get(one, {
      pick: (object) =>
        object.metadata.managedFields.map((entry: { manager: string; fieldsV1: object; subresource?: string }) => [
          entry.manager,
          entry.subresource ?? '',
          entry.fieldsV1,
        ]),
    })
    await t.apply(scale, 'other', { ...body, spec: { replicas: 5 } })
  },
  'scale: not enabled': async (t) => {
    const widgets = await define(t, { properties })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { replicas: 1 } }) })
    await t.get(`${all}/a/scale`)
    await t.mergePatch(`${all}/a/scale`, {})
  },
})
