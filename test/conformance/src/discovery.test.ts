import { define, definition, register } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** The built-in kinds of the embedded server. The real server has more. */
const core =
  /^(namespaces|namespaces\/(status|finalize)|secrets|configmaps|events|serviceaccounts|serviceaccounts\/token)$/

const servedGroups = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'rbac.authorization.k8s.io',
]

const withoutHashes = (resources: Loose[]): Loose[] =>
  resources.map(({ storageVersionHash, ...rest }) => ({ ...rest, hash: typeof storageVersionHash }))
const byName = (resources: Loose[]): Loose[] => [...resources].sort((a, b) => (a.name < b.name ? -1 : 1))

conformance('discovery', {
  '/api names the core version': async (t) => {
    await t.get('/api', { pick: ({ serverAddressByClientCIDRs: _, ...rest }) => rest })
  },
  '/api/v1 lists the resources of the core group': async (t) => {
    await t.get('/api/v1', {
      pick: (body) => ({
        ...body,
        resources: byName(withoutHashes(body.resources.filter((each: Loose) => core.test(each.name)))),
      }),
    })
  },
  '/apis lists the groups with their versions': async (t) => {
    await t.get('/apis', {
      pick: (body) => ({
        ...body,
        groups: servedGroups.map((name) => body.groups.find((group: Loose) => group.name === name)),
      }),
    })
  },
  '/apis/GROUP says which version is preferred': async (t) => {
    for (const group of servedGroups) await t.get(`/apis/${group}`)
  },
  '/apis/GROUP/VERSION lists resources with verbs': async (t) => {
    const all = [
      'apiextensions.k8s.io/v1',
      'coordination.k8s.io/v1',
      'events.k8s.io/v1',
      'rbac.authorization.k8s.io/v1',
      'authorization.k8s.io/v1',
      'authentication.k8s.io/v1',
    ]
    for (const version of all) {
      await t.get(`/apis/${version}`, {
        pick: (body) => ({ ...body, resources: byName(withoutHashes(body.resources)) }),
      })
    }
    const policies = /^(validating|mutatingwebhook)/
    await t.get('/apis/admissionregistration.k8s.io/v1', {
      pick: (body) => byName(withoutHashes(body.resources.filter((each: Loose) => policies.test(each.name)))),
    })
  },
  'a trailing slash makes no difference': async (t) => {
    await t.get('/api/', { pick: (body) => body.versions })
    await t.get('/apis/', { pick: (body) => body.kind })
    await t.get('/apis/rbac.authorization.k8s.io/', { pick: (body) => body.name })
    await t.get('/apis/rbac.authorization.k8s.io/v1/', { pick: (body) => body.groupVersion })
  },
  'a CRD shows up in every document and goes again': async (t) => {
    const widgets = definition(t, { names: { shortNames: ['wd', 'wdg'], categories: ['all', 'things'] } })
    await t.get(`/apis/${widgets.group}`)
    await register(t, widgets)
    await t.get(`/apis/${widgets.group}`)
    await t.get(`/apis/${widgets.group}/v1`, {
      pick: (body) => ({ ...body, resources: withoutHashes(body.resources) }),
    })
    const listed = await t.until('/apis', ({ body }) =>
      body.groups.some((group: Loose) => group.name === widgets.group),
    )
    t.see(
      'in /apis',
      listed.body.groups.find((group: Loose) => group.name === widgets.group),
    )
    await t.must('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${widgets.group}`)
    await t.until(`/apis/${widgets.group}`, ({ status }) => status === 404)
    await t.get(`/apis/${widgets.group}`)
    await t.get(`/apis/${widgets.group}/v1`)
    await t.until('/apis', ({ body }) => !body.groups.some((group: Loose) => group.name === widgets.group))
  },
  'versions of a CRD are listed by priority': async (t) => {
    const version = (name: string, served = true) => ({
      name,
      served,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object' } },
    })
    const names = ['v1alpha1', 'v1', 'v2beta1', 'v10', 'v2', 'zzz', 'v1beta2']
    const widgets = await define(t, { versions: [...names.map((name) => version(name)), version('v11', false)] })
    await t.get(`/apis/${widgets.group}`)
  },
  'subresources of a CRD are listed': async (t) => {
    const widgets = await define(t, {
      version: {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    })
    await t.get(`/apis/${widgets.group}/v1`, { pick: (body) => withoutHashes(body.resources) })
  },
  'aggregated discovery of built-in groups': async (t) => {
    await t.get('/apis', {
      accept: AGGREGATED,
      pick: (body) => ({
        ...body,
        items: ['rbac.authorization.k8s.io', 'coordination.k8s.io', 'apiextensions.k8s.io'].map((name) => {
          const group = body.items.find((item: Loose) => item.metadata.name === name)
          const versions = group.versions.filter((each: Loose) => each.version === 'v1')
          return {
            ...group,
            metadata: group.metadata.name,
            versions: versions.map((each: Loose) => ({ ...each, freshness: each.freshness })),
          }
        }),
      }),
    })
    await t.get('/api', {
      accept: AGGREGATED,
      pick: (body) => ({
        kind: body.kind,
        apiVersion: body.apiVersion,
        resources: body.items[0].versions[0].resources.filter((each: Loose) => core.test(each.resource)),
      }),
    })
  },
  'aggregated discovery of a CRD': async (t) => {
    const widgets = await define(t, {
      names: { shortNames: ['wd'], categories: ['all'], singular: 'widget' },
      version: {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    })
    const mine = (body: Loose) => body.items.find((item: Loose) => item.metadata.name === widgets.group)
    const listed = await t.until('/apis', ({ body }) => mine(body) !== undefined, { accept: AGGREGATED })
    const group = mine(listed.body)
    t.see('group', { ...group, metadata: group.metadata.name })
  },
  'aggregated discovery has an ETag and honours it': async (t) => {
    const first = await t.quiet('GET', '/api', { accept: AGGREGATED })
    t.see('headers', {
      type: first.headers['content-type'],
      vary: first.headers['vary'],
      etag: typeof first.headers['etag'],
    })
    const again = await t.quiet('GET', '/api', {
      accept: AGGREGATED,
      headers: { 'if-none-match': first.headers['etag'] ?? '' },
    })
    t.see('again', { status: again.status, body: again.text })
  },
  'aggregated discovery is asked for with the versions that clients know': async (t) => {
    const pick = (body: Loose) => ({ kind: body.kind, apiVersion: body.apiVersion })
    const client =
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
    await t.get('/apis', { accept: client, pick })
    await t.get('/api', { accept: client, pick })
    await t.get('/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList', pick })
    await t.get('/apis', { accept: 'application/json', pick })
  },
  '/version': async (t) => {
    await t.get('/version', {
      pick: ({ major, minor, gitVersion, ...rest }) => ({
        major,
        minor,
        gitVersion: gitVersion.slice(0, 6),
        fields: Object.keys(rest).sort(),
      }),
    })
    await t.get('/version/', { pick: (body) => body.minor })
  },
  health: async (t) => {
    for (const path of ['/healthz', '/livez', '/readyz'])
      await t.get(path, { show: ['x-content-type-options', 'cache-control'] })
    await t.get('/readyz', { query: { verbose: '' }, pick: (text) => String(text).trimEnd().split('\n').at(-1) })
    await t.get('/livez/ping')
    await t.get('/livez/none')
  },
  'one check of health at a time': async (t) => {
    const shared = ['ping', 'log', 'etcd', 'poststarthook/rbac/bootstrap-roles', 'poststarthook/crd-informer-synced']
    for (const page of ['healthz', 'livez', 'readyz']) {
      for (const name of shared) await t.get(`/${page}/${name}`, { query: { verbose: '', exclude: name } })
    }
    for (const name of ['etcd-readiness', 'informer-sync', 'shutdown']) {
      await t.get(`/readyz/${name}`)
      await t.get(`/livez/${name}`)
    }
  },
  'health without some of its checks': async (t) => {
    const names = /\]ping |\]etcd |\]log |\]shutdown |^warn|passed$/
    const pick = (text: string) => text.split('\n').filter((line) => names.test(line))
    for (const page of ['healthz', 'livez', 'readyz']) {
      await t.get(`/${page}?verbose&exclude=etcd&exclude=log`, { pick })
      await t.get(`/${page}?verbose=false&exclude=ping&exclude=b&exclude=a,"&exclude=b`, { pick })
      await t.get(`/${page}?exclude=etcd&exclude=none`)
      await t.get(`/${page}?exclude=&verbose`, { pick })
    }
  },
  'health is asked by any method, and has nothing below a slash': async (t) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) await t.ask(method, '/readyz')
    for (const path of ['/healthz/', '/livez/', '/livez/ping/', '/metrics/', '/metrics/slis/', '/metrics/none']) {
      await t.get(path)
    }
  },
  '/metrics/slis tells how health was': async (t) => {
    await t.quiet('GET', '/livez')
    const { status, headers, text } = await t.quiet('GET', '/metrics/slis')
    // Whether the real server reports its start time there depends on the order of its two registries.
    const ours = /^# \w+ kubernetes_healthchecks?(_total)? |^kubernetes_healthcheck\{name="ping",type="livez"/
    const ping = text.split('\n').filter((line) => ours.test(line))
    const counted = /^kubernetes_healthchecks_total\{name="etcd",status="success",type="livez"\} [1-9]/m.test(text)
    t.see('slis', { status, type: headers['content-type']?.split(';')[0], ping, counted })
  },
  'version, discovery and keys are only read, with or without a slash': async (t) => {
    const pick = (body: Loose) => ({ message: body.message, fields: Object.keys(body).sort() })
    const keys = ['/openid/v1/jwks', '/.well-known/openid-configuration']
    const rbac = '/apis/rbac.authorization.k8s.io'
    for (const path of ['/version', '/api', '/api/v1', `${rbac}/v1`, '/apis', rbac, ...keys]) {
      await t.get(`${path}/`, { accept: '*/*', pick })
      for (const method of ['POST', 'PUT']) await t.ask(method, path, { pick })
    }
    for (const path of ['/openapi/v2/', '/openapi/v3/', '/api/v2', '/api/v2/']) await t.get(path)
  },
  '/metrics is Prometheus text': async (t) => {
    const { headers, text, status } = await t.quiet('GET', '/metrics')
    t.see('metrics', {
      status,
      type: headers['content-type']?.split(';')[0],
      counts: text.includes('apiserver_request_total{'),
    })
  },
  'an anonymous client sees health and version only': async (t) => {
    const anonymous = t.client({})
    for (const path of ['/healthz', '/livez', '/readyz']) await t.get(path, { as: anonymous })
    await t.get('/version', { as: anonymous, pick: (body) => body.major })
    for (const path of ['/api', '/apis', '/api/v1', '/openapi/v2', '/metrics', '/', '/api/v1/namespaces']) {
      await t.get(path, { as: anonymous })
    }
  },
  'a bad bearer token is 401, not anonymous': async (t) => {
    await t.get('/version', { as: t.client({ token: 'nonsense' }) })
    await t.get('/api', { as: t.client({ token: 'a.b.c' }) })
  },
})
