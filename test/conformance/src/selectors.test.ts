import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn, secretsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const names = (body: Loose): Loose => body.items?.map((item: Loose) => item.metadata.name) ?? body

async function labelled(t: Case): Promise<string> {
  const all = configMapsIn(await t.namespace())
  const labels: Record<string, Record<string, string>> = {
    a: { app: 'web', tier: 'front', n: '1' },
    b: { app: 'web', tier: 'back', n: '2' },
    c: { app: 'db', n: '3', 'example.com/x': '' },
    d: { mine: 'd' },
  }
  for (const [name, each] of Object.entries(labels)) {
    await t.must('POST', all, { body: configMap(name, {}, { labels: { ...each, all: 'yes' } }) })
  }
  return all
}

const wellFormed = [
  'app',
  '!app',
  'app=web',
  'app==web',
  'app!=web',
  'app in (web,db)',
  'app in (web)',
  'app notin (web)',
  'app=web,tier=back',
  'app=web,tier',
  'app=web,!tier',
  ' app = web ',
  'app in ( web , db ),tier notin (front)',
  'n>1',
  'n<3',
  'n>1,n<3',
  'example.com/x',
  'example.com/x=',
  'app=',
  'app in ()',
  'app in (,web)',
  'missing!=x',
  'missing notin (x)',
  'app=nothing',
]

const malformed = [
  '=',
  'app=web,',
  ',app',
  'app=web tier=back',
  'app in web',
  'app in (web',
  'app in',
  'app>x',
  'app=a=b',
  'bad key=x',
  'app=bad value',
  '!',
  'app in (bad value!)',
  '/x=y',
  'app=-x',
  'n>1.5',
  'app,,tier',
  '(app)',
  `app=${'v'.repeat(64)}`,
]

