import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { apiVersionOf, type Client, type KubeObject, type ResourceType } from '@crosstie/kube'
import { object, providerConfig } from '@crosstie/provider-kubernetes'
import { nopResource } from '@crosstie/provider-nop'
import { mysqlInstance } from '@crosstie/resources/provider'
import { load, loadAll } from 'js-yaml'
import { runGuide } from '../docs/guide.js'
import { accounts } from '../kubernetes/objects-world.js'
import { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { findKubectl } from '../support/kubectl.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'

const run = promisify(execFile)
const root = new URL('../../../../', import.meta.url).pathname
const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')
const PROVIDERS = 'nop,kubernetes'
const LONG = 240_000

const kubectl = findKubectl()
const helm = kubectl ? join(dirname(kubectl), 'helm') : ''
const leases: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
}

async function printed(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { stdout } = await run(command, [...args], { env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

const manifests = (...args: string[]) => printed(process.execPath, [crosstie, 'manifests', ...args])
const objectsIn = (text: string) => (loadAll(text) as (KubeObject | null)[]).filter((each) => each !== null)
const idOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
const byId = (objects: readonly KubeObject[]) => new Map(objects.map((each) => [idOf(each), each]))

test('the chart gives what crosstie manifests prints', {
  skip: existsSync(helm) ? false : 'helm is not built',
}, async () => {
  const values = ['--set', `providers={${PROVIDERS}}`, '--set', 'replicas=3', '--set', 'shards=4']
  const chart = ['template', 'crosstie', join(root, 'deploy/chart'), '-n', 'somewhere', '--kube-version', '1.34.0']
  const rendered = byId(objectsIn(await printed(helm, [...chart, ...values])))
  const settings = ['--providers', PROVIDERS, '--namespace', 'somewhere', '--replicas', '3', '--shards', '4']
  const own = objectsIn(await manifests('--only', 'workload', ...settings))
  const compared = own.filter(({ kind, metadata }) => kind !== 'Namespace' && !/^crosstie:/.test(metadata.name!))
  for (const each of compared) assert.deepEqual(rendered.get(idOf(each)), each, idOf(each))
  for (const { kind, metadata } of own) {
    if (kind !== 'Namespace') assert.ok(rendered.has(`${kind} ${metadata.namespace ?? ''}/${metadata.name}`))
  }
})

test('bad options of crosstie manifests are named', async () => {
  const cases: Record<string, readonly [args: string[], words: RegExp]> = {
    Namespace: [['--namespace', 'No_Good'], /--namespace 'No_Good' is not a valid namespace name/],
    Replicas: [['--replicas', '0'], /--replicas takes a whole number from 1 to 1000, not '0'/],
    Only: [['--only', 'half'], /--only is crds or workload, not 'half'/],
    Provider: [['--providers', 'oracle'], /unknown provider 'oracle'/],
  }
  for (const [name, [args, words]] of Object.entries(cases)) {
    await assert.rejects(manifests(...args), (error: { code: number; stderr: string }) => {
      assert.equal(error.code, 2, name)
      assert.match(error.stderr, words)
      return true
    })
  }
})

test('what the Dockerfile puts into the image runs', { timeout: LONG }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-image-'))
  try {
    const [, stage = ''] = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').split(/^FROM .*\n.*WORKDIR \/app$/m)
    const copies = [...stage.matchAll(/^COPY --from=build \/src\/(\S+) \.\/(\S*)$/gm)]
    assert.ok(copies.length > 0)
    for (const [, from = '', to = ''] of copies) {
      const target = join(folder, to || from.split('/').at(-1)!)
      await mkdir(dirname(target), { recursive: true })
      await cp(join(root, from), target, { recursive: true })
    }
    const program = join(folder, 'bin/crosstie.js')
    assert.match(await printed(process.execPath, [program, 'version', '--client']), /^crosstie \d/)
    assert.match(await printed(process.execPath, [program, 'manifests', '--only', 'workload']), /kind: Deployment/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const real = kubectl ? await startRealKubernetes() : 'kubectl is not built: node scripts/oracle.mjs build'

describe('on the real kube-apiserver', { skip: typeof real === 'string' ? real : false }, () => {
  if (typeof real === 'string' || !kubectl) return
  const children: Child[] = []
  after(async () => {
    for (const child of children) await child.stop('SIGKILL')
    await real[Symbol.asyncDispose]()
  })
  const env = {
    ...process.env,
    KUBECONFIG: real.kubeconfig,
    PATH: `${dirname(kubectl)}${delimiter}${process.env['PATH']}`,
  }

  test('the guide to running it on Kubernetes', { timeout: 600_000 }, async () => {
    await runGuide('docs/guides/run-on-kubernetes.md', { env })
  })

  /** Starts the command of the Deployment with exactly the permissions of its service account. */
  async function replica(cluster: Cluster, more: readonly string[] = []): Promise<Child> {
    const port = await freePort()
    const args = cluster.args.map((arg) =>
      arg
        .replace('$(POD_NAMESPACE)', 'crosstie-system')
        .replace(/^--metrics=.*/, `--metrics=127.0.0.1:${port}`)
        .replace(/^--shards=.*/, more.find((each) => each.startsWith('--shards=')) ?? arg),
    )
    const child = new Child(process.execPath, [crosstie, ...args, '--kubeconfig', cluster.account, '--poll-seconds=5'])
    children.push(child)
    const url = `http://127.0.0.1:${port}`
    await eventually(
      'the process is ready',
      async () => !child.exited && (await fetch(`${url}/readyz`).catch(() => undefined))?.ok,
      LONG,
    ).catch((error) => {
      throw new Error(`${error}: ${child.errors}`)
    })
    assert.equal(await (await fetch(`${url}/livez`)).text(), 'ok')
    assert.equal((await fetch(`${url}/metrics`)).status, 200)
    return child
  }

  test('two replicas with just the rights of the account: the leader is killed and the other goes on', {
    timeout: 900_000,
  }, async () => {
    const cluster = await install(env, real.kubeconfig)
    try {
      const { client } = cluster
      const replicas = [await replica(cluster), await replica(cluster)]
      const leader = await eventually(
        'one leads',
        async () => replicas.find(({ errors }) => /"leading"/.test(errors)),
        LONG,
      )
      await createNops(client, 'before', 20)
      await createClaim(client, 'first')
      await nopsReady(client, 20, 'before')
      await claimReady(client, 'first')

      await createNops(client, 'during', 20)
      await leader.stop('SIGKILL')
      await createNops(client, 'after', 20)
      await createClaim(client, 'second')
      await nopsReady(client, 20, 'before', 'during', 'after')
      await claimReady(client, 'second')
      const other = replicas.find((each) => each !== leader)!
      assert.match(other.errors, /"leading"/)

      for (const { errors } of replicas) assert.doesNotMatch(errors, /forbidden/i)
      await objectsOfTheOwnCluster(client)

      await client.delete(mysqlInstance.type, { name: 'first', namespace: 'default' })
      await client.deleteCollection(nopResource.type, { labelSelector: 'made=by-test' })
      const left = async () => [
        ...(await client.list(nopResource.type, { labelSelector: 'made=by-test' })).items,
        ...(await client.list(mysqlInstance.type, { fieldSelector: 'metadata.name=first' })).items,
      ]
      await eventually('what was deleted is gone', async () => (await left()).length === 0, LONG)
      await other.stop()
      const { items } = await client.list(leases, { namespace: 'crosstie-system' })
      assert.ok(items.length > 0, 'the lease is where the role allows it')
    } finally {
      await cluster[Symbol.asyncDispose]()
    }
  })

  test('shards: all replicas work, one is killed, and the others take its part', { timeout: 900_000 }, async () => {
    const cluster = await install(env, real.kubeconfig)
    try {
      const { client } = cluster
      const replicas: Child[] = []
      for (let i = 0; i < 3; i++) replicas.push(await replica(cluster, ['--shards=6']))
      const holders = async () => {
        const { items } = await client.list(leases, { namespace: 'crosstie-system' })
        const shards = items.filter(({ metadata }) => metadata.name!.includes('-shard-'))
        return shards.flatMap((lease) => (lease['spec'] as { holderIdentity?: string }).holderIdentity || [])
      }
      await eventually('all shards are held', async () => (await holders()).length === 6, LONG)
      await createNops(client, 'sharded', 30)
      await nopsReady(client, 30, 'sharded')
      // A hash assigns the shards, so a process may have none. Identities are HOST_PID_TIME.
      const [holder = ''] = await holders()
      const victim = replicas.find(({ pid }) => holder.includes(`_${pid}_`))
      assert.ok(victim, holder)
      await victim.stop('SIGKILL')
      await createNops(client, 'orphans', 30)
      await nopsReady(client, 30, 'sharded', 'orphans')
      for (const { errors } of replicas) assert.doesNotMatch(errors, /forbidden/i)
    } finally {
      await cluster[Symbol.asyncDispose]()
    }
  })
})

interface Cluster extends AsyncDisposable {
  readonly client: Client
  /** The arguments of the container in the Deployment. */
  readonly args: readonly string[]
  /** A kubeconfig with only a token of the service account. */
  readonly account: string
}

/** Installs like an administrator: kubectl applies the output of crosstie. */
async function install(env: NodeJS.ProcessEnv, kubeconfig: string): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-deploy-'))
  const file = join(folder, 'crosstie.yaml')
  const text = await manifests('--providers', PROVIDERS)
  await writeFile(file, text)
  await printed('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', file], env)
  const token = await printed('kubectl', ['create', 'token', 'crosstie', '-n', 'crosstie-system'], env)
  const config = load(await readFile(kubeconfig, 'utf8')) as { users: { name: string; user: object }[] }
  const users = config.users.map(({ name }) => ({ name, user: { token: token.trim() } }))
  const account = join(folder, 'account')
  await writeFile(account, JSON.stringify({ ...config, users }), { mode: 0o600 })
  const deployment = objectsIn(text).find(({ kind }) => kind === 'Deployment')!
  const { containers } = (deployment['spec'] as { template: { spec: { containers: { args: string[] }[] } } }).template
    .spec
  const client = new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
  return {
    client,
    args: containers[0]!.args,
    account,
    async [Symbol.asyncDispose]() {
      client.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function createNops(client: Client, prefix: string, count: number): Promise<void> {
  const { type } = nopResource
  for (let i = 0; i < count; i++) {
    const metadata = { name: `${prefix}-${i}`, labels: { made: 'by-test' } }
    await client.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata,
      spec: { forProvider: { size: i } },
    })
  }
}

async function createClaim(client: Client, name: string): Promise<void> {
  const { classType } = nopResource
  const metadata = { name: 'small' }
  const specTemplate = { forProvider: { size: 1 } }
  await client.apply(classType, { metadata, specTemplate }, { fieldManager: 'test', force: true })
  const { type } = mysqlInstance
  const classRef = { apiVersion: apiVersionOf(classType), kind: classType.kind, name: 'small' }
  await client.create(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace: 'default' },
    spec: { classRef, writeConnectionSecretToRef: { name: `${name}-connection` } },
  })
}

const isReady = (found: KubeObject) => condition(found, 'Ready')?.status === 'True'

/** Waits until all objects that `createNops` created under these prefixes are ready. */
async function nopsReady(client: Client, each: number, ...prefixes: readonly string[]): Promise<void> {
  let open: readonly string[] = []
  await eventually(
    `${prefixes} are ready`,
    async () => {
      const { items } = await client.list(nopResource.type)
      const ready = new Set(items.filter(isReady).map(({ metadata }) => metadata.name))
      const names = prefixes.flatMap((prefix) => Array.from({ length: each }, (_, i) => `${prefix}-${i}`))
      open = names.filter((name) => !ready.has(name))
      return open.length === 0
    },
    LONG,
  ).catch((error) => {
    throw new Error(`${error}, but for ${open}`)
  })
}

async function claimReady(client: Client, name: string): Promise<void> {
  const read = () => client.get(mysqlInstance.type, { name, namespace: 'default' })
  await eventually(`claim ${name} is ready`, async () => isReady(await read()), LONG)
}

/** Asserts that Objects have only the permissions in their own cluster that labeled roles grant. */
async function objectsOfTheOwnCluster(client: Client): Promise<void> {
  const credentials = { source: 'InjectedIdentity' }
  await client.apply(
    providerConfig.type,
    { metadata: { name: 'default' }, spec: { credentials } },
    { fieldManager: 'test', force: true },
  )
  const manifest = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'granted', namespace: 'default' } }
  await client.create(object.type, {
    apiVersion: apiVersionOf(object.type),
    kind: 'Object',
    metadata: { name: 'granted' },
    spec: { forProvider: { manifest } },
  })
  const read = () => client.get(object.type, { name: 'granted' })
  await eventually(
    'it is forbidden',
    async () => /forbidden/.test(condition(await read(), 'Synced')?.message ?? ''),
    LONG,
  )
  const roles: ResourceType = {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRole',
    resource: 'clusterroles',
    namespaced: false,
  }
  await client.apply(
    roles,
    {
      metadata: { name: 'objects-may-keep-accounts', labels: { 'rbac.crosstie.io/aggregate-to-objects': 'true' } },
      rules: [
        {
          apiGroups: [''],
          resources: ['serviceaccounts'],
          verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
        },
      ],
    } as never,
    { fieldManager: 'test', force: true },
  )
  await eventually('it is granted', async () => isReady(await read()), LONG)
  await client.delete(object.type, { name: 'granted' })
  const left = async () =>
    (await client.list(accounts, { namespace: 'default', fieldSelector: 'metadata.name=granted' })).items
  await eventually('it is gone', async () => (await left()).length === 0, LONG)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
