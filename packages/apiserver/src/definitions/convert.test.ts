import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type KubeObject, StatusError, systemClock } from '@crosstie/kube'
import type { WebhookClientConfig } from '@crosstie/kube/schema'
import { openPki, type Pki } from '../access/pki.js'
import { caBundleError } from './cabundle.js'
import { webhookConversion } from './convert.js'
import type { CustomResourceDefinition } from './crd.js'

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly KubeObject[]
  }
}
type Answer = Record<string, unknown> | number

let folder: string
let pki: Pki
let server: Server
let url: string
let answer: (review: Review) => Answer
const received: { readonly review: Review; readonly path: string }[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-conversion-'))
  pki = await openPki({ dataDir: folder, host: '127.0.0.1', clock: systemClock })
  server = createServer(pki.serving, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      received.push({ review, path: incoming.url ?? '' })
      const given = answer(review)
      if (typeof given === 'number') outgoing.writeHead(given).end('broken')
      else outgoing.end(JSON.stringify(given))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

function conversion(config: Partial<WebhookClientConfig> = {}, conversionReviewVersions = ['v2', 'v1']) {
  const clientConfig = { url: `${url}/convert`, caBundle: Buffer.from(pki.ca).toString('base64'), ...config }
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'foos', kind: 'Foo', listKind: 'FooList' },
      versions: [],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } },
    },
  }
  return webhookConversion(crd)
}

const foo = (name: string, version = 'v1', more = {}): KubeObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Foo',
  metadata: { name, uid: `u-${name}`, resourceVersion: '7', labels: { a: 'b' }, ...more },
  spec: { from: version },
})

const turned = (object: KubeObject, version: string, changes: Record<string, unknown> = {}): KubeObject =>
  ({ ...object, apiVersion: version, spec: { from: version }, ...changes }) as KubeObject

function success(review: Review, convertedObjects: readonly unknown[], more: Record<string, unknown> = {}): Answer {
  const { uid } = review.request
  return {
    kind: review.kind,
    apiVersion: review.apiVersion,
    response: { uid, convertedObjects, result: { status: 'Success' }, ...more },
  }
}

test('objects are converted in one call, and only those that need it', async () => {
  received.length = 0
  answer = (review) =>
    success(
      review,
      review.request.objects.map((object) => turned(object, 'example.com/v2')),
    )
  const given = [foo('a'), foo('b', 'v2'), foo('c')]
  const converted = await conversion()(given, 'v2')
  assert.deepEqual(
    converted.map(({ apiVersion, metadata, spec }) => [apiVersion, metadata.name, spec]),
    [
      ['example.com/v2', 'a', { from: 'example.com/v2' }],
      ['example.com/v2', 'b', { from: 'v2' }],
      ['example.com/v2', 'c', { from: 'example.com/v2' }],
    ],
  )
  assert.equal(received.length, 1)
  const { review, path } = received[0]!
  assert.equal(path, '/convert?timeout=30s')
  assert.equal(review.apiVersion, 'apiextensions.k8s.io/v1')
  assert.equal(review.request.desiredAPIVersion, 'example.com/v2')
  assert.deepEqual(review.request.objects, [given[0], given[2]])
})

test('the webhook is not called without objects to convert', async () => {
  received.length = 0
  const given = [foo('a', 'v2')]
  assert.equal(await conversion()(given, 'v2'), given)
  assert.equal(received.length, 0)
})

test('only labels and annotations of metadata come from the webhook', async () => {
  const metadata = {
    name: 'a',
    uid: 'u-a',
    resourceVersion: '999',
    finalizers: ['evil'],
    labels: { c: 'd' },
    annotations: { e: 'f' },
  }
  answer = (review) => success(review, [turned(foo('a'), 'example.com/v2', { metadata })])
  const [converted] = await conversion()([foo('a')], 'v2')
  const want = { name: 'a', uid: 'u-a', resourceVersion: '7', labels: { c: 'd' }, annotations: { e: 'f' } }
  assert.deepEqual(converted?.metadata, want)
})

interface FailureCase {
  readonly because: string
  readonly answer: (review: Review) => Answer
  readonly many?: boolean
  readonly want: RegExp
}

const single = (changes: Record<string, unknown>) => (review: Review) =>
  success(review, [turned(foo('a'), 'example.com/v2', changes)])

