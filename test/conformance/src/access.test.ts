import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Http, Loose } from './harness/http.js'
import { configMap, configMapsIn, secretsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'
const rule = (resources: string[], verbs: string[], more: object = {}) => ({
  apiGroups: [''],
  resources,
  verbs,
  ...more,
})
const roleRef = (kind: string, name: string) => ({ apiGroup: GROUP, kind, name })
const user = (name: string) => ({ kind: 'User', apiGroup: GROUP, name })

/** Returns headers with which the administrator impersonates a user. */
const as = (name: string, ...groups: string[]): Record<string, string> => ({
  'impersonate-user': name,
  ...(groups[0] ? { 'impersonate-group': groups[0] } : {}),
})

async function grant(t: Case, namespace: string, who: string, rules: Loose[]): Promise<void> {
  await t.must('POST', `${RBAC}/namespaces/${namespace}/roles`, { body: { metadata: { name: 'r' }, rules } })
  await t.must('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
    body: { metadata: { name: 'b' }, roleRef: roleRef('Role', 'r'), subjects: [user(who)] },
  })
  await allowed(t, as(who), {
    namespace,
    verb: rules[0].verbs[0],
    resource: rules[0].resources[0],
    group: rules[0].apiGroups[0],
  })
}

/** Waits until the authorizer has seen a new grant. */
async function allowed(
  t: Case,
  headers: Record<string, string>,
  resourceAttributes: Loose,
  http?: Http,
): Promise<void> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const deadline = Date.now() + 120_000
  for (;;) {
    const { body } = await t.quiet('POST', path, { headers, body: { spec: { resourceAttributes } }, as: http })
    if (body.status?.allowed) return
    if (Date.now() > deadline) throw new Error(`never allowed: ${JSON.stringify(body)}`)
  }
}

const kindOf = (body: Loose) => (body.kind === 'Status' ? body : body.kind)

