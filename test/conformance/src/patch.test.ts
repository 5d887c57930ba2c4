import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import { configMap, configMapsIn, withoutNumbers } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

async function aConfigMap(t: Case, metadata: object = {}): Promise<string> {
  const all = configMapsIn(await t.namespace())
  await t.must('POST', all, { body: configMap('a', { k: 'v', other: 'x' }, metadata) })
  return `${all}/a`
}

async function aWidget(t: Case, fields: object, options: object = {}): Promise<string> {
  const widgets = await define(t, options)
  const all = widgets.path(await t.namespace())
  await t.must('POST', all, { body: widgets.object('a', { ...fields }) })
  return `${all}/a`
}

async function withoutMetadata(t: Case, one: string): Promise<void> {
  await t.mergePatch(one, { metadata: null })
  await t.jsonPatch(one, [{ op: 'remove', path: '/metadata' }])
  await t.mergePatch(one, { metadata: { name: null } })
}

conformance('patch', {
  'patches that take all metadata away': async (t) => await withoutMetadata(t, await aConfigMap(t)),
  'patches that take all metadata of a custom resource away': async (t) =>
    await withoutMetadata(t, await aWidget(t, {})),
  'merge patch sets, replaces and removes': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, { data: { k: 'w', new: 'n' } })
    await t.mergePatch(one, { data: { k: null } })
    await t.mergePatch(one, { data: null })
    await t.mergePatch(one, { metadata: { labels: { a: 'b' } } })
  },
  'a patch that changes nothing keeps the revision': async (t) => {
    const one = await aConfigMap(t)
    await t.get(one)
    await t.mergePatch(one, {})
    await t.mergePatch(one, { data: { k: 'v' } })
    await t.jsonPatch(one, [])
    await t.strategicPatch(one, { data: { k: 'v' } })
  },
  'JSON patch operations': async (t) => {
    const one = await aConfigMap(t)
    await t.jsonPatch(one, [{ op: 'add', path: '/data/new', value: 'n' }])
    await t.jsonPatch(one, [{ op: 'replace', path: '/data/k', value: 'w' }])
    await t.jsonPatch(one, [{ op: 'remove', path: '/data/other' }])
    await t.jsonPatch(one, [{ op: 'copy', from: '/data/k', path: '/data/copy' }])
    await t.jsonPatch(one, [{ op: 'move', from: '/data/copy', path: '/data/moved' }])
    await t.jsonPatch(one, [
      { op: 'test', path: '/data/k', value: 'w' },
      { op: 'add', path: '/data/tested', value: 'yes' },
    ])
  },
  'JSON patch operations that fail': async (t) => {
    const one = await aConfigMap(t)
    await t.jsonPatch(one, [{ op: 'test', path: '/data/k', value: 'not' }])
    await t.jsonPatch(one, [{ op: 'remove', path: '/data/missing' }])
    await t.jsonPatch(one, [{ op: 'replace', path: '/data/missing', value: 'x' }])
    await t.jsonPatch(one, [{ op: 'add', path: '/nothing/here', value: 'x' }])
    await t.jsonPatch(one, [{ op: 'jump', path: '/data/k' }])
    await t.jsonPatch(one, [{ op: 'add', path: 'data', value: 'x' }])
    await t.jsonPatch(one, { op: 'add' })
    await t.jsonPatch(one, 'nonsense')
    await t.jsonPatch(one, '')
    await t.get(one)
  },
  'JSON patch escapes and array positions': async (t) => {
    const one = await aConfigMap(t, { annotations: { 'a/b': '1' }, finalizers: ['x.io/1', 'x.io/2'] })
    await t.jsonPatch(one, [{ op: 'replace', path: '/metadata/annotations/a~1b', value: '3' }])
    await t.jsonPatch(one, [{ op: 'add', path: '/metadata/annotations/c~0d', value: '2' }])
    await t.jsonPatch(one, [{ op: 'add', path: '/metadata/finalizers/-', value: 'x.io/3' }])
    await t.jsonPatch(one, [{ op: 'add', path: '/metadata/finalizers/0', value: 'x.io/0' }])
    await t.jsonPatch(one, [{ op: 'remove', path: '/metadata/finalizers/9' }])
    await t.jsonPatch(one, [{ op: 'remove', path: '/metadata/finalizers' }])
  },
  'merge patches that are no objects': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, 'nonsense')
    await t.mergePatch(one, '')
    await t.mergePatch(one, '[]')
    await t.mergePatch(one, 'null')
    await t.mergePatch(one, '5')
  },
  'patches with values of the wrong type': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, { data: { k: 5 } })
    await t.mergePatch(one, { data: 'x' })
    await t.jsonPatch(one, [{ op: 'add', path: '/data/k', value: 5 }])
    await t.strategicPatch(one, { data: { k: 5 } })
  },
  'a patch cannot rename or move': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, { metadata: { name: 'b' } })
    await t.mergePatch(one, { metadata: { namespace: 'b' } })
    await t.mergePatch(one, { metadata: { uid: '11111111-1111-4111-8111-111111111111' } })
    await t.mergePatch(one, { kind: 'Secret' }, { pick: ({ reason, code }) => ({ reason, code }) })
    await t.mergePatch(one, { apiVersion: 'v2' })
  },
  'a patch with a revision is a precondition': async (t) => {
    const one = await aConfigMap(t)
    const { resourceVersion } = (await t.quiet('GET', one)).body.metadata
    await t.mergePatch(one, { metadata: { resourceVersion }, data: { n: '1' } })
    await t.mergePatch(one, { metadata: { resourceVersion }, data: { n: '2' } })
    await t.jsonPatch(one, [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }], {
      pick: withoutNumbers,
    })
    await t.jsonPatch(one, [
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/data/n', value: '3' },
    ])
    await t.mergePatch(one, { metadata: { resourceVersion: null }, data: { n: '4' } })
  },
  'a patch of what is not there': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.mergePatch(`${all}/missing`, { data: {} })
    await t.jsonPatch(`${all}/missing`, [])
    await t.strategicPatch(`${all}/missing`, {})
  },
  'a patch with dryRun changes nothing': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, { data: { k: 'dry' } }, { query: { dryRun: 'All' } })
    await t.jsonPatch(one, [{ op: 'add', path: '/data/k', value: 'dry' }], { query: { dryRun: 'All' } })
    await t.get(one)
  },
  'a patch that makes the object invalid': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, { data: { 'bad key': 'x' } })
    await t.mergePatch(one, { metadata: { labels: { k: 'bad value!' } } })
    await t.jsonPatch(one, [{ op: 'add', path: '/metadata/labels', value: { k: 'bad value!' } }])
  },
  'force is for apply only': async (t) => {
    const one = await aConfigMap(t)
    await t.mergePatch(one, {}, { query: { force: true } })
    await t.jsonPatch(one, [], { query: { force: true } })
  },
  'strategic merge: lists with keys merge, others are replaced': async (t) => {
    const ns = await t.namespace()
    const uid = '11111111-1111-4111-8111-111111111111'
    const owner = (name: string, more: object = {}) => ({
      apiVersion: 'none.example.com/v1',
      kind: 'Thing',
      name,
      uid: uid.replace('1', name),
      ...more,
    })
    const all = configMapsIn(ns)
    await t.must('POST', all, {
      body: configMap('a', {}, { ownerReferences: [owner('2')], finalizers: ['x.io/1', 'x.io/2'] }),
    })
    await t.strategicPatch(`${all}/a`, { metadata: { ownerReferences: [owner('3')] } })
    await t.strategicPatch(`${all}/a`, {
      metadata: { ownerReferences: [{ uid: owner('2').uid, blockOwnerDeletion: true }] },
    })
    await t.strategicPatch(`${all}/a`, { metadata: { ownerReferences: [{ $patch: 'delete', uid: owner('2').uid }] } })
    await t.strategicPatch(`${all}/a`, { metadata: { finalizers: ['x.io/3'] } })
    await t.strategicPatch(`${all}/a`, { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.io/1'] } })
    await t.strategicPatch(`${all}/a`, { metadata: { '$setElementOrder/finalizers': ['x.io/3', 'x.io/2'] } })
  },
  'strategic merge: what is added takes the place of what is deleted': async (t) => {
    const all = `/api/v1/namespaces/${await t.namespace()}/serviceaccounts`
    const named = (...names: string[]) => names.map((name) => ({ name }))
    const gone = (name: string) => ({ $patch: 'delete', name })
    const account = (name: string, ...secrets: string[]) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name },
      secrets: named(...secrets),
    })
    const patch = async (name: string, order: readonly string[], secrets: readonly object[]) => {
      await t.strategicPatch(
        `${all}/${name}`,
        { '$setElementOrder/secrets': named(...order), secrets },
        { pick: (body) => body.secrets ?? body },
      )
    }
    await t.must('POST', all, { body: account('one', 'a', 'b', 'd') })
    await patch('one', ['b', 'c'], [...named('c'), gone('a')])
    await t.must('POST', all, { body: account('two', 'a', 'd') })
    await patch('two', ['b', 'c'], [...named('b', 'c'), gone('a')])
    await t.must('POST', all, { body: account('three', 'a', 'b', 'd', 'e') })
    await patch('three', ['x', 'e', 'y'], [...named('x', 'y'), gone('a'), gone('d')])
    await t.must('POST', all, { body: account('four', 'a', 'b') })
    await patch('four', ['c', 'd'], named('c', 'd'))
  },
  'strategic merge: directives': async (t) => {
    const one = await aConfigMap(t, { labels: { a: '1', b: '2' } })
    await t.strategicPatch(one, { data: { $patch: 'replace', only: 'this' } })
    await t.strategicPatch(one, { metadata: { labels: { $patch: 'delete' } } })
    await t.strategicPatch(one, { metadata: { labels: { $retainKeys: ['b'], b: '3' } } })
    await t.strategicPatch(one, { data: { $patch: 'nonsense' } })
    await t.strategicPatch(one, { data: null })
    await t.strategicPatch(one, '[]')
  },
  'strategic merge: service account secrets merge by name': async (t) => {
    const all = `/api/v1/namespaces/${await t.namespace()}/serviceaccounts`
    await t.must('POST', all, {
      body: { metadata: { name: 'a' }, secrets: [{ name: 'x' }], imagePullSecrets: [{ name: 'p' }] },
    })
    await t.strategicPatch(`${all}/a`, { secrets: [{ name: 'y' }], imagePullSecrets: [{ name: 'q' }] })
    await t.strategicPatch(`${all}/a`, { secrets: [{ name: 'x', $patch: 'delete' }] })
    await t.mergePatch(`${all}/a`, { imagePullSecrets: [{ name: 'only' }] })
  },
  'strategic merge: role rules are atomic, subjects too': async (t) => {
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${await t.namespace()}/roles`
    const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
    await t.must('POST', roles, { body: { metadata: { name: 'a' }, rules: [rule('secrets')] } })
    await t.strategicPatch(`${roles}/a`, { rules: [rule('configmaps')] })
  },
  'custom objects: merge and JSON patch': async (t) => {
    const one = await aWidget(t, { spec: { n: 1, list: [1, 2], deep: { x: 1 } } })
    await t.mergePatch(one, { spec: { n: 2, deep: { y: 2 }, list: [3] } })
    await t.mergePatch(one, { spec: { deep: { x: null } } })
    await t.jsonPatch(one, [{ op: 'add', path: '/spec/list/-', value: 4 }])
    await t.jsonPatch(one, [{ op: 'test', path: '/spec/n', value: 3 }])
    await t.mergePatch(one, { spec: { n: 2 } })
  },
  'custom objects: strategic merge is refused': async (t) => {
    const one = await aWidget(t, { spec: { n: 1 } })
    await t.strategicPatch(one, { spec: { n: 2 } })
  },
  'custom objects: a patch cannot change kind, apiVersion, name': async (t) => {
    const one = await aWidget(t, { spec: { n: 1 } })
    await t.mergePatch(one, { kind: 'Gadget' })
    await t.mergePatch(one, { apiVersion: 'other.example.com/v1' })
    await t.mergePatch(one, { metadata: { name: 'b' } })
    await t.mergePatch(one, { metadata: { namespace: 'b' } })
  },
  'custom objects: a patch that makes the object invalid': async (t) => {
    const properties = { spec: { type: 'object', properties: { n: { type: 'integer', maximum: 3 } } } }
    const one = await aWidget(t, { spec: { n: 1 } }, { properties })
    await t.mergePatch(one, { spec: { n: 4 } })
    await t.mergePatch(one, { spec: { n: 'x' } })
    await t.jsonPatch(one, [{ op: 'replace', path: '/spec', value: [] }])
  },
  'custom objects: of two patches at once, both land': async (t) => {
    const one = await aWidget(t, { spec: { n: 1 } })
    const patches = Array.from({ length: 10 }, (_, i) =>
      t.must('PATCH', one, { type: 'application/merge-patch+json', body: { spec: { [`k${i}`]: i } } }),
    )
    await Promise.all(patches)
    await t.get(one, { pick: (body) => ({ spec: body.spec, generation: body.metadata.generation }) })
  },
})
