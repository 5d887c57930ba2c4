import type { AskOptions, Case } from './harness/case.js'
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from './harness/case.js'
import { define } from './harness/crd.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'
import { serveWebhook } from './harness/webhook.js'

/**
 * A low limit for the real server, whose concurrent writers race: with 60 it exceeds its timeout of 34 s on a slow
 * machine.
 */
const AT_ONCE = 15

/** Sends the requests with limited concurrency, and shows the number of responses by status. */
async function flood(t: Case, what: string, count: number, send: (i: number) => [string, string, AskOptions]) {
  const statuses: Record<string, number> = {}
  let next = 0
  const work = async () => {
    while (next < count) {
      const { status, body } = await t.quiet(...send(next++))
      const key = status === 200 ? '200' : `${status} ${body?.message}`
      statuses[key] = (statuses[key] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  t.see(what, statuses)
}

const counted = (data: Record<string, string> = {}) => Object.keys(data).length

conformance('concurrency', {
  'patches without a resourceVersion never conflict': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { start: '' }) })
    await flood(t, 'merge patches', 45, (i) => [
      'PATCH',
      `${all}/a`,
      { type: MERGE_PATCH, body: { data: { [`merge-${i}`]: 'x' } } },
    ])
    await flood(t, 'strategic merge patches', 45, (i) => [
      'PATCH',
      `${all}/a`,
      { type: STRATEGIC_PATCH, body: { data: { [`strategic-${i}`]: 'x' } } },
    ])
    await flood(t, 'JSON patches', 45, (i) => [
      'PATCH',
      `${all}/a`,
      { type: JSON_PATCH, body: [{ op: 'add', path: `/data/json-${i}`, value: 'x' }] },
    ])
    await flood(t, 'server-side apply by five managers', 45, (i) => [
      'PATCH',
      `${all}/a`,
      {
        type: APPLY_PATCH,
        query: { fieldManager: `manager-${i % 5}`, force: true },
        body: configMap('a', { [`apply-${i % 5}`]: String(i) }),
      },
    ])
    await flood(t, 'updates without a resourceVersion', 45, (i) => [
      'PUT',
      `${all}/b`,
      { body: configMap('b', { put: String(i) }) },
    ])
    await t.must('POST', all, { body: configMap('c', { start: '' }) })
    await flood(t, 'updates of what is there', 45, (i) => [
      'PUT',
      `${all}/c`,
      { body: configMap('c', { put: String(i) }) },
    ])
    const { body } = await t.quiet('GET', `${all}/a`)
    t.see('keys', counted(body.data))
  },
  'patches of custom resources and their status never conflict': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
      version: { subresources: { status: {} } },
    })
    const path = `${widgets.path(await t.namespace())}`
    await t.must('POST', path, { body: widgets.object('a', { spec: {} }) })
    await flood(t, 'merge patches', 45, (i) => [
      'PATCH',
      `${path}/a`,
      { type: MERGE_PATCH, body: { spec: { [`k${i}`]: i } } },
    ])
    await flood(t, 'status patches', 45, (i) => [
      'PATCH',
      `${path}/a/status`,
      { type: MERGE_PATCH, body: { status: { [`k${i}`]: i } } },
    ])
    const { body } = await t.quiet('GET', `${path}/a`)
    t.see('keys', [counted(body.spec), counted(body.status)])
  },
  'a patch that names a resourceVersion conflicts': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { start: '' }) })
    const { body } = await t.must('PATCH', `${all}/a`, { type: MERGE_PATCH, body: { data: { k: '1' } } })
    const { resourceVersion } = body.metadata
    await t.must('PATCH', `${all}/a`, { type: MERGE_PATCH, body: { data: { k: '2' } } })
    await t.mergePatch(`${all}/a`, { metadata: { resourceVersion }, data: { k: '3' } })
  },
  'with a webhook in between': async (t) => {
    const ns = await t.namespace()
    await t.must('PATCH', `/api/v1/namespaces/${ns}`, {
      type: MERGE_PATCH,
      body: { metadata: { labels: { case: t.id } } },
    })
    const hook = await serveWebhook(t, ({ apiVersion, kind, request }) => ({
      apiVersion,
      kind,
      response: {
        uid: request.uid,
        allowed: request.name !== 'probe',
        patchType: 'JSONPatch',
        patch: Buffer.from('[{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}}]').toString('base64'),
      },
    }))
    const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    await t.must('POST', configurations, {
      body: {
        metadata: { name: `hook-${t.id}` },
        webhooks: [
          {
            name: 'hook.example.com',
            clientConfig: { url: hook.url, caBundle: hook.caBundle },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
            namespaceSelector: { matchLabels: { case: t.id } },
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 30,
          },
        ],
      },
    })
    t.cleanup(() => t.quiet('DELETE', `${configurations}/hook-${t.id}`))
    const all = configMapsIn(ns)
    await untilRefused(t, all)
    await t.must('POST', all, { body: configMap('a', { start: '' }) })
    await flood(t, 'merge patches', 45, (i) => [
      'PATCH',
      `${all}/a`,
      { type: MERGE_PATCH, body: { data: { [`merge-${i}`]: 'x' } } },
    ])
    const { body } = await t.quiet('GET', `${all}/a`)
    t.see('keys', [counted(body.data), body.metadata.labels])
  },
})

async function untilRefused(t: Case, all: string): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const { status } = await t.quiet('POST', all, { query: { dryRun: 'All' }, body: configMap('probe') })
    if (status !== 201) return
    if (Date.now() > deadline) throw new Error('the webhook is never called')
  }
}
