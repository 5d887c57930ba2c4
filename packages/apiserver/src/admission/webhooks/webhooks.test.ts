import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type KubeObject, type ResourceType, StatusError } from '@crosstie/kube'
import { openPki, type Pki } from '../../access/pki.js'
import { FakeObjects } from '../../access/testing.js'
import type { AdmissionAttributes } from './attributes.js'
import { matcherOf, matchOf, type Rule } from './match.js'
import { Webhooks } from './webhooks.js'

const widgets = (version = 'v1'): ResourceType => ({
  group: 'acme.io',
  version,
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
})
const widget = (fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'acme.io/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'ns', ...metadata },
  ...fields,
})
const attributes = (fields: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  type: widgets(),
  subresource: '',
  name: 'w',
  namespace: 'ns',
  object: widget({ spec: { size: 1 } }),
  oldObject: undefined,
  options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  dryRun: false,
  user: { name: 'alice', uid: 'u', groups: ['g'] },
  warnings: [],
  annotations: new Map(),
  ...fields,
})
const kinds = {
  equivalents: (type: ResourceType) =>
    type.group === 'acme.io' ? ['v1', 'v2'].filter((v) => v !== type.version).map(widgets) : [],
  convert: async (object: KubeObject, to: ResourceType) => ({ ...object, apiVersion: `acme.io/${to.version}` }),
}

test('a request matches', () => {
  const objects = new FakeObjects()
  objects.put('//namespaces/ns', { metadata: { name: 'ns', labels: { team: 'a' } } })
  const rule: Rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }
  const namespaces = { group: '', version: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false }
  const own: [string, object, Partial<AdmissionAttributes>, string | undefined][] = [
    ['stars', {}, {}, 'v1'],
    ['operation', { rules: [{ ...rule, operations: ['UPDATE', 'DELETE'] }] }, {}, undefined],
    ['group', { rules: [{ ...rule, apiGroups: ['apps'] }] }, {}, undefined],
    ['resource', { rules: [{ ...rule, resources: ['widgets'] }] }, {}, 'v1'],
    ['not the subresource', { rules: [{ ...rule, resources: ['widgets'] }] }, { subresource: 'status' }, undefined],
    ['a star does not match subresources', {}, { subresource: 'status' }, undefined],
    ['all subresources', { rules: [{ ...rule, resources: ['widgets/*'] }] }, { subresource: 'status' }, 'v1'],
    ['*/*', { rules: [{ ...rule, resources: ['*/*'] }] }, { subresource: 'status' }, 'v1'],
    ['*/status', { rules: [{ ...rule, resources: ['*/status'] }] }, {}, undefined],
    ['scope', { rules: [{ ...rule, scope: 'Cluster' }] }, {}, undefined],
    [
      'a namespace is cluster-scoped',
      { rules: [{ ...rule, scope: 'Cluster' }] },
      { type: namespaces, name: 'ns' },
      'v1',
    ],
    ['equivalent version', { rules: [{ ...rule, apiVersions: ['v2'] }] }, {}, 'v2'],
    ['exact version', { rules: [{ ...rule, apiVersions: ['v2'] }], matchPolicy: 'Exact' }, {}, undefined],
    ['own version first', { rules: [{ ...rule, apiVersions: ['v2', 'v1'] }] }, {}, 'v1'],
    ['object labels', { objectSelector: { matchLabels: { a: 'b' } } }, {}, undefined],
    [
      'object labels, before',
      { objectSelector: { matchLabels: { a: 'b' } } },
      { oldObject: widget({}, { labels: { a: 'b' } }) },
      'v1',
    ],
    ['namespace labels', { namespaceSelector: { matchLabels: { team: 'a' } } }, {}, 'v1'],
    ['other namespace labels', { namespaceSelector: { matchLabels: { team: 'b' } } }, {}, undefined],
    [
      'cluster-scoped objects are in no namespace',
      { namespaceSelector: { matchLabels: { team: 'b' } } },
      { namespace: '' },
      'v1',
    ],
    [
      'a new namespace has its own labels',
      { namespaceSelector: { matchLabels: { team: 'b' } } },
      { type: namespaces, name: 'x', namespace: '', object: widget({}, { labels: { team: 'b' } }) },
      'v1',
    ],
    ['excluded', { excludeResourceRules: [rule] }, {}, undefined],
    ['excluded name', { excludeResourceRules: [{ ...rule, resourceNames: ['w'] }] }, {}, undefined],
    ['other excluded name', { excludeResourceRules: [{ ...rule, resourceNames: ['x'] }] }, {}, 'v1'],
  ]
  for (const [name, fields, request, want] of own) {
    const got = matchOf(matcherOf({ rules: [rule], ...fields }), attributes(request), kinds, objects)
    assert.equal(got?.version, want, name)
  }
  const lost = matcherOf({ rules: [rule], namespaceSelector: { matchLabels: { team: 'a' } } })
  assert.throws(() => matchOf(lost, attributes({ namespace: 'gone' }), kinds, objects), /namespaces "gone" not found/)
})

