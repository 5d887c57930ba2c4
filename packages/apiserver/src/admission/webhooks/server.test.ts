import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { CONFIG_MAPS } from '../../access/kinds.js'
import { openPki } from '../../access/pki.js'
import { type Server, startServer } from '../../server.js'

/** Webhooks in front of the server: their changes are stored, and refused objects are not. */

interface Request {
  readonly uid: string
  readonly operation: string
  readonly object: KubeObject | null
  readonly oldObject: KubeObject | null
}

let folder: string
let server: Server
let hooks: HttpsServer
let client: Client
let url: string
let caBundle: string
const seen: { readonly path: string; readonly request: Request }[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-webhooks-'))
  server = await startServer({ dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0 })
  client = server.client()
  const pki = await openPki({ dataDir: join(folder, 'hooks'), host: '127.0.0.1', clock: { now: () => Date.now() } })
  caBundle = Buffer.from(pki.ca).toString('base64')
  hooks = createServer(pki.serving, (incoming, outgoing) => {
    let text = ''
    incoming.on('data', (chunk) => {
      text += chunk
    })
    incoming.on('end', () => {
      const { apiVersion, kind, request } = JSON.parse(text) as { apiVersion: string; kind: string; request: Request }
      const path = (incoming.url ?? '').split('?')[0]!
      seen.push({ path, request })
      outgoing.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...answer(path, request) } }))
    })
  })
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(hooks.address() as AddressInfo).port}`
})
after(async () => {
  await server.close()
  hooks.close()
  hooks.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
})

function answer(path: string, { operation, object }: Request): object {
  if (path === '/label' && object) {
    const patch = JSON.stringify([{ op: 'add', path: '/metadata/annotations', value: { seen: operation } }])
    return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(patch).toString('base64') }
  }
  const data = object?.['data'] as Record<string, string> | undefined
  return data?.['bad'] ? { allowed: false, status: { code: 403, message: 'it is bad' } } : { allowed: true }
}

async function configure(kind: 'Mutating' | 'Validating', path: string): Promise<void> {
  const group = 'admissionregistration.k8s.io'
  const resource = `${kind.toLowerCase()}webhookconfigurations`
  const type: ResourceType = { group, version: 'v1', kind: `${kind}WebhookConfiguration`, resource, namespaced: false }
  await client.create(type, {
    apiVersion: `${group}/v1`,
    kind: type.kind,
    metadata: { name: 'test' },
    webhooks: [
      {
        name: `${path.slice(1)}.acme.io`,
        clientConfig: { url: url + path, caBundle },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { test: 'yes' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
}

const configMap = (name: string, data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { test: 'yes' } },
  data,
})

test('webhooks change objects, refuse them and review deletions', async () => {
  await configure('Mutating', '/label')
  await configure('Validating', '/check')
  const created = await client.create(CONFIG_MAPS, configMap('a', { good: '1' }))
  assert.deepEqual(created.metadata.annotations, { seen: 'CREATE' })
  const checked = seen.find(({ path }) => path === '/check')!.request
  assert.deepEqual(
    checked.object?.metadata.annotations,
    { seen: 'CREATE' },
    'the second webhook sees the changes of the first',
  )
  assert.ok(checked.object?.metadata.uid)

  const denied = { message: 'admission webhook "check.acme.io" denied the request: it is bad', code: 403 }
  await assert.rejects(client.create(CONFIG_MAPS, configMap('b', { bad: '1' })), denied)
  await assert.rejects(client.get(CONFIG_MAPS, { namespace: 'default', name: 'b' }), { code: 404 })
  const updated = await client.update(CONFIG_MAPS, { ...created, data: { good: '2' } })
  assert.deepEqual(updated.metadata.annotations, { seen: 'UPDATE' })

  seen.length = 0
  await client.delete(CONFIG_MAPS, { namespace: 'default', name: 'a' })
  assert.deepEqual(
    seen.map(({ path, request }) => [path, request.operation, request.object, request.oldObject?.metadata.name]),
    [
      ['/label', 'DELETE', null, 'a'],
      ['/check', 'DELETE', null, 'a'],
    ],
  )
  seen.length = 0
  await client.create(CONFIG_MAPS, { ...configMap('c', { bad: '1' }), metadata: { name: 'c', namespace: 'default' } })
  assert.equal(seen.length, 0, 'not selected')
})
