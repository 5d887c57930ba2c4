import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const owner = (object: Loose, more: object = {}) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...more,
})

async function family(t: Case, more: object = {}) {
  const all = configMapsIn(await t.namespace())
  const parent = (await t.must('POST', all, { body: configMap('parent') })).body
  for (const name of ['a', 'b'])
    await t.must('POST', all, { body: configMap(name, {}, { ownerReferences: [owner(parent, more)] }) })
  return { all, parent }
}
const gone = (t: Case, path: string) => t.until(path, ({ status }) => status === 404)

conformance('garbage', {
  'background: dependents follow': async (t) => {
    const { all } = await family(t)
    await t.delete(`${all}/parent`, { propagationPolicy: 'Background' }, { pick: (body) => body.status ?? body.kind })
    for (const name of ['a', 'b']) await gone(t, `${all}/${name}`)
  },
  'background is the default': async (t) => {
    const { all } = await family(t)
    await t.delete(`${all}/parent`, undefined, { pick: (body) => body.status ?? body.kind })
    for (const name of ['a', 'b']) await gone(t, `${all}/${name}`)
  },
  'orphan: dependents stay without the owner': async (t) => {
    const { all } = await family(t)
    await t.delete(
      `${all}/parent`,
      { propagationPolicy: 'Orphan' },
      { pick: (body) => [body.kind, body.metadata?.finalizers] },
    )
    await gone(t, `${all}/parent`)
    await t.get(`${all}/a`, { pick: (body) => body.metadata.ownerReferences ?? 'none' })
    await t.get(`${all}/b`, { pick: (body) => body.metadata.ownerReferences ?? 'none' })
  },
  'foreground: the owner waits for those that block': async (t) => {
    const { all } = await family(t, { blockOwnerDeletion: true })
    await t.must('PATCH', `${all}/a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: ['x.io/hold'] } },
    })
    await t.delete(
      `${all}/parent`,
      { propagationPolicy: 'Foreground' },
      { pick: (body) => [body.kind, body.metadata?.finalizers, Boolean(body.metadata?.deletionTimestamp)] },
    )
    await gone(t, `${all}/b`)
    await t.until(`${all}/a`, ({ body }) => Boolean(body.metadata?.deletionTimestamp))
    await t.get(`${all}/parent`, { pick: (body) => body.metadata.finalizers })
    await t.must('PATCH', `${all}/a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    await gone(t, `${all}/parent`)
  },
  'an object with two owners stays while one is there': async (t) => {
    const all = configMapsIn(await t.namespace())
    const [one, two] = [
      (await t.must('POST', all, { body: configMap('one') })).body,
      (await t.must('POST', all, { body: configMap('two') })).body,
    ]
    await t.must('POST', all, { body: configMap('child', {}, { ownerReferences: [owner(one), owner(two)] }) })
    await t.must('DELETE', `${all}/one`)
    const now = await t.until(`${all}/child`, ({ body }) => body.metadata?.ownerReferences?.length === 1)
    t.see('owners', now.body.metadata.ownerReferences)
    await t.must('DELETE', `${all}/two`)
    await gone(t, `${all}/child`)
  },
  'an owner that never was: the child goes': async (t) => {
    const all = configMapsIn(await t.namespace())
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: '11111111-1111-4111-8111-111111111111' },
    ]
    await t.must('POST', all, { body: configMap('child', {}, { ownerReferences }) })
    await gone(t, `${all}/child`)
  },
  'an owner of the same name but another uid does not count': async (t) => {
    const all = configMapsIn(await t.namespace())
    const parent = (await t.must('POST', all, { body: configMap('parent') })).body
    await t.must('POST', all, {
      body: configMap(
        'child',
        {},
        { ownerReferences: [owner(parent, { uid: '11111111-1111-4111-8111-111111111111' })] },
      ),
    })
    await gone(t, `${all}/child`)
    await t.get(`${all}/parent`, { pick: (body) => body.kind })
  },
  'custom owners and dependents, over three generations': async (t) => {
    const widgets = await define(t)
    const ns = await t.namespace()
    const all = widgets.path(ns)
    const grand = (await t.must('POST', all, { body: widgets.object('grand') })).body
    const mother = (
      await t.must('POST', all, {
        body: { ...widgets.object('mother'), metadata: { name: 'mother', ownerReferences: [owner(grand)] } },
      })
    ).body
    await t.must('POST', configMapsIn(ns), { body: configMap('child', {}, { ownerReferences: [owner(mother)] }) })
    await t.must('DELETE', `${all}/grand`)
    await gone(t, `${all}/mother`)
    await gone(t, `${configMapsIn(ns)}/child`)
  },
  'a cluster-scoped owner of a namespaced object': async (t) => {
    const widgets = await define(t, { scope: 'Cluster' })
    const all = configMapsIn(await t.namespace())
    const parent = (await t.must('POST', widgets.path(), { body: widgets.object('parent') })).body
    await t.must('POST', all, { body: configMap('child', {}, { ownerReferences: [owner(parent)] }) })
    await t.must('DELETE', `${widgets.path()}/parent`)
    await gone(t, `${all}/child`)
  },
  'deletecollection carries the policy': async (t) => {
    const { all } = await family(t)
    await t.must('DELETE', all, { query: { fieldSelector: 'metadata.name=parent', propagationPolicy: 'Orphan' } })
    await gone(t, `${all}/parent`)
    await t.get(`${all}/a`, { pick: (body) => body.metadata.ownerReferences ?? 'none' })
  },
  'the query parameter, the body and the old flag': async (t) => {
    const { all } = await family(t)
    await t.delete(`${all}/parent`, undefined, {
      query: { propagationPolicy: 'Orphan' },
      pick: (body) => body.metadata?.finalizers,
    })
    await gone(t, `${all}/parent`)
    await t.get(`${all}/a`, { pick: (body) => body.kind })
    const parent = (await t.must('POST', all, { body: configMap('parent') })).body
    await t.must('POST', all, { body: configMap('c', {}, { ownerReferences: [owner(parent)] }) })
    await t.delete(`${all}/parent`, { orphanDependents: true }, { pick: (body) => body.metadata?.finalizers })
    await gone(t, `${all}/parent`)
    await t.get(`${all}/c`, { pick: (body) => body.kind })
  },
  'blockOwnerDeletion needs the right to update finalizers': async (t) => {
    const all = configMapsIn(await t.namespace())
    const parent = (await t.must('POST', all, { body: configMap('parent') })).body
    await t.post(all, configMap('child', {}, { ownerReferences: [owner(parent, { blockOwnerDeletion: true })] }), {
      pick: (body) => body.metadata.ownerReferences,
    })
  },
})