const failures: Record<string, FailureCase> = {
  Status: {
    because: 'the webhook reports why it failed',
    answer: (review) => success(review, [], { result: { status: 'Failure', message: 'no luck' } }),
    want: /^conversion webhook for example\.com\/v1, Kind=Foo failed: no luck$/,
  },
  StatusWithoutWords: {
    because: 'it may return no message',
    answer: (review) => success(review, [], { result: { status: 'Failed' } }),
    want: /failed: response\.result\.status was 'Failed', not 'Success'$/,
  },
  WrongUid: {
    because: 'the response belongs to another request',
    answer: (review) => success(review, [], { uid: 'x' }),
    want: /failed: expected response\.uid="[0-9a-f-]{36}", got "x"$/,
  },
  WrongKind: {
    because: 'the response is not a review',
    answer: () => ({ kind: 'Foo', apiVersion: 'v1' }),
    want: /failed: no kind "Foo" is registered for version "v1" in scheme "pkg\/runtime\/scheme\.go:110"$/,
  },
  OlderReview: {
    because: 'the response is in another version than the request',
    answer: (review) => ({ ...(success(review, []) as object), apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    want: /failed: expected webhook response of apiextensions\.k8s\.io\/v1, Kind=ConversionReview, got apiextensions\.k8s\.io\/v1beta1, Kind=ConversionReview$/,
  },
  NoResponse: {
    because: 'a review without a response',
    answer: ({ kind, apiVersion }) => ({ kind, apiVersion }),
    want: /failed: no response provided$/,
  },
  TooFew: {
    because: 'every object must be returned',
    answer: (review) => success(review, []),
    want: /^conversion webhook for example\.com\/v1, Kind=Foo returned 0 objects, expected 1$/,
  },
  WrongVersion: {
    because: 'it must be in the version that was asked for',
    answer: single({ apiVersion: 'example.com/v3' }),
    want: /returned invalid object at index 0: invalid groupVersion \(expected example\.com\/v2, received example\.com\/v3\)$/,
  },
  WrongObjectKind: {
    because: 'its kind must not change',
    answer: single({ kind: 'Bar' }),
    want: /returned invalid object at index 0: invalid kind \(expected Foo, received Bar\)$/,
  },
  Renamed: {
    because: 'its name must not change',
    answer: single({ metadata: { name: 'z', uid: 'u-a' } }),
    want: /returned invalid object: must have the same name: a != z$/,
  },
  NewUid: {
    because: 'its uid must not change',
    answer: single({ metadata: { name: 'a', uid: 'z' } }),
    want: /returned invalid object: must have the same UID: u-a != z$/,
  },
  BadLabel: {
    because: 'labels are validated when they changed',
    answer: single({ metadata: { name: 'a', uid: 'u-a', labels: { 'a b': 'c' } } }),
    want: /returned invalid metadata: metadata\.labels: Invalid value: "a b": name part must consist/,
  },
  LabelOfWrongType: {
    because: 'labels are texts',
    answer: single({ metadata: { name: 'a', uid: 'u-a', labels: { a: 1 } } }),
    want: /returned invalid metadata: metadata\.labels\[a\] must be a string, but is int64 in converted object$/,
  },
  InList: {
    because: 'errors of a list are reported for each object',
    many: true,
    answer: (review) =>
      success(review, [turned(foo('a'), 'example.com/v2'), turned(foo('b'), 'example.com/v2', { kind: 'Bar' })]),
    want: /^conversion webhook for example\.com\/v1, Kind=Foo returned invalid object at index 0: invalid kind \(expected Foo, received Bar\)$/,
  },
  Broken: { because: 'the webhook answers 500', answer: () => 500, want: /Kind=Foo failed: / },
}

for (const [name, { because, answer: given, many, want }] of Object.entries(failures)) {
  test(`failure: ${name}`, async () => {
    answer = given
    await assert.rejects(conversion()(many ? [foo('a'), foo('b')] : [foo('a')], 'v2'), (error) => {
      assert.ok(error instanceof StatusError, because)
      assert.equal(error.code, 500)
      assert.match(error.message, want, because)
      return true
    })
  })
}

test('a service that cannot be resolved is a clear error', async () => {
  const service = { name: 'svc', namespace: 'ns', port: 443, path: '/convert' }
  await assert.rejects(
    conversion({ url: undefined, service })([foo('a')], 'v2'),
    /^StatusError: conversion webhook for example\.com\/v1, Kind=Foo failed: Post "https:\/\/svc\.ns\.svc:443\/convert\?timeout=30s": service "svc" not found$/,
  )
})

test('reviews of an unknown version are not sent', async () => {
  await assert.rejects(conversion({}, ['v9'])([foo('a')], 'v2'), /no supported conversion review versions/)
})

test('an untrusted certificate ends the call', async () => {
  answer = (review) => success(review, [])
  await assert.rejects(conversion({ caBundle: undefined })([foo('a')], 'v2'), /failed to verify certificate/)
})

test('bundles without a certificate have distinct errors', () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  assert.equal(caBundleError(encoded(pki.ca)), undefined)
  const prefix = 'unable to load root certificates:'
  assert.equal(caBundleError('AAAA'), `${prefix} unable to parse bytes as PEM block`)
  const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
  assert.equal(caBundleError(encoded(key)), `${prefix} no valid certificate authority data seen`)
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  assert.match(caBundleError(encoded(broken))!, /failed to parse certificate/)
})
