import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn, secretsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const unknownCosts = (name: string) => ({ metadata: { name } })

const causesOf = (body: Loose) => body.details?.causes ?? body.message ?? 'accepted'

conformance('errors', {
  'paths that nobody serves': async (t) => {
    await t.get('/nope')
    await t.get('/api/v2')
    await t.get('/apis/none.example.com')
    await t.get('/apis/none.example.com/v1')
    await t.get('/apis/none.example.com/v1/things')
    await t.get('/api/v1/things')
    await t.get('/api/v1/namespaces/default/things')
    await t.get('/api/v1/namespaces/default/things/a')
    await t.post('/api/v1/namespaces/default/things', {})
    await t.get('/apis/rbac.authorization.k8s.io/v1beta1/roles')
    await t.get('/apis/rbac.authorization.k8s.io/v1beta1')
    await t.get('/apis/apiextensions.k8s.io/v1beta1/')
  },
  'a path of a group served in another version': async (t) => {
    const widgets = await define(t)
    await t.get(`/apis/${widgets.group}/v9/widgets`)
    await t.get(`/apis/${widgets.group}/v1/gadgets`)
    await t.get(`${widgets.path('default')}/a/status`)
    await t.get(`${widgets.path('default')}/a/scale`)
    await t.get(`${widgets.path('default')}/a/other`)
  },
  'bodies that are no JSON': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, '')
    await t.post(all, '{')
    await t.post(all, 'null')
    await t.post(all, '[]')
    await t.post(all, '"text"')
    await t.post(all, '{"metadata":{"name":"a"}} trailing')
  },
  'bodies with fields of the wrong type': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { metadata: { name: 5 } })
    await t.post(all, { metadata: { name: 'a' }, data: { k: 1 } })
    await t.post(all, { metadata: { name: 'a' }, data: [] })
    await t.post(all, { metadata: { name: 'a', labels: { x: true } } })
    await t.post(all, { metadata: 'x' })
    await t.post(all, { metadata: { name: 'a', creationTimestamp: 'yesterday' } })
    await t.post(all, { metadata: { name: 'a' }, immutable: 'yes' })
    await t.post(all, { metadata: { name: 'a' }, binaryData: { k: '***' } })
  },
  'large and small numbers': async (t) => {
    const widgets = await define(t, {
      properties: {
        one: { type: 'number', enum: [1] },
        text: { type: 'string', enum: ['a'] },
        most: { type: 'number', maximum: 10_000_000 },
        least: { type: 'number', minimum: 0.00001 },
        steps: { type: 'number', multipleOf: 0.5 },
        whole: { type: 'integer', maximum: 10_000_000 },
      },
    })
    const path = widgets.path(await t.namespace())
    const numbers = [
      1e20, 1e21, 123456789012345680000, 12345678.25, 1234567.25, 123456.25, 100000000, 0.000012, 0.00012,
    ]
    const bodies = numbers.flatMap((n) => [
      { one: n },
      { text: n },
      { most: n },
      { least: -n },
      { steps: n },
      { whole: n },
    ])
    for (const body of bodies)
      await t.post(path, widgets.object('a', body), { query: { dryRun: 'All' }, pick: causesOf })
  },
  'bodies of another kind or version': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })
    await t.post(all, { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } })
    await t.post(all, { apiVersion: 'v1', kind: 'Nonsense', metadata: { name: 'a' } })
    await t.post(all, { apiVersion: 'a/b/c', kind: 'ConfigMap', metadata: { name: 'a' } })
    await t.post(all, { apiVersion: 'apps/v1', kind: 'Nonsense', metadata: { name: 'a' } })
    await t.post(all, { kind: 'ConfigMapList', apiVersion: 'v1', items: [] })
  },
  'content types that nobody understands': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, 'x', { type: 'text/plain' })
    await t.post(all, 'x', { type: 'application/xml' })
    await t.post(all, configMap('a'), { type: 'application/json; charset=utf-8' })
    await t.post(all, configMap('b'), { type: 'application/merge-patch+json' })
    await t.ask('PATCH', `${all}/a`, { body: '{}', type: 'application/json' })
    await t.ask('PATCH', `${all}/a`, { body: '{}', type: 'text/plain' })
    await t.ask('PATCH', `${all}/a`, { body: '{}', type: 'application/merge-patch+json; charset=utf-8' })
  },
  'answers that nobody can give': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a') })
    await t.get(`${all}/a`, { accept: 'text/plain' })
    await t.get(`${all}/a`, { accept: 'application/xml, text/html;q=0.9' })
    await t.get(`${all}/a`, { accept: 'application/xml, */*;q=0.1' })
    await t.get(`${all}/a`, { accept: 'application/cbor' })
    await t.get(`${all}/a`, { accept: 'application/json;as=Nonsense;v=v1;g=meta.k8s.io' })
    await t.get(`${all}/a`, { accept: 'application/json;as=Nonsense;v=v1;g=meta.k8s.io,application/json' })
    await t.post(all, 'x', { type: 'application/cbor' })
  },
  'invalid names': async (t) => {
    const all = configMapsIn(await t.namespace())
    for (const name of ['A', 'a_b', '-a', 'a.', 'a..b', 'x'.repeat(254), 'a/b', 'ä']) await t.post(all, configMap(name))
  },
  'invalid labels and annotations': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', {}, { labels: { 'bad key': 'x' } }))
    await t.post(all, configMap('a', {}, { labels: { k: 'bad value!' } }))
    await t.post(all, configMap('a', {}, { labels: { k: 'v'.repeat(64) } }))
    for (const key of ['UPPER.example.com/k', '/k', 'a/b/c']) {
      await t.post(all, configMap('a', {}, { labels: { [key]: 'x' } }))
    }
    await t.post(all, configMap('a', {}, { annotations: { 'bad key': 'x' } }))
    await t.post(all, configMap('a', {}, { annotations: { k: 'x'.repeat(256 * 1024) } }))
  },
  'several faults at once are all named': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('BAD', { 'bad key': 'x' }, { labels: { 'bad key': 'bad value!' } }))
  },
  'invalid owner references': async (t) => {
    const all = configMapsIn(await t.namespace())
    const owned = (...ownerReferences: object[]) => configMap('a', {}, { ownerReferences })
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '11111111-1111-4111-8111-111111111111' }
    await t.post(all, owned({}))
    await t.post(all, owned({ ...owner, apiVersion: 'a/b/c' }))
    await t.post(all, owned({ ...owner, controller: true }, { ...owner, name: 'y', controller: true }))
    await t.post(all, owned({ ...owner, apiVersion: 'v1', kind: 'Event' }))
    await t.post(all, owned({ ...owner, uid: '' }))
  },
  'data keys of config maps and secrets': async (t) => {
    const ns = await t.namespace()
    await t.post(configMapsIn(ns), configMap('a', { '': 'x' }))
    await t.post(configMapsIn(ns), configMap('a', { '..': 'x' }))
    await t.post(configMapsIn(ns), configMap('a', { 'with space': 'x' }))
    await t.post(configMapsIn(ns), { ...configMap('a', { k: 'x' }), binaryData: { k: 'eA==' } })
    await t.post(secretsIn(ns), { metadata: { name: 'a' }, data: { 'with space': 'eA==' } })
    await t.post(secretsIn(ns), { metadata: { name: 'a' }, data: { k: 'not base64!' } })
  },
  'custom objects: bodies that are no JSON': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, '')
    await t.post(all, '{')
    await t.post(all, 'null')
    await t.post(all, '[]')
    await t.post(all, '"text"')
    await t.post(all, `${JSON.stringify(widgets.object('a'))} trailing`)
  },
  'custom objects: metadata of the wrong type': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, { ...widgets.object('a'), metadata: 'x' })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 5 } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', labels: { x: 5 } } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', annotations: ['x'] } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', finalizers: 'x' } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', unknown: 'x' } })
  },
  'custom objects: invalid metadata': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('BAD'))
    await t.post(all, widgets.object(''))
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', labels: { 'bad key': 'bad value!' } } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', generation: -1 } })
    await t.post(all, { ...widgets.object('a'), metadata: { name: 'a', finalizers: ['nodomain'] } })
  },
  'custom objects: content types': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, 'x', { type: 'application/cbor' })
    await t.must('POST', all, { body: widgets.object('a') })
    await t
      .get(`${all}/a`, { accept: 'application/vnd.kubernetes.protobuf', pick: () => 'a Status' })
      .then(() => t.steps.push({ ...t.steps.pop()!, headers: {} }))
    await t.get(`${all}/a`, { accept: 'application/vnd.kubernetes.protobuf, application/json' })
    await t.get(`${all}/a`, { accept: 'application/cbor' })
  },
  'methods that a kind does not have': async (t) => {
    const ns = await t.namespace()
    const widgets = await define(t, { properties: { size: { type: 'integer' } } })
    const custom = widgets.path(ns)
    const builtIn = configMapsIn(ns)
    await t.must('POST', custom, { body: widgets.object('a') })
    await t.must('POST', builtIn, { body: configMap('a') })
    for (const all of [custom, builtIn]) {
      for (const method of ['OPTIONS', 'TRACE', 'HEAD']) {
        for (const path of [all, `${all}/a`, `${all}/absent`]) await t.ask(method, path)
      }
      await t.put(all, {})
      await t.mergePatch(all, {})
      await t.ask('PATCH', all, { body: '{}', type: 'text/plain' })
      await t.post(`${all}/a`, {})
    }
    await t.post(`${custom}/a`, widgets.object('b'))
    await t.ask('OPTIONS', custom, { headers: { 'impersonate-user': 'alice' }, show: ['x-content-type-options'] })
    for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD']) {
      await t.ask(method, builtIn.replace('/v1/', '/v1/watch/'), { accept: 'text/plain' })
    }
  },
  'what cannot be had is refused in JSON that people can read': async (t) => {
    const ns = await t.namespace()
    const widgets = await define(t)
    const all = [configMapsIn(ns), widgets.path(ns)]
    const documents = ['/version', '/openid/v1/jwks', '/.well-known/openid-configuration']
    const groups = ['', '/rbac.authorization.k8s.io', '/rbac.authorization.k8s.io/v1', `/${widgets.group}/v1`]
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const pick = (body: Loose, { text }: { text: string }) => ({ body, indented: text.startsWith('{\n  "') })
    for (const path of [...all, ...documents, '/api/v1', ...groups.map((end) => `/apis${end}`)]) {
      await t.get(path, { accept: 'text/plain', pick })
    }
    for (const path of all) {
      await t.get(`${path}/absent`, { accept: table, pick })
      await t.get(`${path}/absent`, { accept: `${table},application/json`, pick })
      await t.get(path, { accept: 'text/plain', query: { watch: true }, pick })
    }
  },
  'which of several faults is told': async (t) => {
    const ns = await t.namespace()
    const widgets = await define(t)
    for (const all of [configMapsIn(ns), widgets.path(ns)]) {
      const accept = 'application/json;as=Nonsense;v=v1;g=meta.k8s.io'
      await t.get(all, { accept, query: { limit: 'x' } })
      await t.get(all, { accept, query: { timeoutSeconds: 'x', watch: true } })
      await t.get(all, { query: { limit: 'x', watch: true } })
      await t.put(`${all}/a`, {}, { accept, query: { fieldManager: 'bad\u0007' } })
      await t.post(all, {}, { accept, query: { fieldManager: 'bad\u0007' } })
      await t.ask('PATCH', `${all}/a`, { body: '{}', type: 'text/plain', accept })
      await t.get(`${all}/a`, { accept, query: { export: true } })
    }
  },
  'query parameters are read as Go reads them': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a') })
    const none = 'labelSelector=none'
    for (const query of [
      'limit=',
      'timeoutSeconds=',
      'limit=%zz',
      'limit=a;b',
      'timeout=%zz',
      'watch=%',
      'continue=',
    ]) {
      await t.get(`${all}?${none}&${query}`)
    }
    await t.get(`${all}?watch=1&timeoutSeconds=`)
    for (const query of ['export', 'export=true', 'export=false', 'export=0', 'includeObject=x', 'includeObject=']) {
      await t.get(`${all}/a?${query}`)
    }
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    await t.get(`${all}/a?includeObject=x`, { accept: table })
    for (const query of ['pretty', 'pretty=', 'pretty=1', 'pretty=T', 'pretty=yes', 'pretty=0']) {
      await t.get(`${all}/absent?${query}`, { pick: (_, { text }) => text.split('\n')[0] })
    }
  },
  'query parameters that make no sense': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.get(all, { query: { limit: 'many' } })
    await t.get(all, { query: { timeoutSeconds: 'x' } })
    await t.get(all, { query: { watch: 'maybe', timeoutSeconds: 1, labelSelector: 'none' } })
    await t.get(all, { query: { resourceVersion: 'abc' } })
    await t.get(all, { query: { resourceVersionMatch: 'Exact' } })
    await t.get(all, { query: { resourceVersionMatch: 'Roughly', resourceVersion: '5' } })
    await t.get(all, { query: { nonsense: 'x', limit: 1, labelSelector: 'none' } })
    await t.post(all, configMap('a'), { query: { fieldManager: 'x'.repeat(129) } })
    await t.post(all, configMap('a'), { query: { fieldManager: 'bad\u0007' } })
    await t.post(all, configMap('a'), { query: { fieldValidation: 'Sometimes' } })
    await t.post(all, configMap('a'), { query: { pretty: 'true' }, pick: (_, { text }) => text.split('\n')[0] })
  },
  'metadata that only the server may set is ignored or refused on reviews': async (t) => {
    await t.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', unknownCosts('a'))
    await t.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {})
    await t.get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews')
  },
})
