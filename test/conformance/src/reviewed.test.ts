import { policed, reviewed, rulesFor, seen } from './harness/admission.js'
import { type Case, MERGE_PATCH } from './harness/case.js'
import { type Definition, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

/** Defines a kind with `/scale`, and creates one object of it. */
async function scaled(t: Case): Promise<Definition & { readonly own: string }> {
  const replicas = { type: 'object', properties: { replicas: { type: 'integer' } } }
  const widgets = await define(t, {
    properties: { spec: replicas, status: replicas },
    version: {
      subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    },
  })
  const own = widgets.path(await t.namespace())
  await t.must('POST', own, { body: widgets.object('a', { spec: { replicas: 1 } }) })
  return { ...widgets, own }
}

const REVIEWS = '/apis/authorization.k8s.io/v1'

/** Returns every kind of review with a mark of the case: the token, user, name or namespace. */
function reviewKinds(t: Case, namespace: string): readonly Loose[] {
  const user = `user-${t.id}`
  const resourceAttributes = { verb: 'get', resource: 'pods', name: user }
  return [
    {
      group: 'authentication.k8s.io',
      resource: 'tokenreviews',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      spec: { token: user },
      mark: 'object.?spec.?token',
    },
    {
      group: 'authorization.k8s.io',
      resource: 'subjectaccessreviews',
      path: `${REVIEWS}/subjectaccessreviews`,
      spec: { user, resourceAttributes },
      mark: 'object.?spec.?user',
    },
    {
      group: 'authorization.k8s.io',
      resource: 'selfsubjectaccessreviews',
      path: `${REVIEWS}/selfsubjectaccessreviews`,
      spec: { resourceAttributes },
      mark: 'object.?spec.?resourceAttributes.?name',
    },
    {
      group: 'authorization.k8s.io',
      resource: 'localsubjectaccessreviews',
      path: `${REVIEWS}/namespaces/${namespace}/localsubjectaccessreviews`,
      spec: { user, resourceAttributes: { ...resourceAttributes, namespace } },
      mark: 'object.?spec.?user',
    },
    {
      group: 'authorization.k8s.io',
      resource: 'selfsubjectrulesreviews',
      path: `${REVIEWS}/selfsubjectrulesreviews`,
      spec: { namespace: user },
      mark: 'object.?spec.?namespace',
    },
  ]
}

conformance('reviewed', {
  'scale: admission sees a Scale': async (t) => {
    const { own, group } = await scaled(t)
    const patch = (replicas: number, query = {}) =>
      t.must('PATCH', `${own}/a/scale`, { type: MERGE_PATCH, body: { spec: { replicas } }, query })
    const hook = await reviewed(t, { rules: rulesFor(group, '*/*'), probe: () => patch(9, { dryRun: 'All' }) })
    await patch(2)
    const { body } = await t.must('GET', `${own}/a/scale`)
    await t.must('PUT', `${own}/a/scale`, { body: { ...body, spec: { replicas: 3 } } })
    t.see(
      'reviews',
      seen(hook, ({ apiVersion, kind, metadata, spec }) => ({ apiVersion, kind, name: metadata.name, spec })),
    )
  },
  'serviceaccounts/token: admission sees a TokenRequest': async (t) => {
    const ns = await t.namespace()
    await t.must('PATCH', `/api/v1/namespaces/${ns}`, {
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { case: t.id } } },
    })
    const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`
    await t.must('POST', accounts, { body: { metadata: { name: 'robot' } } })
    const request = (query = {}) => t.must('POST', `${accounts}/robot/token`, { body: {}, query })
    const narrow = { namespaceSelector: { matchLabels: { case: t.id } } }
    const hook = await reviewed(t, {
      rules: rulesFor('', 'serviceaccounts/token'),
      narrow,
      probe: () => request(),
    })
    await request()
    t.see(
      'reviews',
      seen(hook, ({ apiVersion, kind, metadata, spec }) => ({
        apiVersion,
        kind,
        namespace: metadata.namespace,
        spec: spec.expirationSeconds,
      })),
    )
  },
  'scale: a mutating webhook changes the Scale': async (t) => {
    const { own, group } = await scaled(t)
    const patch = (replicas: number, query = {}) =>
      t.quiet('PATCH', `${own}/a/scale`, { type: MERGE_PATCH, body: { spec: { replicas } }, query })
    const hook = await reviewed(t, {
      rules: rulesFor(group, '*/scale'),
      probe: () => patch(9, { dryRun: 'All' }),
      patch: ({ object }) =>
        object.spec.replicas === 2
          ? [{ op: 'replace', path: '/spec/replicas', value: 7 }]
          : object.spec.replicas === 3
            ? [{ op: 'add', path: '/metadata/labels', value: { ignored: 'yes' } }]
            : object.spec.replicas === 4
              ? [{ op: 'replace', path: '/spec/replicas', value: -1 }]
              : undefined,
    })
    const facts = ({ kind, metadata, spec, status }: Loose) => ({ kind, labels: metadata?.labels, spec, status })
    for (const replicas of [2, 3, 4, 5]) {
      await t.mergePatch(`${own}/a/scale`, { spec: { replicas } }, { pick: (body) => (body.spec ? facts(body) : body) })
      await t.get(`${own}/a`, { pick: facts })
    }
    t.see(
      'reviews',
      seen(hook, ({ kind, spec }) => ({ kind, spec })),
    )
  },
  'scale: a policy sees the Scale': async (t) => {
    const { own, group } = await scaled(t)
    const scale = (replicas: number, query = {}) => ({ type: MERGE_PATCH, body: { spec: { replicas } }, query })
    await policed(t, {
      rules: rulesFor(group, '*/scale'),
      expression: 'object.kind == "Scale" && oldObject.kind == "Scale" && object.spec.replicas < 5',
      messageExpression:
        'object.kind + " " + string(object.spec.replicas) + " of " + request.kind.kind + " " + request.resource.resource + "/" + request.subResource',
      probe: () => t.quiet('PATCH', `${own}/a/scale`, scale(6, { dryRun: 'All' })),
    })
    const facts = (body: Loose) => (body.kind === 'Status' ? body : { kind: body.kind, spec: body.spec })
    await t.mergePatch(`${own}/a/scale`, { spec: { replicas: 4 } }, { pick: facts })
    await t.mergePatch(`${own}/a/scale`, { spec: { replicas: 5 } }, { pick: facts })
    await t.mergePatch(`${own}/a`, { spec: { replicas: 8 } }, { pick: facts })
    await t.jsonPatch(`${own}/a/scale`, [{ op: 'replace', path: '/spec/replicas', value: 9 }], { pick: facts })
    const { body } = await t.must('GET', `${own}/a/scale`)
    await t.put(`${own}/a/scale`, { ...body, spec: { replicas: 6 } }, { pick: facts })
    await t.put(`${own}/a/scale`, { ...body, spec: { replicas: 3 } }, { pick: facts })
  },
  'reviews: webhooks see them': async (t) => {
    const all = reviewKinds(t, await t.namespace())
    const facts = ({ apiVersion, kind, metadata, spec, status }: Loose) => ({
      apiVersion,
      kind,
      metadata,
      spec,
      status,
    })
    const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    for (const { group, resource, path, spec, mark } of all) {
      const ask = () => t.must('POST', path, { body: { spec } })
      const hook = await reviewed(t, {
        rules: rulesFor(group, resource),
        narrow: { matchConditions: [{ name: 'own', expression: ownReview(t)({ mark }) }] },
        probe: ask,
      })
      await ask()
      t.see(resource, seen(hook, facts))
      await t.must('DELETE', `${hooks}/reviewed-${t.id}`)
    }
  },
  'reviews: policies never apply to them': async (t) => {
    const ns = await t.namespace()
    const configMaps = `/api/v1/namespaces/${ns}/configmaps`
    const groups = ['', 'authorization.k8s.io', 'authentication.k8s.io']
    const own = [`request.?namespace.orValue('') == '${ns}'`, ...reviewKinds(t, ns).map(ownReview(t))].join(' || ')
    await policed(t, {
      rules: { ...rulesFor('', '*'), apiGroups: groups },
      conditions: [{ name: 'own', expression: own }],
      expression: 'false',
      probe: () => t.quiet('POST', configMaps, { body: { metadata: { name: 'a' } }, query: { dryRun: 'All' } }),
    })
    for (const { path, spec } of reviewKinds(t, ns)) await t.post(path, { spec }, { pick: ({ kind }) => kind })
    await t.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { pick: ({ kind }) => kind })
  },
  'reviews: a mutating webhook changes them': async (t) => {
    const ns = await t.namespace()
    const path = `${REVIEWS}/subjectaccessreviews`
    const user = `user-${t.id}`
    const ask = (verb: string) => ({ spec: { user, resourceAttributes: { verb, resource: 'pods', namespace: ns } } })
    await reviewed(t, {
      rules: rulesFor('authorization.k8s.io', 'subjectaccessreviews'),
      narrow: { matchConditions: [{ name: 'own', expression: `object.?spec.?user.orValue('') == '${user}'` }] },
      probe: () => t.must('POST', path, { body: ask('list') }),
      patch: ({ object }) =>
        object.spec.resourceAttributes.verb === 'get'
          ? [{ op: 'add', path: '/spec/groups', value: ['system:masters'] }]
          : object.spec.resourceAttributes.verb === 'update'
            ? [{ op: 'remove', path: '/spec/user' }]
            : undefined,
    })
    for (const verb of ['get', 'list', 'update']) await t.post(path, ask(verb), { pick: withoutReason })
  },
  'reviews: fields are checked before or after admission': async (t) => {
    const ns = await t.namespace()
    const mark = `user-${t.id}`
    const metadata = { labels: { case: mark } }
    const bodies: Record<string, Loose> = {
      '/apis/authentication.k8s.io/v1/tokenreviews': [{}, { token: '' }, { token: mark }],
      [`${REVIEWS}/subjectaccessreviews`]: [
        {},
        { user: mark },
        { user: mark, resourceAttributes: {}, nonResourceAttributes: {} },
        { resourceAttributes: { verb: 'get' } },
      ],
      [`${REVIEWS}/selfsubjectaccessreviews`]: [{}, { resourceAttributes: {}, nonResourceAttributes: {} }],
      [`${REVIEWS}/namespaces/${ns}/localsubjectaccessreviews`]: [
        {},
        { user: mark, resourceAttributes: { verb: 'get', namespace: 'other' } },
        { user: mark, nonResourceAttributes: { verb: 'get', path: '/' } },
      ],
      [`${REVIEWS}/selfsubjectrulesreviews`]: [{}, { namespace: '' }],
    }
    for (const [path, specs] of Object.entries(bodies))
      for (const spec of specs) await t.post(path, { metadata, spec }, { pick: withoutReason })
    const hook = await reviewed(t, {
      rules: { ...rulesFor('', '*'), apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'] },
      narrow: {
        matchConditions: [{ name: 'own', expression: `object.metadata.?labels['case'].orValue('') == '${mark}'` }],
      },
      allowed: false,
      probe: () =>
        t.quiet('POST', `${REVIEWS}/selfsubjectrulesreviews`, { body: { metadata, spec: { namespace: 'a' } } }),
    })
    for (const [path, specs] of Object.entries(bodies))
      for (const spec of specs) await t.post(path, { metadata, spec }, { pick: withoutReason })
    t.see('reviews', hook.requests.length)
  },
  'serviceaccounts/token: a policy and a mutating webhook': async (t) => {
    const ns = await t.namespace()
    const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`
    await t.must('POST', accounts, { body: { metadata: { name: 'robot' } } })
    const request = (spec: Loose) => ({ body: { spec } })
    const own = [{ name: 'own', expression: `request.namespace == '${ns}'` }]
    const rules = rulesFor('', 'serviceaccounts/token')
    await reviewed(t, {
      rules,
      narrow: { matchConditions: own },
      probe: () => t.must('POST', `${accounts}/robot/token`, request({})),
      patch: ({ object }) =>
        object.spec.expirationSeconds === 4000
          ? [{ op: 'replace', path: '/spec/expirationSeconds', value: 700 }]
          : object.spec.expirationSeconds === 4001
            ? [{ op: 'replace', path: '/spec/expirationSeconds', value: 5 }]
            : object.spec.expirationSeconds === 4002
              ? [{ op: 'add', path: '/spec/audiences', value: ['mutated'] }]
              : undefined,
    })
    await policed(t, {
      rules,
      conditions: own,
      expression: 'object.spec.expirationSeconds < 5000',
      messageExpression: 'object.kind + " for " + request.name',
      probe: () => t.quiet('POST', `${accounts}/robot/token`, request({ expirationSeconds: 6000 })),
    })
    const pick = ({ status, ...body }: Loose) => (body.kind === 'Status' ? { status, ...body } : body)
    for (const expirationSeconds of [4000, 4001, 4002, 5001, 5, 900]) {
      await t.post(`${accounts}/robot/token`, { spec: { expirationSeconds } }, { pick })
    }
    await t.post(`${accounts}/missing/token`, { spec: { expirationSeconds: 6000 } }, { pick })
    await t.post(`${accounts}/missing/token`, { spec: { expirationSeconds: 900 } }, { pick })
    await t.post(`${accounts}/robot/token`, { spec: { expirationSeconds: 900 } }, { pick, query: { dryRun: 'All' } })
  },
  'a deletion of a collection shows no name': async (t) => {
    const widgets = await define(t)
    const path = widgets.path(await t.namespace())
    await t.must('POST', path, { body: widgets.object('a') })
    const dry = { query: { dryRun: 'All' } }
    const hook = await reviewed(t, {
      rules: rulesFor(widgets.group, '*'),
      probe: () => t.must('DELETE', `${path}/a`, dry),
    })
    await t.must('DELETE', path)
    await t.must('POST', path, { body: widgets.object('b') })
    await t.must('DELETE', `${path}/b`)
    t.see(
      'reviews',
      seen(hook, ({ metadata }) => metadata.name),
    )
  },
})

/** Returns an expression that is true for the reviews of the case. */
const ownReview =
  (t: Case) =>
  ({ mark }: Loose) =>
    `${mark}.orValue('') == 'user-${t.id}'`

/**
 * Removes the reason of a granted review, which is specific to the server, and printed metadata, whose order
 * differs.
 */
function withoutReason(body: Loose): Loose {
  if (body.kind !== 'Status') return body.status ? { ...body, status: { ...body.status, reason: undefined } } : body
  const text = JSON.stringify(body)
  return JSON.parse(
    text.replaceAll(/Invalid value: \{(?:(?!Path).)*?\}: must be empty/g, 'Invalid value: must be empty'),
  )
}
