import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import { configMap, configMapsIn, withoutNumbers } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

async function withConfigMap(t: Case, name = 'a'): Promise<{ all: string; one: string }> {
  const all = configMapsIn(await t.namespace())
  await t.post(all, configMap(name, { k: 'v' }))
  return { all, one: `${all}/${name}` }
}

conformance('crud', {
  'delete: options in the URL count only without a body': async (t) => {
    const { one } = await withConfigMap(t)
    const urls = ['gracePeriodSeconds=x', 'gracePeriodSeconds=', 'propagationPolicy=', 'propagationPolicy=Nonsense']
    for (const query of [...urls, 'dryRun=Some', 'orphanDependents=', 'fieldManager=%07', 'fieldValidation=Some']) {
      await t.delete(`${one}?dryRun=All&${query}`, undefined, { pick: withoutNumbers })
    }
    await t.delete(`${one}?dryRun=All`, { propagationPolicy: '' })
    await t.delete(`${one}?dryRun=Some&propagationPolicy=Nonsense`, { dryRun: ['All'] })
    await t.delete(`${one}?dryRun=All`, { apiVersion: 'v1', kind: 'DeleteOptions' })
    await t.get(one)
  },
  'create answers 201 with the stored object': async (t) => {
    const { one } = await withConfigMap(t)
    await t.get(one)
  },
  'create without apiVersion and kind takes them from the path': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { metadata: { name: 'a' }, data: { k: 'v' } })
  },
  'create sets the namespace from the path': async (t) => {
    const ns = await t.namespace()
    await t.post(configMapsIn(ns), configMap('a', {}, { namespace: ns }))
    await t.post(configMapsIn(ns), configMap('b', {}, { namespace: 'other' }))
  },
  'create ignores what only the server sets': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(
      all,
      configMap('a', {}, { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7, selfLink: '/x' }),
    )
    await t.post(all, configMap('b', {}, { deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }))
  },
  'create with a resourceVersion is refused': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', {}, { resourceVersion: '5' }))
  },
  'create with a resourceVersion: only a store minds, and only a number': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', { 'not a key': '' }, { resourceVersion: '5' }))
    await t.post(all, configMap('a', {}, { resourceVersion: '5' }), { query: { dryRun: 'All' } })
    await t.post(all, configMap('a', {}, { resourceVersion: '0' }), { query: { dryRun: 'All' } })
    await t.post(all, configMap('a', {}, { resourceVersion: '0' }))
    await t.post(all, configMap('b', {}, { resourceVersion: 'abc' }))
    await t.post(all, configMap('b', {}, { resourceVersion: '5' }))
    await t.post(all, configMap('b', {}, { resourceVersion: '5' }), { query: { dryRun: 'All' } })
  },
  'an update that creates takes any resourceVersion': async (t) => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${await t.namespace()}/leases`
    const lease = (name: string) => ({ metadata: { name, resourceVersion: '5' }, spec: {} })
    await t.put(`${leases}/a`, lease('a'), { query: { dryRun: 'All' } })
    await t.put(`${leases}/a`, lease('a'))
  },
  'create of a taken name is a conflict': async (t) => {
    const { all } = await withConfigMap(t)
    await t.post(all, configMap('a'))
  },
  'create without a name is refused': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { metadata: {} })
    await t.post(all, {})
  },
  'create with generateName appends five characters': async (t) => {
    const all = configMapsIn(await t.namespace())
    const made = await t.must('POST', all, { body: configMap('', {}, { generateName: 'gen-' }) })
    const { name, generateName } = made.body.metadata
    t.see('shape of the name', { matches: /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name), generateName })
    const long = await t.must('POST', all, { body: configMap('', {}, { generateName: 'g'.repeat(250) }) })
    t.see('length of a long one', long.body.metadata.name.length)
  },
  'create with name and generateName takes the name': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', {}, { generateName: 'gen-' }))
  },
  'create in a namespace that is not there': async (t) => {
    await t.post(configMapsIn(`no-${t.id}`), configMap('a'))
  },
  'create with a name in the path is not allowed': async (t) => {
    const { one } = await withConfigMap(t)
    await t.post(one, configMap('a'))
  },
  'create with dryRun answers 201 and keeps nothing': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', { k: 'v' }), { query: { dryRun: 'All' } })
    await t.get(`${all}/a`)
    await t.post(all, configMap('a', { k: 'v' }), { query: { dryRun: 'Some' } })
    await t.post(all, configMap('a', { k: 'v' }), { query: { dryRun: '' } })
  },
  'get of what is not there': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.get(`${all}/missing`)
    await t.get(`${configMapsIn(`no-${t.id}`)}/a`)
  },
  'list is empty, not null': async (t) => {
    const ns = await t.namespace()
    await t.get(`/api/v1/namespaces/${ns}/secrets`)
    await t.get(`/api/v1/namespaces/no-${t.id}/secrets`)
  },
  'list gives items in name order without apiVersion and kind': async (t) => {
    const all = configMapsIn(await t.namespace())
    for (const name of ['c', 'a', 'b']) {
      await t.must('POST', all, { body: configMap(name, { k: name }, { labels: { mine: 'yes' } }) })
    }
    await t.get(all, { query: { labelSelector: 'mine' } })
  },
  'update replaces the object and moves the revision': async (t) => {
    const { one } = await withConfigMap(t)
    const before = (await t.quiet('GET', one)).body
    await t.put(one, { ...before, data: { other: 'x' } })
    await t.get(one)
  },
  'update without a resourceVersion is unconditional': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('a', { other: 'x' }))
  },
  'update with an old resourceVersion is a conflict': async (t) => {
    const { one } = await withConfigMap(t)
    const before = (await t.quiet('GET', one)).body
    await t.put(one, { ...before, data: { n: '1' } })
    await t.put(one, { ...before, data: { n: '2' } })
  },
  'update that changes nothing keeps the revision': async (t) => {
    const { one } = await withConfigMap(t)
    const before = (await t.quiet('GET', one)).body
    await t.put(one, before)
  },
  'update of what is not there': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.put(`${all}/missing`, configMap('missing'))
    await t.put(`${all}/missing`, configMap('missing', {}, { resourceVersion: '1' }))
    await t.put(`${all}/missing`, configMap('missing', {}, { uid: '00000000-0000-4000-8000-000000000000' }))
  },
  'update under another name or namespace is refused': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('b'))
    await t.put(one, configMap('a', {}, { namespace: 'other' }))
    await t.put(one, { ...configMap('a'), metadata: {} })
  },
  'update with another uid is a conflict': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('a', {}, { uid: '11111111-1111-4111-8111-111111111111' }))
  },
  'update with a malformed resourceVersion': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('a', {}, { resourceVersion: 'abc' }))
    await t.put(one, configMap('a', {}, { resourceVersion: '0' }))
  },
  'update with dryRun changes nothing': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('a', { k: 'new' }), { query: { dryRun: 'All' } })
    await t.get(one)
  },
  'update cannot change what the server set': async (t) => {
    const { one } = await withConfigMap(t)
    await t.put(one, configMap('a', { k: 'v2' }, { creationTimestamp: '2001-01-01T00:00:00Z', generation: 9 }))
  },
  'delete answers Success with what was deleted': async (t) => {
    const { one } = await withConfigMap(t)
    await t.delete(one)
    await t.get(one)
    await t.delete(one)
  },
  'delete with dryRun keeps the object': async (t) => {
    const { one } = await withConfigMap(t)
    await t.delete(one, undefined, { query: { dryRun: 'All' } })
    await t.delete(one, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
    await t.get(one)
  },
  'delete with preconditions': async (t) => {
    const { one } = await withConfigMap(t)
    const { uid, resourceVersion } = (await t.quiet('GET', one)).body.metadata
    await t.delete(one, { preconditions: { uid: '11111111-1111-4111-8111-111111111111' } })
    await t.delete(one, { preconditions: { resourceVersion: '1' } }, { pick: withoutNumbers })
    await t.delete(one, { preconditions: { uid, resourceVersion } })
  },
  'delete with options of the wrong kind': async (t) => {
    const { one } = await withConfigMap(t)
    await t.delete(one, { kind: 'ConfigMap', apiVersion: 'v1' })
    await t.delete(one, { propagationPolicy: 'Sideways' })
    await t.delete(one, { propagationPolicy: 'Orphan', orphanDependents: true })
    await t.delete(one, { gracePeriodSeconds: -1 })
    await t.delete(one, 'not json')
  },
  'delete answers with the object while finalizers hold it': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    await t.delete(`${all}/a`)
    await t.delete(`${all}/a`)
    await t.get(`${all}/a`)
    await t.mergePatch(`${all}/a`, { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } })
    await t.mergePatch(`${all}/a`, { metadata: { finalizers: null } })
    await t.get(`${all}/a`)
  },
  'an object under deletion can still be updated': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: '1' }, { finalizers: ['example.com/hold'] }) })
    await t.must('DELETE', `${all}/a`)
    await t.mergePatch(`${all}/a`, { data: { k: '2' } })
    await t.jsonPatch(`${all}/a`, [{ op: 'remove', path: '/metadata/deletionTimestamp' }])
    const last = await t.quiet('GET', `${all}/a`)
    delete last.body.metadata.finalizers
    await t.put(`${all}/a`, last.body)
    await t.get(`${all}/a`)
  },
  'invalid finalizer names are refused': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', {}, { finalizers: ['nodomain'] }))
    await t.post(all, configMap('b', {}, { finalizers: ['Bad Name/x'] }))
    await t.post(all, configMap('c', {}, { finalizers: ['orphan', 'foregroundDeletion'] }))
  },
  'deletecollection deletes what the selectors say': async (t) => {
    const all = configMapsIn(await t.namespace())
    for (const name of ['a', 'b', 'c']) {
      await t.must('POST', all, { body: configMap(name, {}, { labels: { mine: 'yes', name } }) })
    }
    await t.delete(all, undefined, {
      query: { labelSelector: 'name in (a,b)' },
      pick: (body) => [body.kind, body.items.map((item: { metadata: { name: string } }) => item.metadata.name).sort()],
    })
    await t.get(all, { query: { labelSelector: 'mine' } })
    await t.delete(all, { dryRun: ['All'] }, { query: { labelSelector: 'mine' } })
    await t.get(all, { query: { labelSelector: 'mine' } })
    await t.delete(all, undefined, { query: { labelSelector: 'no-such' } })
  },
  'deletecollection over all namespaces is not allowed': async (t) => {
    await t.delete('/api/v1/configmaps')
    await t.delete('/api/v1/namespaces')
  },
  'methods that a resource does not have': async (t) => {
    const { all, one } = await withConfigMap(t)
    await t.put(all, configMap('a'))
    await t.mergePatch(all, {})
    await t.ask('OPTIONS', one)
    await t.ask('HEAD', one)
  },
  'metadata is kept as given': async (t) => {
    const all = configMapsIn(await t.namespace())
    const metadata = {
      labels: { a: '1', 'x.example.com/b': '' },
      annotations: { note: 'two\nlines', 'x/y': '{"a":1}' },
    }
    await t.post(all, configMap('a', { k: 'v' }, metadata))
    await t.put(`${all}/a`, configMap('a', { k: 'v' }, { labels: { a: '2' } }))
  },
  'custom objects: namespaced': async (t) => {
    const widgets = await define(t)
    const ns = await t.namespace()
    await t.post(widgets.path(ns), widgets.object('a', { spec: { size: 1 } }))
    await t.get(`${widgets.path(ns)}/a`)
    await t.get(widgets.path(ns))
    await t.get(widgets.path())
    await t.delete(`${widgets.path(ns)}/a`)
    await t.get(`${widgets.path(ns)}/a`)
    await t.get(widgets.path(ns))
  },
  'custom objects: cluster-scoped': async (t) => {
    const widgets = await define(t, { scope: 'Cluster' })
    await t.post(widgets.path(), widgets.object('a', { spec: { size: 1 } }))
    await t.get(`${widgets.path()}/a`)
    await t.get(widgets.path())
    const ns = await t.namespace()
    await t.post(widgets.path(ns), widgets.object('b'))
    await t.get(widgets.path(ns))
    await t.get(`${widgets.path(ns)}/a`)
    await t.delete(widgets.path())
    await t.get(widgets.path())
  },
  'custom objects: a namespaced one needs a namespace': async (t) => {
    const widgets = await define(t)
    await t.post(widgets.path(), widgets.object('a'))
    await t.get(`${widgets.path()}/a`)
    await t.delete(widgets.path())
    const ns = await t.namespace()
    await t.post(widgets.path(ns), { ...widgets.object('a'), metadata: { name: 'a', namespace: 'other' } })
  },
  'custom objects: kind and apiVersion are checked': async (t) => {
    const widgets = await define(t)
    const ns = await t.namespace()
    const object = widgets.object('a')
    await t.post(widgets.path(ns), { ...object, kind: 'Gadget' })
    await t.post(widgets.path(ns), { ...object, apiVersion: `${widgets.group}/v2` })
    await t.post(widgets.path(ns), { ...object, apiVersion: 'other.example.com/v1' })
    await t.post(widgets.path(ns), { metadata: { name: 'a' } })
    await t.post(widgets.path(ns), { kind: 'Widget', metadata: { name: 'a' } })
    await t.post(widgets.path(ns), { apiVersion: `${widgets.group}/v1`, metadata: { name: 'a' } })
    await t.must('POST', widgets.path(ns), { body: object })
    await t.put(`${widgets.path(ns)}/a`, { ...object, kind: 'Gadget' })
    await t.put(`${widgets.path(ns)}/a`, { ...object, apiVersion: `${widgets.group}/v2` })
    await t.put(`${widgets.path(ns)}/a`, { metadata: { name: 'a' } })
  },
  'custom objects: the same name in two namespaces are two objects': async (t) => {
    const widgets = await define(t)
    const [one, two] = [await t.namespace('-1'), await t.namespace('-2')]
    await t.post(widgets.path(one), widgets.object('a', { spec: { n: 1 } }))
    await t.post(widgets.path(two), widgets.object('a', { spec: { n: 2 } }))
    await t.get(widgets.path())
    await t.delete(`${widgets.path(one)}/a`)
    await t.get(widgets.path())
  },
  'custom objects: an update needs a resourceVersion': async (t) => {
    const widgets = await define(t)
    const ns = await t.namespace()
    const made = await t.must('POST', widgets.path(ns), { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.put(`${widgets.path(ns)}/a`, widgets.object('a', { spec: { n: 2 } }))
    await t.put(`${widgets.path(ns)}/a`, { ...made.body, spec: { n: 2 } })
    await t.put(`${widgets.path(ns)}/a`, { ...made.body, spec: { n: 3 } })
    await t.put(`${widgets.path(ns)}/b`, widgets.object('b'))
  },
  'custom objects: generation counts changes outside of metadata': async (t) => {
    const widgets = await define(t)
    const one = `${widgets.path(await t.namespace())}/a`
    await t.post(one.slice(0, -2), widgets.object('a', { spec: { n: 1 } }))
    await t.mergePatch(one, { spec: { n: 2 } })
    await t.mergePatch(one, { metadata: { labels: { x: 'y' } } })
    await t.mergePatch(one, { spec: { n: 2 } })
    await t.mergePatch(one, { status: { phase: 'x' } })
  },
  'custom objects: generation moves when deletion begins': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, {
      body: { ...widgets.object('a'), metadata: { name: 'a', finalizers: ['example.com/f'] } },
    })
    await t.delete(`${all}/a`)
    await t.delete(`${all}/a`)
    await t.mergePatch(`${all}/a`, { metadata: { finalizers: [] } })
    await t.get(`${all}/a`)
  },
  'custom objects: int64 and floats keep their value': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const spec =
      '{"big":9223372036854775807,"negative":-9223372036854775808,"odd":9007199254740993,"half":0.5,"one":1.0,"exp":1e3,"tiny":1e-7}'
    const body = `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":${spec}}`
    // Numbers as text, because JavaScript would lose precision.
    const numbers = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/"(big|negative|odd|half|one|exp|tiny)":([^,}]+)/g)].map(([, key, n]) => [key, n]),
      )
    const pick = (_: unknown, { text }: { text: string }) => numbers(text)
    await t.post(all, body, { pick })
    await t.get(`${all}/a`, { pick })
    await t.mergePatch(`${all}/a`, '{"spec":{"odd":9007199254740995}}', { pick })
    await t.post(all, body.replace('9223372036854775807', '92233720368547758080').replace('"a"', '"b"'), { pick })
  },
  'custom objects: null fields of unknown shape are kept, of metadata dropped': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, {
      ...widgets.object('a', { spec: { gone: null, list: [null, 1] } }),
      metadata: { name: 'a', labels: null },
    })
  },
  'custom objects: keys that mean something to JavaScript are plain keys': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const body = `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"__proto__":{"x":1},"constructor":"c","toString":null,"hasOwnProperty":[]}}`
    await t.post(all, body, { pick: specEntries })
    await t.get(`${all}/a`, { pick: specEntries })
  },
})

// Entries instead of an object: an assignment to __proto__ in the test would hide the received value.
const specEntries = (body: { spec: object }) => Object.entries(body.spec).sort(([a], [b]) => (a < b ? -1 : 1))