conformance('selectors', {
  'label selectors that are well formed': async (t) => {
    const all = await labelled(t)
    for (const selector of wellFormed) await t.get(all, { query: { labelSelector: `all,${selector}` }, pick: names })
  },
  'label selectors that are not': async (t) => {
    const all = await labelled(t)
    for (const labelSelector of malformed) await t.get(all, { query: { labelSelector }, pick: names })
  },
  'field selectors by name and namespace': async (t) => {
    const all = await labelled(t)
    const ns = all.split('/')[4]!
    const selectors = [
      'metadata.name=a',
      'metadata.name==a',
      'metadata.name!=a',
      `metadata.namespace=${ns}`,
      'metadata.namespace=other',
      'metadata.name=a,metadata.name=b',
      'metadata.name!=a,metadata.name!=b',
      `metadata.name=a,metadata.namespace=${ns}`,
    ]
    for (const fieldSelector of selectors)
      await t.get(all, { query: { fieldSelector, labelSelector: 'all' }, pick: names })
    await t.get('/api/v1/configmaps', {
      query: { fieldSelector: `metadata.name=a,metadata.namespace=${ns}` },
      pick: names,
    })
  },
  'field selectors that make no sense': async (t) => {
    const all = await labelled(t)
    // One of the selectors matches all objects, including this one of the server.
    await t.until(`${all}/kube-root-ca.crt`, ({ status }) => status === 200)
    const selectors = [
      'data.k=v',
      'metadata.uid=x',
      'metadata.name',
      'metadata.name=a=b',
      'metadata.name>a',
      '=',
      'metadata.name in (a)',
      'metadata.labels.app=web',
    ]
    for (const fieldSelector of selectors) await t.get(all, { query: { fieldSelector }, pick: names })
  },
  'field selectors escape with a backslash': async (t) => {
    const all = await labelled(t)
    await t.get(all, { query: { fieldSelector: 'metadata.name=a\\,b' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'metadata.name=a\\x' }, pick: names })
  },
  'an empty selector selects all': async (t) => {
    const all = await labelled(t)
    await t.get(`${all}?labelSelector=&fieldSelector=metadata.name!=kube-root-ca.crt`, { pick: names })
  },
  'secrets are selected by type': async (t) => {
    const all = secretsIn(await t.namespace())
    await t.must('POST', all, { body: { metadata: { name: 'a' }, type: 'example.com/x' } })
    await t.must('POST', all, { body: { metadata: { name: 'b' } } })
    await t.get(all, { query: { fieldSelector: 'type=example.com/x' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'type=Opaque' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'type!=Opaque' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'other=x' }, pick: names })
  },
  'namespaces are selected by phase and name': async (t) => {
    const ns = await t.namespace()
    await t.get('/api/v1/namespaces', {
      query: { fieldSelector: `metadata.name=${ns},status.phase=Active` },
      pick: names,
    })
    await t.get('/api/v1/namespaces', {
      query: { fieldSelector: `metadata.name=${ns},status.phase=Terminating` },
      pick: names,
    })
    await t.get('/api/v1/namespaces', { query: { fieldSelector: `name=${ns}` }, pick: names })
    await t.get('/api/v1/namespaces', { query: { labelSelector: `kubernetes.io/metadata.name=${ns}` }, pick: names })
  },
  'events are selected by what they are about': async (t) => {
    const ns = await t.namespace()
    const all = `/api/v1/namespaces/${ns}/events`
    const event = (name: string, kind: string, reason: string, type: string) => ({
      metadata: { name },
      involvedObject: {
        kind,
        name: 'x',
        namespace: ns,
        uid: `u-${name}`,
        apiVersion: 'v1',
        resourceVersion: '7',
        fieldPath: 'spec.x',
      },
      reason,
      type,
      source: { component: 'tester' },
      reportingComponent: 'reporter',
      reportingInstance: 'r-1',
      action: 'Act',
      eventTime: '2030-01-01T00:00:00.000000Z',
    })
    await t.must('POST', all, { body: event('a', 'ConfigMap', 'Made', 'Normal') })
    await t.must('POST', all, { body: event('b', 'Secret', 'Lost', 'Warning') })
    const selectors = [
      'involvedObject.kind=Secret',
      'involvedObject.name=x',
      `involvedObject.namespace=${ns}`,
      'involvedObject.uid=u-a',
      'involvedObject.apiVersion=v1',
      'involvedObject.resourceVersion=7',
      'involvedObject.fieldPath=spec.x',
      'reason=Made',
      'type=Warning',
      'type!=Warning',
      'source=tester',
      'reportingComponent=reporter',
      'reason=Made,type=Normal',
      'nonsense=x',
    ]
    for (const fieldSelector of selectors) await t.get(all, { query: { fieldSelector }, pick: names })
  },
  'custom objects: only name and namespace by default': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    for (const name of ['a', 'b']) await t.must('POST', all, { body: widgets.object(name, { spec: { color: name } }) })
    await t.get(all, { query: { fieldSelector: 'metadata.name=a' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'metadata.namespace!=other' }, pick: names })
    await t.get(all, { query: { fieldSelector: 'spec.color=a' }, pick: names })
    await t.get(all, { query: { watch: true, fieldSelector: 'spec.color=a' }, pick: names })
    await t.delete(all, undefined, { query: { fieldSelector: 'spec.color=a' }, pick: names })
  },
  'custom objects: selectableFields can be selected by': async (t) => {
    const properties = {
      spec: {
        type: 'object',
        properties: {
          color: { type: 'string' },
          size: { type: 'integer' },
          on: { type: 'boolean' },
          other: { type: 'string' },
        },
      },
    }
    const widgets = await define(t, {
      properties,
      version: {
        selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }, { jsonPath: '.spec.on' }],
      },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { color: 'red', size: 1, on: true } }) })
    await t.must('POST', all, { body: widgets.object('b', { spec: { color: 'blue', size: 2, on: false } }) })
    await t.must('POST', all, { body: widgets.object('c', { spec: { color: 'blue' } }) })
    const selectors = [
      'spec.color=blue',
      'spec.color!=blue',
      'spec.color=blue,spec.size=2',
      'spec.on=true',
      'spec.on!=true',
      'spec.size=',
      'spec.color=blue,metadata.name=c',
      'spec.other=x',
      '.spec.color=blue',
    ]
    for (const fieldSelector of selectors) await t.get(all, { query: { fieldSelector }, pick: names })
    const { resourceVersion } = (await t.must('GET', all)).body.metadata
    const watch = await t.watch(all, { resourceVersion, fieldSelector: 'spec.color=red' })
    await t.must('PATCH', `${all}/b`, { type: 'application/merge-patch+json', body: { spec: { color: 'red' } } })
    await t.must('PATCH', `${all}/a`, { type: 'application/merge-patch+json', body: { spec: { color: 'green' } } })
    t.see(
      'watch',
      (await watch.take(2)).map(({ type, object }) => `${type} ${object.metadata.name} ${object.spec.color}`),
    )
    await t.delete(all, undefined, { query: { fieldSelector: 'spec.color=blue' }, pick: names })
    await t.get(all, { pick: names })
  },
})
