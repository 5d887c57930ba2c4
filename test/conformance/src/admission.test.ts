import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'
import { serveWebhook, type Webhook } from './harness/webhook.js'

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
type Decide = (request: Loose) => Loose

const review = (body: Loose, response: Loose) => ({
  apiVersion: body.apiVersion,
  kind: body.kind,
  response: { uid: body.request.uid, ...response },
})
const patchOf = (...operations: Loose[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

interface Scene {
  readonly hook: Webhook
  readonly all: string
}

/** Registers a webhook for the ConfigMaps in the namespace of the case, and waits until the server calls it. */
async function hooked(
  t: Case,
  kind: 'Validating' | 'Mutating',
  decide: Decide,
  more: object | ((hook: Webhook) => object) = {},
): Promise<Scene> {
  const hook = await serveWebhook(t, (body) => {
    if (body.request.name === 'probe') return review(body, { allowed: false, status: { message: 'probed' } })
    const response = decide(body.request)
    return typeof response === 'number' || response.raw ? (response.raw ?? response) : review(body, response)
  })
  const ns = await t.namespace()
  // The server creates this ConfigMap in every namespace, and would call the webhook for it.
  await t.until(`${configMapsIn(ns)}/kube-root-ca.crt`, ({ status }) => status === 200)
  await t.must('PATCH', `/api/v1/namespaces/${ns}`, {
    type: 'application/merge-patch+json',
    body: { metadata: { labels: { case: t.id } } },
  })
  const configuration = {
    metadata: { name: `hook-${t.id}` },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `${hook.url}/admit`, caBundle: hook.caBundle },
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'], scope: 'Namespaced' },
        ],
        namespaceSelector: { matchLabels: { case: t.id } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 30,
        ...(typeof more === 'function' ? more(hook) : more),
      },
    ],
  }
  const path = `${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`
  await t.must('POST', path, { body: configuration })
  t.cleanup(() => t.quiet('DELETE', `${path}/hook-${t.id}`))
  const all = configMapsIn(ns)
  await probed(t, all)
  hook.requests.length = 0
  return { hook, all }
}

/** Waits until a create of the name `probe` is rejected, which means that the configuration is in effect. */
async function probed(t: Case, all: string, labels: Record<string, string> = {}): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const { status } = await t.quiet('POST', all, {
      query: { dryRun: 'All' },
      body: configMap('probe', { probe: 'yes' }, { labels }),
    })
    if (status !== 201) return
    if (Date.now() > deadline) throw new Error('the webhook or policy is never asked')
  }
}

const brief = (body: Loose) => (body.kind === 'Status' ? body : { data: body.data, labels: body.metadata.labels })

/** Creates a policy with a binding to the namespace of the case. */
async function policed(t: Case, spec: Loose, binding: Loose = {}): Promise<string> {
  const ns = await t.namespace()
  await t.must('PATCH', `/api/v1/namespaces/${ns}`, {
    type: 'application/merge-patch+json',
    body: { metadata: { labels: { case: t.id } } },
  })
  const name = `policy-${t.id}`
  const validations = [{ expression: "object.metadata.name != 'probe'", message: 'probed' }, ...spec.validations]
  const matchConstraints = {
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
    ],
  }
  await t.must('POST', `${REGISTRATION}/validatingadmissionpolicies`, {
    body: { metadata: { name }, spec: { matchConstraints, failurePolicy: 'Fail', ...spec, validations } },
  })
  t.cleanup(() => t.quiet('DELETE', `${REGISTRATION}/validatingadmissionpolicies/${name}`))
  await t.must('POST', `${REGISTRATION}/validatingadmissionpolicybindings`, {
    body: {
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { case: t.id } } },
        ...binding,
      },
    },
  })
  t.cleanup(() => t.quiet('DELETE', `${REGISTRATION}/validatingadmissionpolicybindings/${name}`))
  return configMapsIn(ns)
}

