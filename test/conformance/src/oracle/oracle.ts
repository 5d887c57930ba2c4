import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate, makeSigningKey } from '../harness/certificate.js'
import { freePorts, type Running, start } from '../harness/children.js'
import { program } from './binaries.js'

/** A running kube-apiserver with etcd and the controller manager. */
export interface Oracle {
  readonly url: string
  readonly kubeconfig: string
  /** The process ids of the server by program, for measurements. */
  readonly pids: Readonly<Record<string, number>>
  /** Resolves when the controller manager, if enabled, has completed its initial work. */
  settled(): Promise<void>
  /** Kills kube-apiserver and restarts it. Resolves when it is ready. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Options of a real server. */
export interface OracleOptions {
  /** Whether to run the controller manager. Without it there is no garbage collection, but less noise in benchmarks. */
  readonly controllers?: boolean
  /** The path of the kubeconfig. Defaults to the folder of the oracle. */
  readonly kubeconfig?: string
}

/** Starts a real kube-apiserver on loopback. Throws `Unavailable` if its programs are unavailable. */
export async function startOracle(options: OracleOptions = {}): Promise<Oracle> {
  const { controllers = true } = options
  const etcd = await program('etcd')
  const apiserver = await program('kube-apiserver')
  const manager = controllers ? await program('kube-controller-manager') : ''
  const dir = mkdtempSync(join(tmpdir(), 'crosstie-oracle-'))
  const running: Record<string, Running> = {}
  const stop = async () => {
    for (const child of Object.values(running).reverse()) await child.stop()
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    const [clientPort, peerPort, securePort] = await freePorts(3)
    const url = `https://127.0.0.1:${securePort}`
    const kubeconfig = options.kubeconfig ?? join(dir, 'kubeconfig')
    writeKeys(dir, url, kubeconfig)
    const log = (name: string) => join(dir, `${name}.log`)
    running['etcd'] = start(etcd, etcdArgs(dir, clientPort!, peerPort!), log('etcd'))
    const serve = async () => {
      const server = start(apiserver, apiserverArgs(dir, clientPort!, securePort!), log('kube-apiserver'))
      running['kube-apiserver'] = server
      await ready(url, dir, server)
    }
    await serve()
    if (controllers) running['kube-controller-manager'] = start(manager, managerArgs(dir, kubeconfig), log('manager'))
    const pids = Object.fromEntries(Object.entries(running).map(([name, { pid }]) => [name, pid]))
    const settled = () => (controllers ? untilSettled(url, dir) : Promise.resolve())
    const restart = async () => {
      const { pid, exited } = running['kube-apiserver']!
      process.kill(pid, 'SIGKILL')
      await exited
      await serve()
    }
    return { url, kubeconfig, pids, settled, restart, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function writeKeys(dir: string, url: string, kubeconfig: string): void {
  const authority = makeCertificate({ commonName: 'crosstie-oracle', authority: true })
  const server = makeCertificate({ commonName: 'kube-apiserver', loopback: true }, authority)
  const admin = makeCertificate({ commonName: 'admin', organizations: ['system:masters'] }, authority)
  const accounts = makeSigningKey()
  const file = (name: string, text: string) => writeFileSync(join(dir, name), text, { mode: 0o600 })
  file('ca.crt', authority.cert)
  file('ca.key', authority.key)
  file('server.crt', server.cert)
  file('server.key', server.key)
  file('sa.key', accounts.key)
  file('sa.pub', accounts.publicKey)
  file('admin.crt', admin.cert)
  file('admin.key', admin.key)
  writeFileSync(kubeconfig, kubeconfigOf(url, authority.cert, admin), { mode: 0o600 })
  mkdirSync(join(dir, 'etcd'), { mode: 0o700 })
}

function kubeconfigOf(url: string, ca: string, admin: { cert: string; key: string }): string {
  const data = (text: string) => Buffer.from(text).toString('base64')
  return `apiVersion: v1
kind: Config
current-context: oracle
clusters:
- name: oracle
  cluster:
    server: ${url}
    certificate-authority-data: ${data(ca)}
users:
- name: admin
  user:
    client-certificate-data: ${data(admin.cert)}
    client-key-data: ${data(admin.key)}
contexts:
- name: oracle
  context:
    cluster: oracle
    user: admin
`
}

function etcdArgs(dir: string, clientPort: number, peerPort: number): string[] {
  const client = `http://127.0.0.1:${clientPort}`
  const peer = `http://127.0.0.1:${peerPort}`
  return [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--log-level=warn',
  ]
}

function apiserverArgs(dir: string, etcdPort: number, securePort: number): string[] {
  const file = (name: string) => join(dir, name)
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${securePort}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--tls-cert-file=${file('server.crt')}`,
    `--tls-private-key-file=${file('server.key')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${file('sa.key')}`,
    `--service-account-key-file=${file('sa.pub')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // The service network is not needed, because webhooks are called by URL.
    '--endpoint-reconciler-type=none',
    '--v=0',
  ]
}

function managerArgs(dir: string, kubeconfig: string): string[] {
  const file = (name: string) => join(dir, name)
  return [
    `--kubeconfig=${kubeconfig}`,
    `--root-ca-file=${file('ca.crt')}`,
    `--service-account-private-key-file=${file('sa.key')}`,
    `--cluster-signing-cert-file=${file('ca.crt')}`,
    `--cluster-signing-key-file=${file('ca.key')}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--v=0',
  ]
}

/**
 * Waits for the initial work of the controller manager. Until then aggregated roles such as `admin` have no rules,
 * and bindings to them grant nothing.
 */
async function untilSettled(url: string, dir: string): Promise<void> {
  const tls = administrator(dir)
  const deadline = Date.now() + 120_000
  const admin = `${url}/apis/rbac.authorization.k8s.io/v1/clusterroles/admin`
  while (!((await bodyOf(admin, tls)) ?? '').includes('"rules":[{')) {
    if (Date.now() > deadline)
      throw new Error(`kube-controller-manager does nothing: ${tail(join(dir, 'manager.log'))}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function ready(url: string, dir: string, apiserver: Running): Promise<void> {
  const tls = administrator(dir)
  let exited = false
  void apiserver.exited.then(() => {
    exited = true
  })
  const deadline = Date.now() + 120_000
  while ((await bodyOf(`${url}/readyz`, tls)) === undefined) {
    if (exited || Date.now() > deadline) {
      throw new Error(`kube-apiserver did not get ready: ${tail(join(dir, 'kube-apiserver.log'))}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

interface Tls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

function administrator(dir: string): Tls {
  const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFileSync(join(dir, name)))
  return { ca: ca!, cert: cert!, key: key! }
}

/** Returns the body of a GET response with status 200, else undefined. */
function bodyOf(url: string, tls: Tls): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = request(url, { ...tls, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve(response.statusCode === 200 ? body : undefined))
    })
    probe.on('error', () => resolve(undefined))
    probe.end()
  })
}

const tail = (file: string): string => readFileSync(file, 'utf8').slice(-1_500)
