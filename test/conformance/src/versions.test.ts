import type { Case } from './harness/case.js'
import { CRDS, type Definition, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'
import { serveWebhook } from './harness/webhook.js'

const open = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
}
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: open,
  ...more,
})

/** Converts by renaming `spec.v1` to `spec.v2` and back, like a webhook. */
const convert = (review: Loose, change: (object: Loose) => Loose = (object) => object): Loose => ({
  apiVersion: review.apiVersion,
  kind: review.kind,
  response: {
    uid: review.request.uid,
    result: { status: 'Success' },
    convertedObjects: review.request.objects.map((object: Loose) => {
      const [from, to] = [object.apiVersion.split('/')[1], review.request.desiredAPIVersion.split('/')[1]]
      const { [`at-${from}`]: value, ...rest } = object.spec ?? {}
      return change({
        ...object,
        apiVersion: review.request.desiredAPIVersion,
        spec: value === undefined ? rest : { ...rest, [`at-${to}`]: value },
      })
    }),
  },
})

async function withWebhook(
  t: Case,
  answer: (review: Loose) => Loose,
): Promise<{ widgets: Definition; requests: Loose[] }> {
  const { url, caBundle, requests } = await serveWebhook(t, answer)
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: `${url}/convert`, caBundle }, conversionReviewVersions: ['v1', 'v1beta1'] },
  }
  const widgets = await define(t, { versions: [version('v1'), version('v2')], spec: { conversion } })
  return { widgets, requests }
}

/** Reads the object in v2 after a write in v1, so that no cached conversion is returned. */
function reader(t: Case, widgets: Definition, namespace: string): () => Promise<void> {
  let count = 0
  return async () => {
    const type = 'application/merge-patch+json'
    await t.must('PATCH', `${widgets.path(namespace, 'v1')}/a`, { type, body: { spec: { count: ++count } } })
    await t.get(`${widgets.path(namespace, 'v2')}/a`)
  }
}

