import type { Case } from './harness/case.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn, secretsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const leasesIn = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
const eventsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/events`
const newEventsIn = (namespace: string) => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
const claimsOf = (token: string): Loose => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'))

async function account(t: Case): Promise<{ ns: string; path: string }> {
  const ns = await t.namespace()
  const path = `/api/v1/namespaces/${ns}/serviceaccounts`
  await t.must('POST', path, { body: { metadata: { name: 'sa' } } })
  return { ns, path: `${path}/sa` }
}

conformance('builtin', {
  'namespaces: created Active with a label and a finalizer': async (t) => {
    await t.post('/api/v1/namespaces', { metadata: { name: `ns-${t.id}` } })
    await t.post('/api/v1/namespaces', { metadata: { name: 'Bad_Name' } })
    await t.post('/api/v1/namespaces', { metadata: { name: 'a.b' } })
    await t.mergePatch(
      `/api/v1/namespaces/ns-${t.id}`,
      { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
      { pick: (body) => body.metadata?.labels ?? body },
    )
    await t.post('/api/v1/namespaces', {
      metadata: { name: `fin-${t.id}` },
      spec: { finalizers: ['example.com/x', 'nodomain'] },
    })
  },
  'namespaces: get a service account and the CA': async (t) => {
    const ns = await t.namespace()
    const made = await t.until(`/api/v1/namespaces/${ns}/serviceaccounts/default`, ({ status }) => status === 200)
    t.see('default', made.body)
    const root = await t.until(`${configMapsIn(ns)}/kube-root-ca.crt`, ({ status }) => status === 200)
    t.see('CA', {
      keys: Object.keys(root.body.data),
      pem: root.body.data['ca.crt'].startsWith('-----BEGIN CERTIFICATE'),
      annotations: Object.keys(root.body.metadata.annotations ?? {}),
    })
  },
  'namespaces: deletion empties them first': async (t) => {
    const ns = await t.namespace()
    await t.must('POST', configMapsIn(ns), { body: configMap('a', {}, { finalizers: ['x.io/hold'] }) })
    await t.must('POST', secretsIn(ns), { body: { metadata: { name: 's' } } })
    await t.delete(`/api/v1/namespaces/${ns}`, undefined, {
      pick: (body) => ({ kind: body.kind, phase: body.status?.phase, finalizers: body.spec?.finalizers }),
    })
    await t.post(configMapsIn(ns), configMap('b'))
    await t.until(`${secretsIn(ns)}/s`, ({ status }) => status === 404)
    const now = await t.until(`/api/v1/namespaces/${ns}`, ({ body }) =>
      body.status.conditions?.some(
        (each: Loose) => each.type === 'NamespaceFinalizersRemaining' && each.status === 'True',
      ),
    )
    t.see(
      'conditions',
      now.body.status.conditions.map(({ type, status, reason }: Loose) => `${type} ${status} ${reason}`).sort(),
    )
    await t.must('PATCH', `${configMapsIn(ns)}/a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    await t.until(`/api/v1/namespaces/${ns}`, ({ status }) => status === 404)
  },
  'namespaces: those that cannot go': async (t) => {
    for (const name of ['default', 'kube-system', 'kube-public'])
      await t.delete(`/api/v1/namespaces/${name}`, undefined, { query: { dryRun: 'All' } })
  },
  'namespaces: finalize': async (t) => {
    const ns = await t.namespace()
    await t.put(
      `/api/v1/namespaces/${ns}/finalize`,
      { metadata: { name: ns }, spec: { finalizers: ['example.com/x', 'kubernetes'] } },
      { pick: (body) => body.spec },
    )
    await t.put(
      `/api/v1/namespaces/${ns}/finalize`,
      { metadata: { name: ns }, spec: { finalizers: ['kubernetes'] } },
      { pick: (body) => body.spec },
    )
  },
  'config maps: immutable': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { ...configMap('a', { k: 'v' }), immutable: true })
    await t.mergePatch(`${all}/a`, { data: { k: 'w' } })
    await t.mergePatch(`${all}/a`, { immutable: null })
    await t.mergePatch(
      `${all}/a`,
      { metadata: { labels: { l: 'x' } } },
      { pick: (body) => body.metadata?.labels ?? body },
    )
    await t.mergePatch(`${all}/a`, { binaryData: { b: 'eA==' } })
  },
  'config maps: too big': async (t) => {
    await t.post(configMapsIn(await t.namespace()), configMap('a', { k: 'x'.repeat(1024 * 1024 + 1) }))
  },
  'config maps: binaryData': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, { ...configMap('a'), binaryData: { b: Buffer.from([0, 255, 1]).toString('base64'), e: '' } })
  },
  'secrets: types demand their keys': async (t) => {
    const all = secretsIn(await t.namespace())
    const secret = (type: string, data: Record<string, string> = {}, more: object = {}) => ({
      metadata: { name: `s-${type.replaceAll(/[^a-z]/g, '-')}`, ...more },
      type,
      stringData: data,
    })
    await t.post(all, secret('kubernetes.io/tls'))
    await t.post(all, secret('kubernetes.io/tls', { 'tls.crt': 'x', 'tls.key': 'y' }), { pick: (body) => body.kind })
    await t.post(all, secret('kubernetes.io/basic-auth'))
    await t.post(all, secret('kubernetes.io/ssh-auth'))
    await t.post(all, secret('kubernetes.io/dockerconfigjson'))
    await t.post(all, secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'not json' }))
    await t.post(all, secret('kubernetes.io/dockercfg', { '.dockercfg': '{}' }), { pick: (body) => body.kind })
    await t.post(all, secret('kubernetes.io/service-account-token'))
    await t.post(all, secret('bootstrap.kubernetes.io/token', { x: 'y' }), { pick: (body) => body.kind })
  },
  'secrets: stringData goes into data': async (t) => {
    const all = secretsIn(await t.namespace())
    await t.post(all, {
      metadata: { name: 'a' },
      data: { a: 'eA==', both: 'eA==' },
      stringData: { both: 'string wins', c: '' },
    })
    await t.mergePatch(`${all}/a`, { stringData: { a: 'new' } })
    await t.mergePatch(`${all}/a`, { type: 'other' })
  },
  'secrets: immutable and too big': async (t) => {
    const all = secretsIn(await t.namespace())
    await t.post(all, { metadata: { name: 'a' }, immutable: true, stringData: { k: 'v' } })
    await t.mergePatch(`${all}/a`, { stringData: { k: 'w' } })
    await t.post(all, { metadata: { name: 'b' }, stringData: { k: 'x'.repeat(1024 * 1024 + 1) } })
  },
  'secrets: a token for a service account is filled in': async (t) => {
    const { ns } = await account(t)
    const all = secretsIn(ns)
    await t.must('POST', all, {
      body: {
        metadata: { name: 'tok', annotations: { 'kubernetes.io/service-account.name': 'sa' } },
        type: 'kubernetes.io/service-account-token',
      },
    })
    const now = await t.until(`${all}/tok`, ({ body }) => body.data?.token !== undefined)
    t.see('keys', Object.keys(now.body.data).sort())
    t.see('claims', Object.keys(claimsOf(Buffer.from(now.body.data.token, 'base64').toString('utf8'))).sort())
  },
  'service accounts: tokens': async (t) => {
    const { ns, path } = await account(t)
    const answer = await t.must('POST', `${path}/token`, {
      body: { spec: { audiences: ['https://example.com'], expirationSeconds: 3600 } },
    })
    t.see('request', {
      ...answer.body,
      spec: answer.body.spec,
      status: Object.keys(answer.body.status).sort(),
      metadata: { ...answer.body.metadata },
    })
    const { exp, iat, nbf, jti, 'kubernetes.io': bound, ...claims } = claimsOf(answer.body.status.token)
    t.see('claims', {
      claims: { ...claims, iss: typeof claims.iss },
      seconds: exp - iat,
      nbf: nbf === iat,
      jti: typeof jti,
      bound,
    })
    await t.post(`${path}/token`, { spec: { expirationSeconds: 5 } })
    await t.post(`${path}/token`, { spec: { expirationSeconds: 2 ** 33 } })
    await t.post(`${path}/token`, { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'none' } } })
    await t.post(`${path}/token`, { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'none' } } })
    await t.post(`/api/v1/namespaces/${ns}/serviceaccounts/none/token`, {})
  },
  'service accounts: a token dies with its account or its object': async (t) => {
    const { ns, path } = await account(t)
    await t.must('POST', secretsIn(ns), { body: { metadata: { name: 'bound' } } })
    const bound = await t.must('POST', `${path}/token`, {
      body: { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'bound' } } },
    })
    const free = await t.must('POST', `${path}/token`, { body: {} })
    const [one, two] = [t.client({ token: bound.body.status.token }), t.client({ token: free.body.status.token })]
    await t.get('/api', { as: one, pick: (body) => body.kind })
    await t.must('DELETE', `${secretsIn(ns)}/bound`)
    await t.until('/api', ({ status }) => status === 401, { as: one })
    await t.get('/api', { as: two, pick: (body) => body.kind })
    await t.must('DELETE', path)
    await t.until('/api', ({ status }) => status === 401, { as: two })
    await t.get('/api', { as: two })
  },
  'service accounts: who they are': async (t) => {
    const { path } = await account(t)
    const { body } = await t.must('POST', `${path}/token`, { body: {} })
    await t.post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {},
      {
        as: t.client({ token: body.status.token }),
        pick: ({ status }) => ({ ...status.userInfo, extra: Object.keys(status.userInfo.extra ?? {}) }),
      },
    )
  },
  'leases: kept as given, checked': async (t) => {
    const all = leasesIn(await t.namespace())
    await t.post(all, {
      metadata: { name: 'a' },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2020-01-01T00:00:00.000000Z',
        renewTime: '2020-01-01T00:00:00.123456Z',
        leaseTransitions: 0,
      },
    })
    await t.mergePatch(`${all}/a`, { spec: { renewTime: '2020-01-01T00:00:01.5Z' } })
    await t.mergePatch(`${all}/a`, { spec: { leaseDurationSeconds: 0 } })
    await t.mergePatch(`${all}/a`, { spec: { leaseDurationSeconds: -1, leaseTransitions: -1 } })
    await t.mergePatch(`${all}/a`, { spec: { renewTime: 'yesterday' } })
    await t.post(all, { metadata: { name: 'b' }, spec: { strategy: 'OldestEmulationVersion' } })
    await t.post(all, { metadata: { name: 'c' }, spec: { preferredHolder: 'x' } })
    const now = await t.must('GET', `${all}/a`)
    await t.put(`${all}/a`, { ...now.body, spec: { ...now.body.spec, holderIdentity: 'you', leaseTransitions: 1 } })
    await t.put(`${all}/a`, { ...now.body, spec: { holderIdentity: 'third' } })
  },
  'events: core': async (t) => {
    const ns = await t.namespace()
    const event = {
      metadata: { name: 'a' },
      involvedObject: { kind: 'ConfigMap', namespace: ns, name: 'x' },
      reason: 'Made',
      message: 'made it',
      type: 'Normal',
      count: 1,
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:00Z',
      source: { component: 'tester' },
    }
    await t.post(eventsIn(ns), event)
    await t.mergePatch(`${eventsIn(ns)}/a`, { count: 2, lastTimestamp: '2020-01-01T00:00:09Z' })
    await t.get(`${newEventsIn(ns)}/a`)
    await t.post(eventsIn(ns), {
      ...event,
      metadata: { name: 'b' },
      involvedObject: { kind: 'ConfigMap', namespace: 'other', name: 'x' },
    })
    await t.post(
      eventsIn('default'),
      { ...event, metadata: { name: `c-${t.id}` }, involvedObject: { kind: 'Namespace', name: 'x' } },
      { pick: (body) => body.kind },
    )
    await t.post(eventsIn(ns), { ...event, metadata: { name: 'd' }, involvedObject: { kind: 'Namespace', name: 'x' } })
    await t.post(
      eventsIn(ns),
      { ...event, metadata: { name: 'e' }, type: 'Strange' },
      { pick: (body) => body.type ?? body },
    )
    await t.post(eventsIn(ns), { metadata: { name: 'f' } })
    await t.get(eventsIn(ns), { pick: (body) => [body.kind, body.items.map((item: Loose) => item.metadata.name)] })
  },
  'events: events.k8s.io': async (t) => {
    const ns = await t.namespace()
    const event = {
      metadata: { name: 'a' },
      eventTime: '2020-01-01T00:00:00.000000Z',
      reportingController: 'example.com/tester',
      reportingInstance: 'tester-1',
      action: 'Make',
      reason: 'Made',
      regarding: { kind: 'ConfigMap', namespace: ns, name: 'x' },
      note: 'made it',
      type: 'Normal',
    }
    await t.post(newEventsIn(ns), event)
    await t.get(`${eventsIn(ns)}/a`)
    await t.mergePatch(`${newEventsIn(ns)}/a`, {
      series: { count: 2, lastObservedTime: '2020-01-01T00:00:05.000000Z' },
    })
    await t.mergePatch(`${newEventsIn(ns)}/a`, { note: 'other' })
    await t.post(newEventsIn(ns), { metadata: { name: 'b' } })
    await t.post(newEventsIn(ns), { ...event, metadata: { name: 'c' }, type: 'Strange' })
    await t.post(newEventsIn(ns), {
      ...event,
      metadata: { name: 'd' },
      reportingController: 'bad controller',
      note: 'n'.repeat(1025),
    })
    await t.post(newEventsIn(ns), { ...event, metadata: { name: 'e' }, series: { count: 1 } })
    await t.get(newEventsIn(ns), {
      query: { fieldSelector: 'reason=Made' },
      pick: (body) => body.items?.length ?? body,
    })
    await t.get(newEventsIn(ns), {
      query: { fieldSelector: 'regarding.name=x' },
      pick: (body) => body.items?.length ?? body,
    })
  },
})
