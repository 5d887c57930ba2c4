import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { type Server, startServer, writeKubeconfig } from '@crosstie/apiserver'
import { type Access, HttpClient, kubeconfigAccess, staticAccess } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { clientContract } from '@crosstie/kube/testing'
import { type RealKubernetes, startRealKubernetes } from './oracle.js'

const ACCOUNTS: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  namespaced: true,
}

/** The access of a service account that nobody gave any rights. */
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

async function underTest(access: Access, http1 = false) {
  const admin = new HttpClient(access, { http1 })
  return { admin, stranger: new HttpClient(await strangerOf(admin, access), { http1 }) }
}

for (const http1 of [false, true])
  describe(`the client over HTTP/${http1 ? '1.1' : '2'} on the embedded server`, () => {
    let server: Server
    let dataDir: string
    let clients: Awaited<ReturnType<typeof underTest>>
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'crosstie-client-'))
      server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
      await writeKubeconfig(join(dataDir, 'kubeconfig'), server.adminAccess())
      clients = await underTest(await kubeconfigAccess({ file: join(dataDir, 'kubeconfig') }), http1)
    })
    after(async () => {
      clients.admin.close()
      clients.stranger.close()
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    })
    clientContract('embedded', async () => clients)
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
