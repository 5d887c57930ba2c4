import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf } from '@crosstie/kube'
import { FakeApi } from '@crosstie/resources/testing'
import { providerConfig } from './config.js'
import { start } from './start.js'

const { type } = providerConfig

function hostWith(env: Record<string, string>) {
  const client = new FakeApi()
  return { client, dataDir: '', env, log: () => {}, signal: new AbortController().signal }
}

test('without credentials nothing is made, and it is said what to do', async () => {
  const host = hostWith({ AWS_REGION: 'eu-west-1' })
  const { summary } = await start(host)
  assert.match(summary, /no credentials found: set AWS_PROFILE or AWS_ACCESS_KEY_ID/)
  assert.equal(host.client.peek(type, { name: 'default' }), undefined)
})

test('a ProviderConfig that is there is left as it is', async () => {
  const host = hostWith({ AWS_PROFILE: 'work' })
  const spec = { credentials: { source: 'InjectedIdentity' }, region: 'eu-north-1' }
  const config = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'default' }, spec }
  await host.client.create(type, config)
  const { summary } = await start(host)
  assert.match(summary, /the ProviderConfig default that was there/)
  assert.deepEqual(host.client.peek(type, { name: 'default' })?.['spec'], spec)
})

test('credentials become the ProviderConfig default, even when AWS cannot be asked whose they are', async () => {
  // No server listens there. The test only checks that the variable is read.
  const AWS_ENDPOINT_URL = 'http://127.0.0.1:9'
  const host = hostWith({
    AWS_WEB_IDENTITY_TOKEN_FILE: '/no/such/token',
    AWS_DEFAULT_REGION: 'eu-west-3',
    AWS_ENDPOINT_URL,
  })
  const { summary } = await start(host)
  assert.match(summary, /^AWS_WEB_IDENTITY_TOKEN_FILE: nobody that AWS knows yet .*region eu-west-3 at http:/)
  assert.deepEqual(host.client.peek(type, { name: 'default' })?.['spec'], {
    credentials: { source: 'InjectedIdentity' },
    region: 'eu-west-3',
    endpoint: { url: AWS_ENDPOINT_URL },
  })
})