conformance('admission', {
  'validating: what a webhook is asked': async (t) => {
    const { hook, all } = await hooked(t, 'Validating', () => ({ allowed: true }))
    await t.must('POST', all, { body: configMap('a', { k: 'v' }) })
    await t.must('PATCH', `${all}/a`, { type: 'application/merge-patch+json', body: { data: { k: 'w' } } })
    await t.must('DELETE', `${all}/a`)
    t.see(
      'reviews',
      hook.requests.map(({ request, ...rest }) => ({
        ...rest,
        request: { ...request, options: { ...request.options }, userInfo: Object.keys(request.userInfo).sort() },
      })),
    )
  },
  'validating: a refusal': async (t) => {
    let status: Loose = { message: 'not today' }
    const { all } = await hooked(t, 'Validating', () => ({ allowed: false, status }))
    await t.post(all, configMap('a'))
    status = { message: 'teapot', reason: 'Forbidden', code: 418 }
    await t.post(all, configMap('a'))
    status = undefined
    await t.post(all, configMap('a'))
    status = { code: 200, message: 'odd' }
    await t.post(all, configMap('a'))
  },
  'validating: warnings and audit annotations': async (t) => {
    const { all } = await hooked(t, 'Validating', () => ({
      allowed: true,
      warnings: ['first warning', 'second "quoted"'],
      auditAnnotations: { k: 'v' },
    }))
    await t.post(all, configMap('a'), { pick: brief })
  },
  'validating: a dry run says so, and side effects are refused': async (t) => {
    const { hook, all } = await hooked(t, 'Validating', () => ({ allowed: true }))
    await t.post(all, configMap('a'), { query: { dryRun: 'All' }, pick: brief })
    t.see(
      'dryRun',
      hook.requests.map(({ request }) => request.dryRun),
    )
  },
  'validating: failures close or open': async (t) => {
    let answer: Loose = 500
    const fail = await hooked(t, 'Validating', () => answer)
    await t.post(fail.all, configMap('a'))
    answer = { raw: 'nonsense' }
    await t.post(fail.all, configMap('a'))
    answer = { raw: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } }
    await t.post(fail.all, configMap('a'))
    answer = {
      raw: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'other', allowed: true } },
    }
    await t.post(fail.all, configMap('a'))
  },
  'validating: failurePolicy Ignore': async (t) => {
    const { all } = await hooked(t, 'Validating', () => 500, { failurePolicy: 'Ignore' })
    await t.post(all, configMap('a', { k: 'v' }), { pick: brief })
  },
  // Test environments register webhooks like this: without a CA bundle, and with a duplicate slash in the URL.
  "validating: a webhook's own certificate is trusted, and its path is cleaned": async (t) => {
    const { hook, all } = await hooked(
      t,
      'Validating',
      (request) => ({ allowed: request.name !== 'bound' }),
      ({ url, certificate }) => ({ clientConfig: { url: `${url}//admit//./deep/`, caBundle: certificate } }),
    )
    await t.post(all, configMap('free'), { pick: brief })
    await t.post(all, configMap('bound'))
    t.see('paths', [...new Set(hook.paths)])
  },
  'validating: matchConditions': async (t) => {
    const matchConditions = [{ name: 'not-free', expression: "object == null || object.metadata.name != 'free'" }]
    const { all } = await hooked(t, 'Validating', () => ({ allowed: false }), { matchConditions })
    await t.post(all, configMap('free'), { pick: brief })
    await t.post(all, configMap('bound'))
  },
  'validating: objectSelector': async (t) => {
    const hook = await hooked(t, 'Validating', (request) => ({
      allowed: request.object?.metadata.labels?.watch !== 'yes',
    }))
    await t.post(hook.all, configMap('a'), { pick: brief })
    await t.post(hook.all, configMap('b', {}, { labels: { watch: 'yes' } }))
  },
  'validating: delete and deletecollection': async (t) => {
    const { hook, all } = await hooked(t, 'Validating', (request) => ({
      allowed: request.operation !== 'DELETE' || request.name !== 'held',
    }))
    for (const name of ['held', 'free'])
      await t.must('POST', all, { body: configMap(name, {}, { labels: { mine: 'yes' } }) })
    hook.requests.length = 0
    await t.delete(`${all}/held`)
    await t.delete(`${all}/free`, undefined, { pick: (body) => body.status })
    t.see(
      'asked',
      hook.requests.map(({ request }) => [
        request.operation,
        request.name,
        request.object,
        request.oldObject?.metadata.name,
      ]),
    )
  },
  'mutating: patches are applied': async (t) => {
    const { all } = await hooked(t, 'Mutating', (request) =>
      request.operation === 'CREATE'
        ? patchOf(
            { op: 'add', path: '/data/added', value: 'yes' },
            { op: 'add', path: '/metadata/labels', value: { l: 'x' } },
          )
        : { allowed: true },
    )
    await t.post(all, configMap('a', { k: 'v' }), { pick: brief })
    await t.get(`${all}/a`, { pick: brief })
  },
  'mutating: the result is validated': async (t) => {
    const { all } = await hooked(t, 'Mutating', () => patchOf({ op: 'add', path: '/data/bad key', value: 'x' }))
    await t.post(all, configMap('a', { k: 'v' }))
  },
  'mutating: patches that fail': async (t) => {
    let response: Loose = patchOf({ op: 'remove', path: '/none' })
    const { all } = await hooked(t, 'Mutating', () => response)
    await t.post(all, configMap('a', { k: 'v' }))
    response = { allowed: true, patchType: 'Other', patch: Buffer.from('[]').toString('base64') }
    await t.post(all, configMap('a', { k: 'v' }))
    response = { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('nonsense').toString('base64') }
    await t.post(all, configMap('a', { k: 'v' }))
    response = patchOf({ op: 'replace', path: '/metadata/name', value: 'other' })
    await t.post(all, configMap('a', { k: 'v' }))
  },
  'mutating: who set the fields': async (t) => {
    const { all } = await hooked(t, 'Mutating', () => patchOf({ op: 'add', path: '/data/added', value: 'yes' }))
    await t.apply(`${all}/a`, 'alice', configMap('a', { k: 'v' }), {
      pick: (body) =>
        body.metadata.managedFields.map((entry: Loose) => [entry.manager, entry.operation, entry.fieldsV1]),
    })
  },
  'configurations: what is refused': async (t) => {
    const webhook = {
      name: 'hook.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    }
    const bad: object[] = [
      { name: 'short' },
      { sideEffects: 'Some' },
      { sideEffects: undefined },
      { admissionReviewVersions: [] },
      { admissionReviewVersions: ['v0'] },
      { timeoutSeconds: 0 },
      { timeoutSeconds: 31 },
      { failurePolicy: 'Maybe' },
      { matchPolicy: 'Roughly' },
      { clientConfig: {} },
      { clientConfig: { url: 'http://x' } },
      { rules: [{ ...webhook.rules[0], operations: [] }] },
      { rules: [{ ...webhook.rules[0], operations: ['*', 'CREATE'] }] },
      { rules: [{ ...webhook.rules[0], scope: 'Galaxy' }] },
      { rules: [{ ...webhook.rules[0], resources: ['*', 'x'] }] },
      { matchConditions: [{ name: 'x', expression: 'object.' }] },
      { matchConditions: [{ name: '', expression: 'true' }] },
      { namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'Nonsense' }] } },
    ]
    for (const change of bad) {
      await t.post(
        `${REGISTRATION}/validatingwebhookconfigurations`,
        { metadata: { name: `bad-${t.id}` }, webhooks: [{ ...webhook, ...change }] },
        { query: { dryRun: 'All' } },
      )
    }
    await t.post(
      `${REGISTRATION}/mutatingwebhookconfigurations`,
      { metadata: { name: `bad-${t.id}` }, webhooks: [{ ...webhook, reinvocationPolicy: 'Sometimes' }] },
      { query: { dryRun: 'All' } },
    )
    await t.post(
      `${REGISTRATION}/validatingwebhookconfigurations`,
      { metadata: { name: `bad-${t.id}` }, webhooks: [webhook, webhook] },
      { query: { dryRun: 'All' } },
    )
  },
  'configurations: defaults': async (t) => {
    const webhook = {
      name: 'hook.example.com',
      clientConfig: { service: { namespace: 'a', name: 'b' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['none'], operations: ['CREATE'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    }
    await t.post(
      `${REGISTRATION}/validatingwebhookconfigurations`,
      { metadata: { name: `d-${t.id}` }, webhooks: [webhook] },
      { query: { dryRun: 'All' } },
    )
    await t.post(
      `${REGISTRATION}/mutatingwebhookconfigurations`,
      { metadata: { name: `d-${t.id}` }, webhooks: [webhook] },
      { query: { dryRun: 'All' } },
    )
  },
  'policy: refuses with its message': async (t) => {
    const all = await policed(t, { validations: [{ expression: "object.data.k == 'v'", message: 'k must be v' }] })
    await probed(t, all)
    await t.post(all, configMap('a', { k: 'w' }))
    await t.post(all, configMap('a', { k: 'v' }), { pick: brief })
    await t.mergePatch(`${all}/a`, { data: { k: 'w' } })
  },
  'policy: messageExpression, reason and several validations': async (t) => {
    const all = await policed(t, {
      validations: [
        { expression: "object.data.k != 'bad'", messageExpression: "'k is ' + object.data.k", reason: 'Forbidden' },
        { expression: "object.data.k != 'bad'", reason: 'Invalid' },
        { expression: 'size(object.data) < 3', reason: 'RequestEntityTooLarge', message: 'too many' },
      ],
    })
    await probed(t, all)
    await t.post(all, configMap('a', { k: 'bad' }))
    await t.post(all, configMap('a', { k: 'v', l: 'x', m: 'y' }))
  },
  'policy: variables, request, oldObject, namespaceObject': async (t) => {
    const all = await policed(t, {
      variables: [
        { name: 'size', expression: 'size(object.data)' },
        { name: 'big', expression: 'variables.size > 1' },
      ],
      validations: [
        { expression: '!variables.big', message: 'big' },
        { expression: "request.operation == 'CREATE' || oldObject.data.k == object.data.k", message: 'k changed' },
        { expression: `namespaceObject.metadata.labels['case'] == '${t.id}'`, message: 'wrong namespace' },
        {
          expression: "request.resource.resource == 'configmaps' && request.userInfo.username != ''",
          message: 'request',
        },
      ],
    })
    await probed(t, all)
    await t.post(all, configMap('a', { k: 'v', l: 'x' }))
    await t.post(all, configMap('a', { k: 'v' }), { pick: brief })
    await t.mergePatch(`${all}/a`, { data: { k: 'w' } })
  },
  'policy: matchConditions': async (t) => {
    const all = await policed(t, {
      matchConditions: [{ name: 'only-bound', expression: "object.metadata.name != 'free'" }],
      validations: [{ expression: 'false', message: 'never' }],
    })
    await probed(t, all)
    await t.post(all, configMap('free', { k: 'v' }), { pick: brief })
    await t.post(all, configMap('bound', { k: 'v' }))
  },
  'policy: Warn and Audit do not refuse': async (t) => {
    const all = await policed(
      t,
      { validations: [{ expression: '!has(object.data.warn)', message: 'warned' }] },
      { validationActions: ['Warn', 'Audit'] },
    )
    const deadline = Date.now() + 120_000
    while (!(await t.quiet('POST', all, { query: { dryRun: 'All' }, body: configMap('probe') })).headers.warning)
      if (Date.now() > deadline) throw new Error('never warned')
    await t.post(all, configMap('a', { warn: 'yes' }), { pick: brief })
  },
  'policy: an error of evaluation is a refusal, or not': async (t) => {
    const all = await policed(t, { validations: [{ expression: "object.data.none == 'x'", message: 'unused' }] })
    await probed(t, all)
    await t.post(all, configMap('a', { k: 'v' }))
  },
  'policy: parameters': async (t) => {
    // A new kind: the watch of the real server for parameters does not always recover for a kind that it has
    // dropped.
    const limits = await define(t, {
      scope: 'Cluster',
      plural: 'limits',
      kind: 'Limit',
      properties: { spec: { type: 'object', properties: { max: { type: 'integer' } } } },
    })
    await t.must('POST', limits.path(), { body: limits.object('two', { spec: { max: 2 } }) })
    const validations = [{ expression: 'size(object.data) <= params.spec.max', message: 'too many entries' }]
    const paramRef = { name: 'two', parameterNotFoundAction: 'Deny' }
    const paramKind = { apiVersion: `${limits.group}/v1`, kind: 'Limit' }
    const all = await policed(t, { paramKind, validations }, { paramRef })
    const crowded = { query: { dryRun: 'All' }, body: configMap('a', { a: '1', b: '2', c: '3' }) }
    const deadline = Date.now() + 120_000
    while (!(await t.quiet('POST', all, crowded)).text.includes('too many entries')) {
      if (Date.now() > deadline) throw new Error('the parameters are never found')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await t.post(all, configMap('a', { a: '1', b: '2', c: '3' }))
    await t.post(all, configMap('a', { a: '1' }), { pick: brief })
  },
  'policy: what is refused': async (t) => {
    const spec = {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: 'true' }],
    }
    const bad: object[] = [
      { validations: [] },
      { validations: [{ expression: '' }] },
      { validations: [{ expression: 'object.' }] },
      { validations: [{ expression: '5' }] },
      { validations: [{ expression: 'nonsense' }] },
      { validations: [{ expression: 'true', messageExpression: '5' }] },
      { validations: [{ expression: 'true', reason: 'Nonsense' }] },
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      { matchConstraints: {} },
      { matchConstraints: undefined },
      { variables: [{ name: 'bad name', expression: 'true' }] },
      {
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
      },
      { failurePolicy: 'Maybe' },
      { paramKind: { apiVersion: '', kind: '' } },
      { auditAnnotations: [{ key: '', valueExpression: '' }] },
      { matchConditions: [{ name: 'x', expression: 'request.' }] },
    ]
    for (const change of bad)
      await t.post(
        `${REGISTRATION}/validatingadmissionpolicies`,
        { metadata: { name: `bad-${t.id}` }, spec: { ...spec, ...change } },
        { query: { dryRun: 'All' } },
      )
    const bindings: object[] = [
      {},
      { policyName: 'x' },
      { policyName: 'x', validationActions: ['Nonsense'] },
      { policyName: 'x', validationActions: ['Deny', 'Warn'] },
      { policyName: 'x', validationActions: ['Deny', 'Deny'] },
      { policyName: 'x', validationActions: ['Deny'], paramRef: {} },
    ]
    for (const binding of bindings)
      await t.post(
        `${REGISTRATION}/validatingadmissionpolicybindings`,
        { metadata: { name: `bad-${t.id}` }, spec: binding },
        { query: { dryRun: 'All' } },
      )
  },
  'policy: status tells of types that cannot be right': async (t) => {
    const name = `typed-${t.id}`
    const path = `${REGISTRATION}/validatingadmissionpolicies`
    await t.must('POST', path, {
      body: {
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
            ],
          },
          validations: [{ expression: "object.data.k == 5 || object.nothing == 'x'" }],
        },
      },
    })
    t.cleanup(() => t.quiet('DELETE', `${path}/${name}`))
    const now = await t.until(`${path}/${name}`, ({ body }) => body.status?.observedGeneration === 1)
    t.see('status', now.body.status)
  },
})