conformance('access', {
  'reviews: selectors that cannot be read': async (t) => {
    const review = (attributes: object) =>
      t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: { user: 'alice', resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } },
      })
    const known = { key: 'b', operator: 'Exists' }
    await review({ labelSelector: { requirements: [{ key: 'a', operator: 'Bad' }] } })
    await review({ labelSelector: { requirements: [{ key: 'a', operator: 'Bad' }, known] } })
    await review({ labelSelector: { requirements: [known] } })
    await review({ fieldSelector: { requirements: [known] } })
    await review({ fieldSelector: { requirements: [{ key: 'a', operator: 'In', values: ['x', 'y'] }] } })
    await review({ fieldSelector: { requirements: [known, { key: 'a', operator: 'NotIn', values: ['x'] }] } })
  },
  'refusals: browsers are told not to guess, and people what was asked': async (t) => {
    const all = configMapsIn(await t.namespace())
    const show = ['x-content-type-options']
    await t.get(all, { headers: as('alice'), show })
    await t.get('/nope', { headers: as('alice'), show })
    // Permission to GET a path does not include HEAD.
    await t.ask('HEAD', '/openapi/v3', { headers: as('alice'), show })
    await t.get(`${all}?limit=1&pretty=<b>`, { headers: { 'impersonate-group': 'g' }, show })
  },
  'nobody may do anything without a rule': async (t) => {
    const ns = await t.namespace()
    const headers = as(`nobody-${t.id}`)
    await t.get(configMapsIn(ns), { headers })
    await t.get(`${configMapsIn(ns)}/a`, { headers })
    await t.post(configMapsIn(ns), configMap('a'), { headers })
    await t.mergePatch(`${configMapsIn(ns)}/a`, {}, { headers })
    await t.put(`${configMapsIn(ns)}/a`, configMap('a'), { headers })
    await t.delete(`${configMapsIn(ns)}/a`, undefined, { headers })
    await t.delete(configMapsIn(ns), undefined, { headers })
    await t.get('/api/v1/configmaps', { headers, query: { watch: true } })
    await t.get(`${RBAC}/clusterroles`, { headers })
    await t.get('/api/v1/namespaces/default/none', { headers })
    await t.get('/metrics', { headers })
    await t.get('/api', { headers, pick: kindOf })
    await t.get(`/api/v1/namespaces/${ns}/status`, { headers })
    await t.post(`/api/v1/namespaces/${ns}/serviceaccounts/default/token`, {}, { headers })
  },
  'a role allows its verbs on its resources in its namespace': async (t) => {
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [rule(['configmaps'], ['get', 'list', 'create'])])
    await t.post(configMapsIn(ns), configMap('a'), { headers, pick: kindOf })
    await t.get(`${configMapsIn(ns)}/a`, { headers, pick: kindOf })
    await t.get(configMapsIn(ns), { headers, pick: kindOf })
    await t.get(configMapsIn(ns), { headers, query: { watch: true, timeoutSeconds: 1 } })
    await t.delete(`${configMapsIn(ns)}/a`, undefined, { headers })
    await t.get(secretsIn(ns), { headers })
    await t.get('/api/v1/configmaps', { headers })
  },
  'resourceNames narrow a rule': async (t) => {
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [
      rule(['secrets'], ['create']),
      rule(['configmaps'], ['get', 'list', 'delete'], { resourceNames: ['mine'] }),
    ])
    await t.get(`${configMapsIn(ns)}/mine`, { headers })
    await t.get(`${configMapsIn(ns)}/other`, { headers })
    await t.get(configMapsIn(ns), { headers })
    await t.get(configMapsIn(ns), { headers, query: { fieldSelector: 'metadata.name=mine' }, pick: kindOf })
  },
  'apply and update of what is not there need create': async (t) => {
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [rule(['configmaps'], ['patch', 'update'])])
    await t.apply(`${configMapsIn(ns)}/a`, 'm', configMap('a'), { headers })
    await t.put(`${configMapsIn(ns)}/a`, configMap('a'), { headers })
  },
  'subresources are separate': async (t) => {
    const widgets = await define(t, { version: { subresources: { status: {} } } })
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [rule(['widgets'], ['get', 'patch'], { apiGroups: [widgets.group] })])
    await t.must('POST', widgets.path(ns), { body: widgets.object('a') })
    await t.mergePatch(`${widgets.path(ns)}/a`, { metadata: { labels: { l: 'x' } } }, { headers, pick: kindOf })
    await t.mergePatch(`${widgets.path(ns)}/a/status`, {}, { headers })
  },
  'groups, and everybody who is authenticated': async (t) => {
    const ns = await t.namespace()
    const group = `g-${t.id}`
    await t.must('POST', `${RBAC}/namespaces/${ns}/rolebindings`, {
      body: {
        metadata: { name: 'b' },
        roleRef: roleRef('ClusterRole', 'view'),
        subjects: [{ kind: 'Group', apiGroup: GROUP, name: group }],
      },
    })
    await allowed(t, as('x', group), { namespace: ns, verb: 'list', resource: 'configmaps' })
    await t.get(configMapsIn(ns), { headers: as('x', group), pick: kindOf })
    await t.get(secretsIn(ns), { headers: as('x', group) })
    await t.post(configMapsIn(ns), configMap('a'), { headers: as('x', group) })
  },
  'what is asked of a token is read like any other object': async (t) => {
    const ns = await t.namespace()
    const account = `/api/v1/namespaces/${ns}/serviceaccounts/sa`
    await t.must('POST', account.slice(0, -3), { body: { metadata: { name: 'sa' } } })
    const pick = ({ kind, message, spec, reason }: Loose) => ({ kind, message, spec, reason })
    for (const body of [
      {},
      { metadata: null, spec: null },
      { metadata: 'x' },
      { metadata: { labels: { a: 1 } } },
      { kind: 5 },
      { kind: 'Other' },
      { apiVersion: 'v1' },
      { spec: { audiences: null, boundObjectRef: null } },
      { spec: { audiences: [1] } },
      { spec: { audiences: ['a'], expirationSeconds: 601 } },
      { spec: { expirationSeconds: 'x' } },
      { spec: { expirationSeconds: 600.5 } },
      { spec: { expirationSeconds: 1 } },
      { spec: { boundObjectRef: 'x' } },
      { spec: { unknown: 1 } },
    ]) {
      await t.post(`${account}/token`, body, { pick })
    }
    await t.post(`${account}/token`, { spec: { unknown: 1 } }, { query: { fieldValidation: 'Strict' }, pick })
    await t.ask('POST', `${account}/token`, { body: 'spec: {audiences: [b]}', type: 'application/yaml', pick })
  },
  'a service account by its token': async (t) => {
    const ns = await t.namespace()
    await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { body: { metadata: { name: 'sa' } } })
    const { body } = await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, { body: {} })
    const account = t.client({ token: body.status.token })
    await t.get(configMapsIn(ns), { as: account })
    await t.must('POST', `${RBAC}/namespaces/${ns}/roles`, {
      body: { metadata: { name: 'r' }, rules: [rule(['configmaps'], ['list'])] },
    })
    await t.must('POST', `${RBAC}/namespaces/${ns}/rolebindings`, {
      body: {
        metadata: { name: 'b' },
        roleRef: roleRef('Role', 'r'),
        subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: ns }],
      },
    })
    await allowed(t, {}, { namespace: ns, verb: 'list', resource: 'configmaps' }, account)
    await t.get(configMapsIn(ns), { as: account, pick: kindOf })
  },
  'nobody can grant more than they have': async (t) => {
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [
      rule(['roles', 'rolebindings'], ['create', 'update', 'patch'], { apiGroups: [GROUP] }),
      rule(['configmaps'], ['get']),
    ])
    const roles = `${RBAC}/namespaces/${ns}/roles`
    await t.post(roles, { metadata: { name: 'more' }, rules: [rule(['configmaps', 'secrets'], ['get'])] }, { headers })
    await t.post(
      roles,
      { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
      { headers },
    )
    await t.post(
      roles,
      { metadata: { name: 'same' }, rules: [rule(['configmaps'], ['get'])] },
      { headers, pick: kindOf },
    )
    await t.post(
      `${RBAC}/namespaces/${ns}/rolebindings`,
      { metadata: { name: 'x' }, roleRef: roleRef('ClusterRole', 'admin'), subjects: [user('x')] },
      { headers, pick: ({ reason, code, message }) => ({ reason, code, message: message.slice(0, 160) }) },
    )
    await t.post(
      `${RBAC}/namespaces/${ns}/rolebindings`,
      { metadata: { name: 'y' }, roleRef: roleRef('Role', 'same'), subjects: [user('y')] },
      { headers, pick: kindOf },
    )
    await t.post(
      `${RBAC}/namespaces/${ns}/rolebindings`,
      { metadata: { name: 'z' }, roleRef: roleRef('Role', 'none'), subjects: [user('y')] },
      { headers },
    )
  },
  'bind and escalate are verbs': async (t) => {
    const ns = await t.namespace()
    const headers = as(`u-${t.id}`)
    await grant(t, ns, `u-${t.id}`, [
      { apiGroups: [GROUP], resources: ['roles', 'rolebindings'], verbs: ['create', 'escalate'] },
      { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view'] },
    ])
    await t.post(
      `${RBAC}/namespaces/${ns}/roles`,
      { metadata: { name: 'more' }, rules: [rule(['secrets'], ['get'])] },
      { headers, pick: kindOf },
    )
    await t.post(
      `${RBAC}/namespaces/${ns}/rolebindings`,
      { metadata: { name: 'v' }, roleRef: roleRef('ClusterRole', 'view'), subjects: [user('x')] },
      { headers, pick: kindOf },
    )
  },
  'what is wrong with a role or a binding': async (t) => {
    const ns = await t.namespace()
    const roles = `${RBAC}/namespaces/${ns}/roles`
    const bindings = `${RBAC}/namespaces/${ns}/rolebindings`
    await t.post(roles, { metadata: { name: 'a' }, rules: [{}] })
    await t.post(roles, { metadata: { name: 'a' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] })
    await t.post(roles, { metadata: { name: 'a' }, rules: [{ verbs: ['get'], resources: ['x'] }] })
    await t.post(`${RBAC}/clusterroles`, {
      metadata: { name: `a-${t.id}` },
      rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['y'], apiGroups: [''] }],
    })
    await t.post(bindings, { metadata: { name: 'a' } })
    await t.post(bindings, { metadata: { name: 'a' }, roleRef: roleRef('Nonsense', 'x') })
    await t.post(bindings, { metadata: { name: 'a' }, roleRef: { ...roleRef('Role', 'x'), apiGroup: 'other' } })
    await t.post(bindings, {
      metadata: { name: 'a' },
      roleRef: roleRef('Role', 'x'),
      subjects: [
        { kind: 'Nonsense', name: 'x' },
        { kind: 'User', name: '' },
        { kind: 'ServiceAccount', name: 'BAD' },
      ],
    })
    await t.post(`${RBAC}/clusterrolebindings`, { metadata: { name: `a-${t.id}` }, roleRef: roleRef('Role', 'x') })
    await t.must('POST', bindings, { body: { metadata: { name: 'a' }, roleRef: roleRef('Role', 'x') } })
    await t.mergePatch(`${bindings}/a`, { roleRef: { name: 'y' } })
    await t.post(roles, { metadata: { name: 'system:odd:name' }, rules: [] }, { pick: kindOf })
    await t.post(roles, { metadata: { name: 'bad/name' }, rules: [] })
  },
  'ClusterRoles aggregate by label': async (t) => {
    const label = `agg-${t.id}`
    const parent = `${RBAC}/clusterroles/parent-${t.id}`
    await t.must('POST', `${RBAC}/clusterroles`, {
      body: {
        metadata: { name: `parent-${t.id}` },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
      },
    })
    t.cleanup(() => t.quiet('DELETE', parent))
    for (const name of ['b', 'a']) {
      await t.must('POST', `${RBAC}/clusterroles`, {
        body: {
          metadata: { name: `${name}-${t.id}`, labels: { [label]: 'true' } },
          rules: [rule([`${name}s`], ['get'])],
        },
      })
      t.cleanup(() => t.quiet('DELETE', `${RBAC}/clusterroles/${name}-${t.id}`))
    }
    const now = await t.until(parent, ({ body }) => body.rules?.length === 2)
    t.see('rules', now.body.rules)
    await t.must('DELETE', `${RBAC}/clusterroles/a-${t.id}`)
    const then = await t.until(parent, ({ body }) => body.rules?.length === 1)
    t.see('after one is gone', then.body.rules)
  },
  'the roles that are always there': async (t) => {
    const names = [
      'admin',
      'cluster-admin',
      'edit',
      'view',
      'system:basic-user',
      'system:discovery',
      'system:public-info-viewer',
      'system:aggregate-to-admin',
    ]
    for (const name of names) {
      await t.get(`${RBAC}/clusterroles/${name}`, {
        pick: (body) => ({
          labels: body.metadata.labels,
          annotations: body.metadata.annotations,
          aggregation: body.aggregationRule,
        }),
      })
    }
    for (const name of ['cluster-admin', 'system:discovery', 'system:basic-user', 'system:public-info-viewer']) {
      await t.get(`${RBAC}/clusterrolebindings/${name}`, {
        pick: ({ roleRef: ref, subjects, metadata }) => ({
          ref,
          subjects,
          labels: metadata.labels,
          annotations: metadata.annotations,
        }),
      })
    }
    for (const name of ['cluster-admin', 'system:basic-user', 'system:discovery', 'system:public-info-viewer'])
      await t.get(`${RBAC}/clusterroles/${name}`, { pick: (body) => body.rules })
  },
  'impersonation: who one is then': async (t) => {
    const review = (headers: Record<string, string>) =>
      t.post(
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        {},
        { headers, pick: (body) => (body.kind === 'Status' ? body : body.status) },
      )
    await review({ 'impersonate-user': 'alice' })
    await review({
      'impersonate-user': 'alice',
      'impersonate-group': 'admins',
      'impersonate-extra-scopes': 'x',
      'impersonate-uid': 'u-1',
    })
    await review({ 'impersonate-user': 'system:serviceaccount:default:x' })
    await review({ 'impersonate-user': 'system:anonymous' })
    await review({ 'impersonate-group': 'admins' })
  },
  'impersonation: only those who may': async (t) => {
    const ns = await t.namespace()
    await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { body: { metadata: { name: 'sa' } } })
    const { body } = await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, { body: {} })
    const account = t.client({ token: body.status.token })
    await t.get('/api', { as: account, headers: { 'impersonate-user': 'alice' } })
    await t.get('/api', { as: account, headers: { 'impersonate-user': 'system:serviceaccount:default:x' } })
    await t.get('/api', { as: t.client({}), headers: { 'impersonate-user': 'alice' } })
    const role = {
      metadata: { name: `imp-${t.id}` },
      rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['alice'] }],
    }
    await t.must('POST', `${RBAC}/clusterroles`, { body: role })
    await t.must('POST', `${RBAC}/clusterrolebindings`, {
      body: {
        metadata: { name: `imp-${t.id}` },
        roleRef: roleRef('ClusterRole', `imp-${t.id}`),
        subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: ns }],
      },
    })
    t.cleanup(() =>
      Promise.all(
        ['clusterroles', 'clusterrolebindings'].map((each) => t.quiet('DELETE', `${RBAC}/${each}/imp-${t.id}`)),
      ),
    )
    await t.until('/api', ({ status }) => status === 200, { as: account, headers: { 'impersonate-user': 'alice' } })
    await t.get('/api', { as: account, headers: { 'impersonate-user': 'bob' } })
    await t.get('/api', {
      as: account,
      headers: { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' },
    })
  },
  SelfSubjectAccessReview: async (t) => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const ns = await t.namespace()
    const attributes = { namespace: ns, verb: 'get', resource: 'configmaps' }
    await t.post(
      path,
      { spec: { resourceAttributes: attributes } },
      { pick: (body) => ({ ...body, status: { allowed: body.status.allowed } }) },
    )
    await t.post(path, { spec: { resourceAttributes: attributes } }, { headers: as(`nobody-${t.id}`) })
    await t.post(
      path,
      { spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } } },
      { headers: as(`nobody-${t.id}`), pick: (body) => body.status.allowed },
    )
    await t.post(path, { spec: {} })
    await t.post(path, { spec: { resourceAttributes: attributes, nonResourceAttributes: { path: '/x', verb: 'get' } } })
  },
  'SubjectAccessReview and LocalSubjectAccessReview': async (t) => {
    const ns = await t.namespace()
    await grant(t, ns, `u-${t.id}`, [rule(['configmaps'], ['get'])])
    const spec = { user: `u-${t.id}`, resourceAttributes: { namespace: ns, verb: 'get', resource: 'configmaps' } }
    await t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })
    await t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { ...spec, resourceAttributes: { ...spec.resourceAttributes, verb: 'list' } },
    })
    await t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { resourceAttributes: spec.resourceAttributes },
    })
    await t.post(
      `/apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`,
      { spec },
      { pick: (body) => body.status },
    )
    await t.post(`/apis/authorization.k8s.io/v1/namespaces/other/localsubjectaccessreviews`, { spec })
    await t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: 'x', groups: ['system:masters'], nonResourceAttributes: { path: '/any', verb: 'post' } },
    })
  },
  SelfSubjectRulesReview: async (t) => {
    const ns = await t.namespace()
    await grant(
      t,
      ns,
      `u-${t.id}`,
      [rule(['configmaps'], ['get'], { resourceNames: ['x'] }), rule(['secrets'], ['list'])].reverse(),
    )
    await t.post(
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: { namespace: ns } },
      {
        headers: as(`u-${t.id}`),
        pick: (body) => ({
          mine: body.status.resourceRules
            .filter((each: Loose) => each.apiGroups[0] === '')
            .sort((a: Loose, b: Loose) => (a.resources[0] < b.resources[0] ? -1 : 1)),
          incomplete: body.status.incomplete,
        }),
      },
    )
    await t.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: {} })
  },
  'SelfSubjectReview and TokenReview': async (t) => {
    await t.post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {},
      { headers: as('alice', 'g'), pick: ({ metadata: _, ...rest }) => rest },
    )
    const ns = await t.namespace()
    await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { body: { metadata: { name: 'sa' } } })
    const { body } = await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, { body: {} })
    const { body: review } = await t.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: { spec: { token: body.status.token } },
    })
    t.see('a good token', {
      ...review.status,
      user: { ...review.status.user, extra: Object.keys(review.status.user.extra) },
    })
    await t.post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { spec: { token: 'nonsense' } },
      { pick: ({ status }) => ({ ...status, error: typeof status.error }) },
    )
    await t.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} })
    const { body: other } = await t.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: { spec: { token: body.status.token, audiences: ['other'] } },
    })
    t.see('for another audience', { authenticated: other.status.authenticated, error: typeof other.status.error })
  },
})