interface Received {
  readonly request: {
    readonly uid: string
    readonly object: { readonly apiVersion: string; readonly spec: { readonly size: number } }
    readonly kind: { readonly version: string }
    readonly requestKind: { readonly version: string }
  }
}
type Handler = (review: Received, path: string) => object | string | number | undefined

let folder: string
let pki: Pki
let server: Server
let url: string
let handler: Handler = () => ({ allowed: true })
const received: Received[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-webhook-'))
  pki = await openPki({ dataDir: folder, host: '127.0.0.1', clock: { now: () => Date.now() } })
  server = createServer(pki.serving, (incoming, outgoing) => {
    let body = ''
    incoming.on('data', (chunk) => {
      body += chunk
    })
    incoming.on('end', () => {
      const review = JSON.parse(body)
      received.push(review)
      const answer = handler(review, incoming.url ?? '')
      if (answer === undefined) return
      if (typeof answer === 'number') outgoing.writeHead(answer).end('broken')
      else if (typeof answer === 'string') outgoing.end(answer)
      else {
        const { kind, apiVersion } = review
        outgoing.end(JSON.stringify({ kind, apiVersion, response: { uid: review.request.uid, ...answer } }))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
})

interface Hook {
  readonly name: string
  readonly [field: string]: unknown
}

function world(sort: 'mutating' | 'validating', ...hooks: Hook[]) {
  const objects = new FakeObjects()
  const rules = [{ operations: ['*'], apiGroups: ['acme.io'], apiVersions: ['v1'], resources: ['widgets'] }]
  const defaults = {
    clientConfig: { url: `${url}/hook`, caBundle: Buffer.from(pki.ca).toString('base64') },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    failurePolicy: 'Fail',
  }
  const key = (name: string) => `/admissionregistration.k8s.io/${sort}webhookconfigurations/${name}`
  let ids = 0
  const webhooks = new Webhooks({
    store: objects,
    kinds,
    authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
    newId: () => `uid-${++ids}`,
  })
  objects.put(key('m'), { metadata: { name: 'm' }, webhooks: hooks.map((hook) => ({ ...defaults, ...hook })) })
  received.length = 0
  return { webhooks, objects, key }
}

async function refusalOf(step: Promise<unknown>): Promise<StatusError> {
  try {
    await step
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    return error
  }
  throw new Error('was not refused')
}
const patchOf = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

test('a webhook gets a review as kube-apiserver sends it', async () => {
  const { webhooks } = world('validating', { name: 'a.acme.io' })
  handler = (_review, path) => {
    assert.equal(path, '/hook?timeout=5s')
    return { allowed: true, warnings: ['careful'], auditAnnotations: { note: 'x' } }
  }
  const given = attributes({ operation: 'UPDATE', oldObject: widget(), dryRun: true })
  await webhooks.validate(given)
  assert.deepEqual(received, [
    {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: 'uid-1',
        kind: { group: 'acme.io', version: 'v1', kind: 'Widget' },
        resource: { group: 'acme.io', version: 'v1', resource: 'widgets' },
        requestKind: { group: 'acme.io', version: 'v1', kind: 'Widget' },
        requestResource: { group: 'acme.io', version: 'v1', resource: 'widgets' },
        name: 'w',
        namespace: 'ns',
        operation: 'UPDATE',
        userInfo: { username: 'alice', uid: 'u', groups: ['g'] },
        object: given.object,
        oldObject: widget(),
        dryRun: true,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    },
  ])
  assert.deepEqual(given.warnings, ['careful'])
  assert.deepEqual([...given.annotations!], [['a.acme.io/note', 'x']])
  webhooks.close()
})

test('refusals and failures have the messages of kube-apiserver', async () => {
  const { webhooks, objects, key } = world('validating', { name: 'a.acme.io' })
  const denied = 'admission webhook "a.acme.io" denied the request'
  const calling = 'Internal error occurred: failed calling webhook "a.acme.io": '
  const cases: [ReturnType<Handler>, number, string, string][] = [
    [{ allowed: false }, 400, '', `${denied} without explanation`],
    [{ allowed: false, status: { message: 'no', code: 403, reason: 'Forbidden' } }, 403, 'Forbidden', `${denied}: no`],
    [{ allowed: false, status: { reason: 'Because', code: 200 } }, 400, 'Because', `${denied}: Because`],
    [
      { allowed: true, uid: 'other' },
      500,
      'InternalError',
      `${calling}received invalid webhook response: expected response.uid="uid-4", got "other"`,
    ],
    [
      patchOf(),
      500,
      'InternalError',
      `${calling}received invalid webhook response: validating webhook may not return response.patch`,
    ],
    [
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      500,
      'InternalError',
      `${calling}received invalid webhook response: webhook response was absent`,
    ],
    [
      '{"kind":"Other","apiVersion":"v1","response":{"uid":"uid-7"}}',
      500,
      'InternalError',
      `${calling}received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /v1, Kind=Other`,
    ],
    [404, 500, 'InternalError', `${calling}failed to call webhook: the server could not find the requested resource`],
    [
      500,
      500,
      'InternalError',
      `${calling}failed to call webhook: an error on the server ("broken") has prevented the request from succeeding`,
    ],
  ]
  for (const [answer, code, reason, message] of cases) {
    handler = () => answer
    const error = await refusalOf(webhooks.validate(attributes()))
    assert.deepEqual([error.code, error.reason, error.message], [code, reason, message])
  }
  const change = (fields: object) => {
    const [hook] = objects.get(key('m'))!.object['webhooks'] as Hook[]
    objects.put(key('m'), { metadata: { name: 'm' }, webhooks: [{ ...hook, ...fields }] })
  }
  const why = async () => (await refusalOf(webhooks.validate(attributes()))).message.slice(calling.length)
  change({ clientConfig: { url } })
  assert.equal(
    await why(),
    `failed to call webhook: Post "${url}/?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  )
  change({ clientConfig: { url: 'https://127.0.0.1:1/x' }, timeoutSeconds: 7 })
  assert.equal(
    await why(),
    'failed to call webhook: Post "https://127.0.0.1:1/x?timeout=7s": dial tcp 127.0.0.1:1: connect: connection refused',
  )
  change({ clientConfig: { service: { name: 'svc', namespace: 'prod', path: '/check' } } })
  assert.equal(
    await why(),
    'failed to call webhook: Post "https://svc.prod.svc:443/check?timeout=7s": service "svc" not found',
  )
  change({ admissionReviewVersions: ['v9'] })
  assert.equal(
    await why(),
    'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
  )
  change({ failurePolicy: 'Ignore' })
  const open = attributes()
  await webhooks.validate(open)
  assert.deepEqual(
    [...open.annotations!],
    [['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'a.acme.io']],
  )
  change({ sideEffects: 'Some' })
  const dry = await refusalOf(webhooks.validate(attributes({ dryRun: true })))
  assert.deepEqual([dry.code, dry.message], [400, 'admission webhook "a.acme.io" does not support dry run'])
  webhooks.close()
})

test('a webhook that does not respond in time', async () => {
  const { webhooks } = world('mutating', { name: 'slow.acme.io', timeoutSeconds: 1 })
  handler = () => undefined
  const { message } = await refusalOf(webhooks.mutate(attributes()))
  assert.equal(
    message,
    `Internal error occurred: failed calling webhook "slow.acme.io": failed to call webhook: Post "${url}/hook?timeout=1s": context deadline exceeded`,
  )
  webhooks.close()
})

test('mutations build on each other, and webhooks are called again if they request it', async () => {
  const { webhooks } = world(
    'mutating',
    { name: 'first.acme.io', reinvocationPolicy: 'IfNeeded' },
    { name: 'never.acme.io', reinvocationPolicy: 'Never' },
    { name: 'last.acme.io', reinvocationPolicy: 'IfNeeded' },
  )
  const sizes: unknown[] = []
  const answers = [
    patchOf({ op: 'replace', path: '/spec/size', value: 2 }),
    { allowed: true },
    patchOf({ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }),
    patchOf({ op: 'replace', path: '/spec/size', value: 3 }),
  ]
  handler = ({ request }) => {
    sizes.push(request.object.spec.size)
    return answers.shift()
  }
  const given = attributes()
  const object = await webhooks.mutate(given)
  assert.deepEqual(object, widget({ spec: { size: 3 } }, { labels: { seen: 'yes' } }))
  assert.deepEqual(given.object, widget({ spec: { size: 1 } }))
  assert.deepEqual(sizes, [1, 2, 2, 2])
  assert.deepEqual(
    [...given.annotations!.keys()],
    [
      'mutation.webhook.admission.k8s.io/round_0_index_0',
      'mutation.webhook.admission.k8s.io/round_0_index_1',
      'mutation.webhook.admission.k8s.io/round_0_index_2',
      'mutation.webhook.admission.k8s.io/round_1_index_0',
    ],
  )
  webhooks.close()
})

test('bad mutations', async () => {
  const { webhooks } = world('mutating', { name: 'a.acme.io' })
  const calling = 'Internal error occurred: failed calling webhook "a.acme.io": '
  const why = async (answer: object, fields: Partial<AdmissionAttributes> = {}) => {
    handler = () => answer
    return (await refusalOf(webhooks.mutate(attributes(fields)))).message
  }
  const { patch } = patchOf({ op: 'remove', path: '/nope' })
  assert.equal(
    await why({ allowed: true, patch }),
    `${calling}received invalid webhook response: webhook returned response.patch but not response.patchType`,
  )
  assert.equal(await why({ allowed: true, patch, patchType: 'Merge' }), `${calling}unsupported patch type "Merge"`)
  assert.match(
    await why(patchOf({ op: 'remove', path: '/nope' })),
    /^Internal error occurred: error in remove for path: '\/nope'/,
  )
  assert.match(
    await why({ allowed: true, patch: 'e30x', patchType: 'JSONPatch' }),
    /received undecodable patch in webhook response: invalid character '1' after top-level value/,
  )
  assert.equal(
    await why(patchOf({ op: 'add', path: '/x', value: 1 }), {
      operation: 'DELETE',
      object: undefined,
      oldObject: widget(),
    }),
    'Internal error occurred: admission webhook "a.acme.io" attempted to modify the object, which is not supported for this operation',
  )
  webhooks.close()
})

test('objects are converted to an equivalent version and back', async () => {
  const rules = [{ operations: ['*'], apiGroups: ['acme.io'], apiVersions: ['v2'], resources: ['widgets'] }]
  const { webhooks } = world('mutating', { name: 'a.acme.io', rules })
  handler = () => patchOf({ op: 'replace', path: '/spec/size', value: 7 })
  assert.deepEqual(await webhooks.mutate(attributes()), widget({ spec: { size: 7 } }))
  const { request } = received[0]!
  assert.equal(request.object.apiVersion, 'acme.io/v2')
  assert.deepEqual([request.kind.version, request.requestKind.version], ['v2', 'v1'])
  webhooks.close()
})

test('match conditions', async () => {
  const condition = (...texts: string[]) => texts.map((expression, i) => ({ name: `c${i}`, expression }))
  const ask = async (matchConditions: object[], failurePolicy = 'Fail') => {
    const { webhooks } = world('validating', { name: 'a.acme.io', matchConditions, failurePolicy })
    handler = () => ({ allowed: true })
    try {
      await webhooks.validate(attributes())
      return received.length
    } catch (error) {
      return (error as Error).message
    } finally {
      webhooks.close()
    }
  }
  const creates = 'request.operation == "CREATE"'
  const deletes = 'request.operation == "DELETE"'
  const fails = 'object.no.such == 1'
  assert.equal(await ask(condition(creates, 'object.spec.size == 1')), 1)
  assert.equal(await ask(condition(creates, deletes)), 0)
  assert.equal(await ask(condition(fails, deletes)), 0)
  assert.equal(await ask(condition('authorizer.group("").resource("x").check("get").allowed()')), 0)
  assert.equal(
    await ask(condition(fails, '1')),
    `widgets.acme.io "w" is forbidden: [expression '${fails}' resulted in error: no such key: no, compilation error: must evaluate to bool but got int]`,
  )
  assert.equal(await ask(condition(fails), 'Ignore'), 0)
})

test('configurations are applied in the order of their names, and never to themselves', async () => {
  const { webhooks, objects, key } = world('mutating', { name: 'm.acme.io' })
  const [hook] = objects.get(key('m'))!.object['webhooks'] as Hook[]
  objects.put(key('a'), { metadata: { name: 'a' }, webhooks: [{ ...hook, name: 'a.acme.io' }] })
  const uids: string[] = []
  handler = ({ request }) => {
    uids.push(request.uid)
    return { allowed: true, warnings: [`asked ${request.uid}`] }
  }
  const given = attributes()
  await webhooks.mutate(given)
  assert.equal(uids.length, 2)
  const exempt = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'x', namespaced: false }
  await webhooks.mutate(attributes({ type: { ...exempt, kind: 'MutatingWebhookConfiguration' } }))
  assert.equal(uids.length, 2)
  objects.remove(key('a'))
  objects.remove(key('m'))
  assert.equal(webhooks.hasMutating, false)
  assert.equal(webhooks.hasValidating, false)
  assert.equal(await webhooks.mutate(given), given.object)
  assert.equal(uids.length, 2)
  webhooks.close()
})
