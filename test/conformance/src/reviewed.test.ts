import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'
import { serveWebhook, type Webhook } from './harness/webhook.js'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

/** A validating webhook for these resources; `narrow` limits it to the case. Resolves when it is called. */
async function reviewed(t: Case, rules: Loose, narrow: Loose, probe: () => Promise<unknown>): Promise<Webhook> {
  const hook = await serveWebhook(t, ({ apiVersion, kind, request }) => ({
    apiVersion,
    kind,
    response: { uid: request.uid, allowed: true },
  }))
  const clientConfig = { url: hook.url, caBundle: hook.caBundle }
  const common = { admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 30 }
  const webhook = { name: 'hook.example.com', clientConfig, rules: [rules], ...narrow, ...common }
  await t.must('POST', CONFIGURATIONS, { body: { metadata: { name: `reviewed-${t.id}` }, webhooks: [webhook] } })
  t.cleanup(() => t.quiet('DELETE', `${CONFIGURATIONS}/reviewed-${t.id}`))
  const deadline = Date.now() + 120_000
  while (hook.requests.length === 0) {
    await probe()
    if (Date.now() > deadline) throw new Error('the webhook is never called')
  }
  hook.requests.length = 0
  return hook
}

/** The requests of reviews, with only the facts of their objects that the case is about. */
const seen = (hook: Webhook, fact: (object: Loose) => Loose) =>
  hook.requests.map(({ request: { uid: _, userInfo, object, oldObject, ...rest } }) => ({
    ...rest,
    user: userInfo.username !== undefined,
    object: object && fact(object),
    oldObject: oldObject && fact(oldObject),
  }))

const rulesFor = (group: string, ...resources: string[]) => ({
  apiGroups: [group],
  apiVersions: ['v1'],
  operations: ['*'],
  resources,
})

conformance('reviewed', {
  'scale: admission sees a Scale': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
      version: {
        subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      },
    })
    const path = widgets.path(await t.namespace())
    await t.must('POST', path, { body: widgets.object('a', { spec: { replicas: 1 } }) })
    const patch = (replicas: number, query = {}) =>
      t.must('PATCH', `${path}/a/scale`, { type: 'application/merge-patch+json', body: { spec: { replicas } }, query })
    const hook = await reviewed(t, rulesFor(widgets.group, '*/*'), {}, () => patch(9, { dryRun: 'All' }))
    await patch(2)
    const { body } = await t.must('GET', `${path}/a/scale`)
    await t.must('PUT', `${path}/a/scale`, { body: { ...body, spec: { replicas: 3 } } })
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
    const hook = await reviewed(t, rulesFor('', 'serviceaccounts/token'), narrow, () => request())
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
  'reviews: admission sees them': async (t) => {
    const user = `user-${t.id}`
    const ask = () =>
      t.must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: { spec: { user, resourceAttributes: { verb: 'get', resource: 'pods' } } },
      })
    const conditions = [{ name: 'own', expression: `object.spec.user == '${user}'` }]
    const rules = rulesFor('authorization.k8s.io', 'subjectaccessreviews')
    const hook = await reviewed(t, rules, { matchConditions: conditions }, ask)
    await ask()
    t.see(
      'access reviews',
      seen(hook, ({ apiVersion, kind, spec }) => ({ apiVersion, kind, spec })),
    )
  },
  'a deletion of a collection shows no name': async (t) => {
    const widgets = await define(t)
    const path = widgets.path(await t.namespace())
    await t.must('POST', path, { body: widgets.object('a') })
    const dry = { query: { dryRun: 'All' } }
    const hook = await reviewed(t, rulesFor(widgets.group, '*'), {}, () => t.must('DELETE', `${path}/a`, dry))
    await t.must('DELETE', path)
    await t.must('POST', path, { body: widgets.object('b') })
    await t.must('DELETE', `${path}/b`)
    t.see(
      'reviews',
      seen(hook, ({ metadata }) => metadata.name),
    )
  },
})
