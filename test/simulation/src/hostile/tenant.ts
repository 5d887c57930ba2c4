import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import type { KubeconfigContent } from '@crosstie/apiserver'
import { Api } from '../program/api.js'
import { CRDS, NAMESPACE, THINGS } from './attack.js'

/** A request of an attack. */
export interface Request {
  readonly method?: string | undefined
  readonly path: string
  readonly body?: unknown
  readonly type?: string | undefined
  readonly accept?: string | undefined
}

/** A response of the attacked server. */
export interface Response {
  readonly status: number
  readonly text: string
}

const ROLE = 'rbac.authorization.k8s.io'

const text = { type: 'string' }
const spec = {
  type: 'object',
  properties: {
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    keyed: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: text, v: text } },
    },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    pattern: { type: 'string', pattern: '^(a+)+$' },
    ruled: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', maxLength: 1_000 },
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists(y, y == x))', message: 'always' }],
    },
  },
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.heavy.example.org' },
  spec: {
    group: 'heavy.example.org',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
}

/** A server with a namespace, a kind `Thing`, and a service account that may only write there. */
export class AttackedServer {
  private constructor(
    readonly access: KubeconfigContent,
    readonly administrator: Api,
    readonly token: string,
  ) {}

  static async prepare(access: KubeconfigContent): Promise<AttackedServer> {
    const administrator = new Api(access)
    const create = async (path: string, body: object) => {
      const answer = await administrator.send('POST', path, body)
      assert.equal(answer.status, 201, answer.text)
      return answer.body
    }
    await create('/api/v1/namespaces', { metadata: { name: NAMESPACE } })
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`
    await create(accounts, { metadata: { name: 'tenant' } })
    const all = (apiGroup: string, resources: readonly string[]) => ({
      apiGroups: [apiGroup],
      resources,
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    })
    const rules = [all('', ['configmaps', 'secrets']), all('heavy.example.org', ['things']), all(ROLE, ['roles'])]
    await create(`/apis/${ROLE}/v1/namespaces/${NAMESPACE}/roles`, { metadata: { name: 'tenant' }, rules })
    await create(`/apis/${ROLE}/v1/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name: 'tenant' },
      subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace: NAMESPACE }],
      roleRef: { apiGroup: ROLE, kind: 'Role', name: 'tenant' },
    })
    await create(CRDS, definition)
    while ((await administrator.send('GET', THINGS)).status !== 200)
      await new Promise((resolve) => setImmediate(resolve))
    const issued = await create(`${accounts}/tenant/token`, { spec: { expirationSeconds: 36_000 } })
    return new AttackedServer(access, administrator, (issued as unknown as { status: { token: string } }).status.token)
  }

  /** Sends a request on a new connection. */
  send(as: 'tenant' | 'administrator', { method, path, body, type, accept }: Request): Promise<Response> {
    const { server, ca, client } = this.access
    const credentials = as === 'tenant' ? {} : { cert: client.cert, key: client.key }
    const session = connect(server, { ca, ...credentials, maxHeaderListPairs: 1_000 })
    return new Promise((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request({
        ':method': method ?? 'POST',
        ':path': path,
        ...(as === 'tenant' ? { authorization: `Bearer ${this.token}` } : {}),
        ...(accept ? { accept } : {}),
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      })
      const chunks: Buffer[] = []
      let status = 0
      stream.on('response', (head) => {
        status = Number(head[':status'])
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('close', () => {
        session.close()
        resolve({ status, text: Buffer.concat(chunks).toString('utf8') })
      })
      stream.end(body === undefined ? undefined : bytesOf(body))
    })
  }

  close(): void {
    this.administrator.close()
  }
}

function bytesOf(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
}
