import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createProxy } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Server, startServer, writeKubeconfig } from '@crosstie/apiserver'
import {
  type Access,
  HttpClient,
  Informers,
  inClusterAccess,
  kubeconfigAccess,
  staticAccess,
} from '@crosstie/controller'
import type { Client, KubeObject, ResourceType, StatusError } from '@crosstie/kube'
import { clientContract } from '@crosstie/kube/testing'
import { eventually } from '../support/kubectl.js'
import { type RealKubernetes, startRealKubernetes } from '../support/oracle.js'

const ACCOUNTS: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  namespaced: true,
}

/** Returns the access of a service account without permissions. */
async function strangerOf(admin: Client, access: Access): Promise<Access> {
  const name = `stranger-${Math.random().toString(36).slice(2, 10)}`
  const metadata = { name, namespace: 'default' }
  await admin.create(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} } as KubeObject
  const answer = await admin.create(ACCOUNTS, asked, { subresource: 'token' })
  const { token } = answer['status'] as { token: string }
  const { ca } = await access.tls()
  return staticAccess({ server: access.server, token, ...(ca ? { ca } : {}) })
}

interface Embedded extends AsyncDisposable {
  readonly server: Server
  readonly dataDir: string
  readonly url: string
  readonly ca: string
  /** The client certificate of the administrator. */
  readonly certificate: { readonly cert: string; readonly key: string }
}

/** Starts a server for the test. Disposal deletes its data. */
async function embedded(): Promise<Embedded> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-client-'))
  const server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const { server: url, ca, client: certificate } = server.adminAccess()
  const dispose = async () => {
    await server.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { server, dataDir, url, ca, certificate, [Symbol.asyncDispose]: dispose }
}

/** Returns the token of a service account without permissions. */
async function strangersToken({ url, ca, certificate }: Embedded): Promise<string> {
  using admin = new HttpClient(staticAccess({ server: url, ca, ...certificate }))
  const stranger = await strangerOf(admin, staticAccess({ server: url, ca }))
  return (await stranger.headers())['authorization']!.slice('Bearer '.length)
}

async function underTest(access: Access, http1 = false) {
  const admin = new HttpClient(access, { http1 })
  return { admin, stranger: new HttpClient(await strangerOf(admin, access), { http1 }) }
}

for (const http1 of [false, true])
  describe(`the client over HTTP/${http1 ? '1.1' : '2'} on the embedded server`, () => {
    let own: Embedded
    let clients: Awaited<ReturnType<typeof underTest>>
    before(async () => {
      own = await embedded()
      const { server, dataDir } = own
      await writeKubeconfig(join(dataDir, 'kubeconfig'), server.adminAccess())
      clients = await underTest(await kubeconfigAccess({ file: join(dataDir, 'kubeconfig') }), http1)
    })
    after(async () => {
      clients.admin.close()
      clients.stranger.close()
      await own[Symbol.asyncDispose]()
    })
    clientContract('embedded', async () => clients)
  })

test('a client and its informer outlive a restart of the server', { timeout: 300_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-client-'))
  let server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const { server: url, ca, client } = server.adminAccess()
  const port = Number(new URL(url).port)
  using http = new HttpClient(staticAccess({ server: url, ca, ...client }))
  const informers = new Informers(http, { watchList: true })
  const informer = informers.of(ACCOUNTS)
  await informer.synced
  await server.close()
  server = await startServer({ dataDir, host: '127.0.0.1', port })
  const metadata = { name: 'later', namespace: 'default' }
  await http.create(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  await eventually(
    async () => informer.cache.get(metadata),
    (account) => account !== undefined,
  )
  await informers.stop()
  await server.close()
  await rm(dataDir, { recursive: true, force: true })
})

for (const http1 of [false, true]) {
  test(`through a proxy, over HTTP/${http1 ? '1.1' : '2'}`, { timeout: 300_000 }, async () => {
    await using own = await embedded()
    const { url, ca, certificate } = own
    const asked: string[] = []
    const proxy = createProxy().on('connect', (request, socket, head) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`)
      const [host, port] = request.url!.split(':')
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.write(head)
        upstream.pipe(socket).pipe(upstream)
      })
      for (const end of [upstream, socket]) end.on('error', () => {})
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const at = `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`
    {
      using client = new HttpClient(staticAccess({ server: url, ca, ...certificate, proxy: at }), { http1 })
      assert.equal((await client.list(ACCOUNTS)).kind, 'ServiceAccountList')
      const target = new URL(url).host
      assert.deepEqual(asked, [`${target} Basic ${Buffer.from('me:secret').toString('base64')}`])
    }
    using refused = new HttpClient(staticAccess({ server: url, ca, proxy: `${url.replace('https', 'http')}` }))
    await assert.rejects(refused.list(ACCOUNTS), /cannot connect to/)
    proxy.close()
  })
}

test('an exec plugin tells who we are, and is asked again when that is refused', { timeout: 300_000 }, async () => {
  await using own = await embedded()
  const { dataDir, url, ca } = own
  const token = await strangersToken(own)
  const file = join(dataDir, 'token')
  const plugin = `const token = require('fs').readFileSync(process.env.TOKEN_FILE, 'utf8');
    const status = { token, expirationTimestamp: '2100-01-01T00:00:00Z' };
    console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }))`
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'c', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [
      {
        name: 'u',
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: process.execPath,
            args: ['-e', plugin],
            env: [{ name: 'TOKEN_FILE', value: file }],
            interactiveMode: 'Never',
          },
        },
      },
    ],
  }
  await writeFile(join(dataDir, 'kc'), JSON.stringify(kubeconfig))
  await writeFile(file, 'not-a-token')
  using client = new HttpClient(await kubeconfigAccess({ file: join(dataDir, 'kc') }))
  const refusal = () =>
    client.list(ACCOUNTS).then(
      () => 'nothing',
      (error: StatusError) => error.reason,
    )
  assert.equal(await refusal(), 'Unauthorized')
  await writeFile(file, token)
  assert.equal(await refusal(), 'Forbidden', 'it knows us now')
})

test('the account of a pod: the files that Kubernetes puts there lead to the server, and tell who we are', {
  timeout: 300_000,
}, async () => {
  await using own = await embedded()
  const { dataDir, url, ca } = own
  const token = await strangersToken(own)
  const accountDir = join(dataDir, 'serviceaccount')
  await mkdir(accountDir)
  await writeFile(join(accountDir, 'token'), `${token}\n`)
  await writeFile(join(accountDir, 'ca.crt'), ca)
  const { hostname, port } = new URL(url)
  const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  using client = new HttpClient(inClusterAccess({ environment, accountDir }))
  const review = { group: 'authentication.k8s.io', version: 'v1', kind: 'SelfSubjectReview', namespaced: false }
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} } as KubeObject
  const answer = await client.create({ ...review, resource: 'selfsubjectreviews' }, asked)
  const { username } = (answer['status'] as { userInfo: { username: string } }).userInfo
  assert.match(username, /^system:serviceaccount:default:stranger-/)
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('the client over HTTP/2 on the real kube-apiserver', { skip }, () => {
  let clients: Awaited<ReturnType<typeof underTest>>
  before(async () => {
    clients = await underTest(await kubeconfigAccess({ file: (real as RealKubernetes).kubeconfig }))
  })
  after(async () => {
    clients.admin.close()
    clients.stranger.close()
    await (real as RealKubernetes)[Symbol.asyncDispose]()
  })
  clientContract('real', async () => clients)
})