conformance('versions', {
  'one object in every version, strategy None': async (t) => {
    const widgets = await define(t, { versions: [version('v1'), version('v2'), version('v3', { served: false })] })
    const ns = await t.namespace()
    await t.post(widgets.path(ns, 'v1'), widgets.object('a', { spec: { n: 1 } }, 'v1'))
    await t.get(`${widgets.path(ns, 'v2')}/a`)
    await t.get(widgets.path(ns, 'v2'))
    await t.get(`${widgets.path(ns, 'v3')}/a`)
    await t.mergePatch(`${widgets.path(ns, 'v2')}/a`, { spec: { m: 2 } })
    await t.get(`${widgets.path(ns, 'v1')}/a`)
  },
  'a body of another version than the path': async (t) => {
    const widgets = await define(t, { versions: [version('v1'), version('v2')] })
    await t.post(widgets.path(await t.namespace(), 'v1'), widgets.object('a', {}, 'v2'))
  },
  'each version prunes by its own schema': async (t) => {
    const only = (field: string) => ({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { [field]: { type: 'string' }, both: { type: 'string' } } },
          },
        },
      },
    })
    const widgets = await define(t, { versions: [version('v1', only('one')), version('v2', only('two'))] })
    const ns = await t.namespace()
    const pick = (body: Loose) => body.spec
    await t.post(widgets.path(ns, 'v1'), widgets.object('a', { spec: { one: '1', two: '2', both: '3' } }, 'v1'), {
      pick,
    })
    await t.get(`${widgets.path(ns, 'v2')}/a`, { pick })
    await t.mergePatch(`${widgets.path(ns, 'v2')}/a`, { spec: { two: '2' } }, { pick })
    await t.get(`${widgets.path(ns, 'v1')}/a`, { pick })
  },
  'each version validates by its own schema': async (t) => {
    const bound = (maximum: number) => ({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { n: { type: 'integer', maximum } } } },
        },
      },
    })
    const widgets = await define(t, { versions: [version('v1', bound(10)), version('v2', bound(5))] })
    const ns = await t.namespace()
    await t.post(widgets.path(ns, 'v2'), widgets.object('a', { spec: { n: 7 } }, 'v2'))
    await t.post(widgets.path(ns, 'v1'), widgets.object('a', { spec: { n: 7 } }, 'v1'), { pick: (body) => body.spec })
    await t.get(`${widgets.path(ns, 'v2')}/a`, { pick: (body) => body.spec })
    await t.mergePatch(
      `${widgets.path(ns, 'v2')}/a`,
      { metadata: { labels: { l: 'x' } } },
      { pick: (body) => body.metadata?.labels ?? body },
    )
  },
  'deprecated versions warn': async (t) => {
    const widgets = await define(t, {
      versions: [
        version('v1'),
        version('v1beta1', { deprecated: true }),
        version('v1alpha1', { deprecated: true, deprecationWarning: 'do not use' }),
      ],
    })
    const ns = await t.namespace()
    const pick = (body: Loose) => body.kind
    await t.post(widgets.path(ns, 'v1beta1'), widgets.object('a', {}, 'v1beta1'), { pick })
    await t.get(`${widgets.path(ns, 'v1beta1')}/a`, { pick })
    await t.get(widgets.path(ns, 'v1alpha1'), { pick })
    await t.get(`${widgets.path(ns, 'v1')}/a`, { pick })
    await t.get(`${widgets.path(ns, 'v1alpha1')}/missing`, { pick })
  },
  'a version that is no longer served': async (t) => {
    const widgets = await define(t, { versions: [version('v1'), version('v2')] })
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', {}, 'v1') })
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/merge-patch+json',
      body: { spec: { versions: [version('v1', { served: false }), version('v2')] } },
    })
    await t.until(widgets.path(ns, 'v1'), ({ status }) => status === 404)
    await t.get(`${widgets.path(ns, 'v1')}/a`)
    await t.get(`${widgets.path(ns, 'v2')}/a`)
  },
  'a change of the storage version rewrites objects as they are written': async (t) => {
    const widgets = await define(t, { versions: [version('v1'), version('v2')] })
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', {}, 'v1') })
    const before = (await t.must('GET', `${widgets.path(ns, 'v1')}/a`)).body.metadata.resourceVersion
    const crd = `${CRDS}/${widgets.crd.metadata.name}`
    await t.mergePatch(
      crd,
      { spec: { versions: [version('v1', { storage: false }), version('v2', { storage: true })] } },
      { pick: (body) => body.status.storedVersions },
    )
    await t.until(`${widgets.path(ns, 'v2')}/a`, ({ status }) => status === 200)
    const touched = await t.until(`${widgets.path(ns, 'v2')}/a`, ({ status }) => status === 200)
    t.see('read', { apiVersion: touched.body.apiVersion, same: touched.body.metadata.resourceVersion === before })
  },
  'webhook: converts on read and write': async (t) => {
    const { widgets, requests } = await withWebhook(t, convert)
    const ns = await t.namespace()
    await t.post(widgets.path(ns, 'v2'), widgets.object('a', { spec: { 'at-v2': 'x' } }, 'v2'))
    await t.get(`${widgets.path(ns, 'v1')}/a`)
    await t.get(`${widgets.path(ns, 'v2')}/a`)
    t.see(
      'a review',
      requests.map(({ apiVersion, kind, request }) => ({
        apiVersion,
        kind,
        to: request.desiredAPIVersion,
        fields: Object.keys(request).sort(),
      }))[0],
    )
  },
  'webhook: a list is converted': async (t) => {
    const { widgets } = await withWebhook(t, convert)
    const ns = await t.namespace()
    for (const name of ['a', 'b', 'c']) {
      await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object(name, { spec: { 'at-v1': name } }, 'v1') })
    }
    const pick = (body: Loose) => body.items.map((item: Loose) => [item.apiVersion, item.spec])
    await t.get(widgets.path(ns, 'v2'), { pick })
    await t.get(widgets.path(ns, 'v1'), { pick })
  },
  'webhook: a watch is converted': async (t) => {
    const { widgets } = await withWebhook(t, convert)
    const ns = await t.namespace()
    const { resourceVersion } = (await t.must('GET', widgets.path(ns, 'v2'))).body.metadata
    const watch = await t.watch(widgets.path(ns, 'v2'), { resourceVersion })
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: { 'at-v1': 'x' } }, 'v1') })
    t.see(
      'event',
      (await watch.take(1)).map(({ type, object }) => [type, object.apiVersion, object.spec]),
    )
  },
  'webhook: may change labels and annotations, nothing else of metadata': async (t) => {
    let change = (object: Loose) => object
    const { widgets } = await withWebhook(t, (review) => convert(review, (object) => change(object)))
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: {} }, 'v1') })
    const read = reader(t, widgets, ns)
    const metadata = (more: object) => (object: Loose) => ({ ...object, metadata: { ...object.metadata, ...more } })
    change = metadata({ labels: { l: 'x' }, annotations: { n: 'y' } })
    await read()
    change = metadata({ name: 'other' })
    await read()
    change = metadata({ uid: 'other' })
    await read()
    change = metadata({ finalizers: ['x.io/f'], creationTimestamp: '2001-01-01T00:00:00Z' })
    await read()
    change = metadata({ labels: { 'bad key': 'x' } })
    await read()
    change = (object) => ({ ...object, kind: 'Other' })
    await read()
    change = (object) => ({ ...object, apiVersion: 'v9' })
    await read()
  },
  'webhook: failures': async (t) => {
    let answer: (review: Loose) => Loose = convert
    const { widgets } = await withWebhook(t, (review) => answer(review))
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: {} }, 'v1') })
    const read = reader(t, widgets, ns)
    answer = () => 500
    await read()
    answer = () => 'nonsense'
    await read()
    answer = (review) => ({
      ...convert(review),
      response: { ...convert(review).response, result: { status: 'Failure', message: 'cannot do it' } },
    })
    await read()
    answer = (review) => ({
      ...convert(review),
      response: { ...convert(review).response, result: { status: 'Failure' } },
    })
    await read()
    answer = (review) => ({ ...convert(review), response: { ...convert(review).response, uid: 'other' } })
    await read()
    answer = (review) => ({ ...convert(review), response: { ...convert(review).response, convertedObjects: [] } })
    await read()
    answer = (review) => ({ ...convert(review), apiVersion: 'apiextensions.k8s.io/v9' })
    await read()
    answer = (review) => ({ ...convert(review), response: undefined })
    await read()
    await t.post(widgets.path(ns, 'v2'), widgets.object('b', { spec: {} }, 'v2'))
    await t.get(widgets.path(ns, 'v2'))
    await t.get(`${widgets.path(ns, 'v1')}/a`, { pick: (body) => body.kind })
  },
  'webhook: answers that are no success': async (t) => {
    let answer: (review: Loose) => Loose = convert
    const { widgets } = await withWebhook(t, (review) => answer(review))
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: {} }, 'v1') })
    const read = reader(t, widgets, ns)
    for (const status of [400, 401, 403, 404, 405, 406, 409, 410, 415, 418, 422, 501, 502, 503, 504]) {
      answer = () => status
      await read()
    }
  },
  'webhook: what cannot be converted is told before that the name is taken': async (t) => {
    let answer: (review: Loose) => Loose = convert
    const { widgets } = await withWebhook(t, (review) => answer(review))
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: {} }, 'v1') })
    await t.post(widgets.path(ns, 'v2'), widgets.object('a', { spec: {} }, 'v2'))
    answer = () => 422
    await t.post(widgets.path(ns, 'v2'), widgets.object('a', { spec: {} }, 'v2'))
    await t.post(widgets.path(ns, 'v2'), widgets.object('a', { spec: {} }, 'v2'), { query: { dryRun: 'All' } })
    await t.post(widgets.path(ns, 'v1'), widgets.object('a', { spec: {} }, 'v1'))
  },
  'webhook: a certificate that is not trusted': async (t) => {
    const { url } = await serveWebhook(t, convert)
    const conversion = (caBundle?: string) => ({
      strategy: 'Webhook',
      webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] },
    })
    const widgets = await define(t, { versions: [version('v1'), version('v2')], spec: { conversion: conversion() } })
    const ns = await t.namespace()
    await t.must('POST', widgets.path(ns, 'v1'), { body: widgets.object('a', { spec: {} }, 'v1') })
    await t.get(`${widgets.path(ns, 'v2')}/a`)
    const crd = `${CRDS}/${widgets.crd.metadata.name}`
    await t.mergePatch(crd, { spec: { conversion: conversion(Buffer.from('nonsense').toString('base64')) } })
  },
})
