import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@crosstie/kube'
import { aggregatedDiscoveryOffer, bodyType, negotiate, resourceOffer, tryNegotiate } from './negotiate.js'

const table = { group: 'meta.k8s.io', version: 'v1', kind: 'Table' }

const accepted: readonly { accept: string | undefined; mediaType: string; as?: object; because: string }[] = [
  { accept: undefined, mediaType: 'application/json', because: 'JSON is the default' },
  { accept: '*/*', mediaType: 'application/json', because: 'anything will do' },
  { accept: 'application/*', mediaType: 'application/json', because: 'so will any application type' },
  { accept: 'application/yaml', mediaType: 'application/yaml', because: 'it was asked for' },
  { accept: 'text/html, application/yaml;q=0.5', mediaType: 'application/yaml', because: 'HTML cannot be had' },
  {
    accept: 'application/yaml;q=0.5,application/json;q=0.9',
    mediaType: 'application/json',
    because: 'the client prefers it',
  },
  {
    accept:
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
    mediaType: 'application/json',
    as: table,
    because: 'kubectl get wants a table',
  },
  {
    accept: 'application/json;as=Chair;v=v1;g=meta.k8s.io, application/json',
    mediaType: 'application/json',
    because: 'an unknown form is skipped',
  },
  {
    accept: 'application/vnd.kubernetes.protobuf, application/json',
    mediaType: 'application/json',
    because: 'responses are not encoded as protobuf',
  },
  { accept: 'application/cbor, */*', mediaType: 'application/json', because: 'CBOR is off' },
]

for (const { accept, mediaType, as, because } of accepted) {
  test(`Accept ${accept}: ${because}`, () => {
    const found = negotiate(accept, resourceOffer())
    assert.deepEqual({ mediaType: found.mediaType, as: found.as }, { mediaType, as })
  })
}

test('refusals list the supported types', () => {
  const refusal = (act: () => unknown) => {
    try {
      act()
    } catch (error) {
      assert.ok(error instanceof StatusError)
      return [error.code, error.message]
    }
    return []
  }
  const all = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
  assert.deepEqual(
    refusal(() => negotiate('application/cbor', resourceOffer())),
    [406, `only the following media types are accepted: ${all}`],
  )
  assert.deepEqual(
    refusal(() => negotiate('application/yaml', resourceOffer({ stream: true }))),
    [
      406,
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
  )
  assert.deepEqual(
    refusal(() => bodyType('application/cbor')),
    [415, `the body of the request was in an unknown format - accepted media types include: ${all}`],
  )
})

test('bodies say what they are', () => {
  assert.equal(bodyType(undefined), 'application/json')
  assert.equal(bodyType('application/JSON; charset=utf-8'), 'application/json')
  assert.equal(bodyType('application/yaml'), 'application/yaml')
})

test('aggregated discovery is sent to clients that request it', () => {
  const header =
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
  assert.equal(tryNegotiate(header, aggregatedDiscoveryOffer)?.as?.version, 'v2')
  assert.equal(tryNegotiate('application/json', aggregatedDiscoveryOffer), undefined)
})
