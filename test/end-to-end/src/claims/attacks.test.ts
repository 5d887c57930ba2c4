import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CreateDBInstanceCommand, DescribeDBInstancesCommand, RDSClient } from '@aws-sdk/client-rds'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import {
  apiVersionOf,
  type Condition,
  conditionsOf,
  ignoring,
  isNotFound,
  type KubeObject,
  type ResourceType,
  StatusError,
} from '@crosstie/kube'
import { Moto, motoMissing } from '@crosstie/provider-aws/testing'
import { postgresqlInstance } from '@crosstie/resources/provider'
import pg from 'pg'
import type { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { fileOf, Program } from '../support/program.js'

/**
 * Attacks by tenants with a token that has only `crosstie:application-operator` in one namespace, over real
 * sockets, against programs as users run them (XN1, XN3, CLM7). Afterwards the external resources are unchanged.
 */

const PATIENCE_MS = 240_000
const ROUNDS = 6
const region = 'eu-west-1'
const NAME = 'crossplane.io/external-name'
const claims = postgresqlInstance.type
const core = { group: '', version: 'v1' }
const secrets: ResourceType = { ...core, kind: 'Secret', resource: 'secrets', namespaced: true }
const accounts: ResourceType = { ...core, kind: 'ServiceAccount', resource: 'serviceaccounts', namespaced: true }

/** The spec of a claim that a database alone satisfies. */
const direct = {
  classRef: { apiVersion: 'postgresql.sql.crossplane.io/v1alpha1', kind: 'DatabaseClass', name: 'direct' },
}

/** A Kubernetes API with two controller processes, and the URL of the PostgreSQL server that they use. */
interface Plane {
  readonly program: Program
  readonly databaseUrl: string
  /** The control plane started the PostgreSQL server, and has a ProviderConfig for it. */
  readonly brought: boolean
}

function attacks(open: (running: AsyncDisposable[]) => Promise<Plane>): void {
  const running: AsyncDisposable[] = []
  let plane: Plane
  let moto: Moto
  let admin: HttpClient
  const tenants = new Map<string, HttpClient>()

  before(async () => {
    moto = await Moto.start()
    running.push(moto)
    plane = await open(running)
    const { program, databaseUrl, brought } = plane
    admin = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    const manifest = join(program.folder, 'attacks.yaml')
    await writeFile(manifest, manifests(moto.url) + (brought ? '' : serverManifest(databaseUrl)))
    let problem = ''
    const applies = async () => {
      const { code, err } = await program.run(['apply', '-f', manifest])
      problem = err
      return code === 0
    }
    await eventually('the manifests are applied', applies, PATIENCE_MS).catch((error) => {
      throw new Error(`${error}: ${problem}`)
    })
    await program.ok('apply', '-f', fileOf('examples/private-database/infrastructure.yaml'))
    for (const namespace of ['team-a', 'team-b']) tenants.set(namespace, await tenantOf(program.kubeconfig, namespace))
    for (const [namespace, client] of tenants)
      await eventually(
        'the role is aggregated',
        () => client.list(claims, { namespace }).then(Boolean, () => false),
        PATIENCE_MS,
      )
  })
  after(async () => {
    admin?.close()
    for (const client of tenants.values()) client.close()
    for (const each of running.reverse()) await each[Symbol.asyncDispose]()
  })

  const sql = (text: string) => query(plane.databaseUrl, text)
  const readyOf = async (name: string, namespace: string): Promise<Condition | undefined> =>
    conditionsOf(await tenants.get(namespace)!.get(claims, { name, namespace })).find(({ type }) => type === 'Ready')
  const secretIn = (name: string, namespace: string) =>
    tenants.get(namespace)!.get(secrets, { name, namespace }).catch(ignoring(isNotFound))

  async function remove(name: string, namespace: string): Promise<void> {
    const tenant = tenants.get(namespace)!
    await tenant.delete(claims, { name, namespace })
    const found = () => tenant.get(claims, { name, namespace }).catch(ignoring(isNotFound))
    await eventually(`${name} is gone`, async () => !(await found()), PATIENCE_MS)
  }

  /** Claims an external name, expects a rejection for the reason and no binding, and deletes the claim. */
  async function attack(name: string, externalName: string, spec: object, reason: string): Promise<void> {
    await tenants.get('team-a')!.create(claims, claimOf(name, 'team-a', externalName, spec))
    const refused = await eventually(
      `${name} is refused`,
      async () => {
        const ready = await readyOf(name, 'team-a')
        assert.notEqual(ready?.status, 'True', `${name} got ${externalName}`)
        return ready?.reason.startsWith('ExternalName') ? ready : undefined
      },
      PATIENCE_MS,
    )
    assert.equal(refused.reason, reason, refused.message)
    assert.equal(await secretIn(name, 'team-a'), undefined, 'no connection details')
    await remove(name, 'team-a')
  }

  test('the token has the rights of an application operator and no others', async () => {
    const tenant = tenants.get('team-a')!
    const forbidden = (call: Promise<unknown>) =>
      assert.rejects(call, (error: unknown) => error instanceof StatusError && error.code === 403)
    await tenant.list(claims, { namespace: 'team-a' })
    await forbidden(tenant.list(claims, { namespace: 'team-b' }))
    await forbidden(tenant.list(secrets, { namespace: 'crossplane-system' }))
    await forbidden(tenant.list({ ...core, kind: 'Namespace', resource: 'namespaces', namespaced: false }))
  })

  test('XN3 CLM7 an RDS instance that was never managed stays as it is', async () => {
    const rds = moto.client(RDSClient, region)
    await rds.send(
      new CreateDBInstanceCommand({
        DBInstanceIdentifier: 'prod-db',
        DBInstanceClass: 'db.r6g.large',
        Engine: 'postgres',
        AllocatedStorage: 100,
        MasterUsername: 'boss',
        MasterUserPassword: 'kept-as-it-is',
        Tags: [{ Key: 'team', Value: 'payments' }],
      }),
    )
    const world = async () => {
      const { DBInstances = [] } = await rds.send(new DescribeDBInstancesCommand({}))
      // Moto reports the current time here.
      return DBInstances.map(({ LatestRestorableTime: _, ...rest }) => rest)
    }
    const before = await world()
    assert.equal(before.length, 1)
    for (const className of ['rds', 'rds-prefixed']) {
      const classRef = { apiVersion: 'rds.aws.crossplane.io/v1alpha1', kind: 'DBInstanceClass', name: className }
      const externalName = className === 'rds' ? 'prod-db' : 'db'
      await attack(`thief-${className}`, externalName, { classRef }, 'ExternalNameTaken')
    }
    assert.deepEqual(await world(), before)
  })

  test('XN3 CLM7 databases and roles of PostgreSQL that were never managed stay as they are', async () => {
    await sql("CREATE ROLE boss LOGIN SUPERUSER PASSWORD 'kept'")
    await sql('CREATE ROLE lonely SUPERUSER')
    await sql('CREATE DATABASE prod OWNER boss')
    await query(onDatabase(plane.databaseUrl, 'prod'), 'CREATE TABLE orders AS SELECT 1 AS number')
    const world = async () => ({
      roles: await sql('SELECT * FROM pg_authid ORDER BY rolname'),
      databases: await sql('SELECT oid, datname, datdba, datacl::text, datconnlimit FROM pg_database ORDER BY datname'),
      memberships: await sql('SELECT roleid, member FROM pg_auth_members ORDER BY 1, 2'),
      orders: await query(onDatabase(plane.databaseUrl, 'prod'), 'SELECT number FROM orders'),
    })
    const before = await world()
    const cases: readonly (readonly [string, object, string])[] = [
      ['prod', {}, 'ExternalNameTaken'],
      ['prod', direct, 'ExternalNameTaken'],
      ['boss', {}, 'ExternalNameTaken'],
      ['lonely', {}, 'ExternalNameTaken'],
      ['postgres', {}, 'ExternalNameForbidden'],
      ['postgres', direct, 'ExternalNameForbidden'],
      ['template1', direct, 'ExternalNameForbidden'],
    ]
    for (const [i, [externalName, spec, reason]] of cases.entries())
      await attack(`thief-${i}-${externalName}`, externalName, spec, reason)
    await eventually('the outside world is as it was', async () => {
      const now = await world()
      return JSON.stringify(now) === JSON.stringify(before)
    }).catch(async (error) => {
      assert.deepEqual(await world(), before, String(error))
    })
  })

  test('XN1 of two claims in two namespaces with one external name, created at the same moment, exactly one gets it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const externalName = `contested-${round}`
      const both = ['team-a', 'team-b']
      const name = `racer-${round}`
      const spec = round % 2 === 0 ? direct : {}
      await Promise.all(
        both.map((namespace) => tenants.get(namespace)!.create(claims, claimOf(name, namespace, externalName, spec))),
      )
      const states = await eventually(
        'both claims have an outcome',
        async () => {
          const ready = await Promise.all(both.map((namespace) => readyOf(name, namespace)))
          const decided = ready.every((each) => each?.status === 'True' || each?.reason === 'ExternalNameTaken')
          return decided ? ready.map((each) => each!.status) : undefined
        },
        PATIENCE_MS,
      )
      assert.deepEqual([...states].sort(), ['False', 'True'], `round ${round}`)
      const loser = both[states.indexOf('False')]!
      assert.equal(await secretIn(name, loser), undefined, 'the loser has no connection details')
      assert.equal((await sql(`SELECT 1 FROM pg_database WHERE datname = '${externalName}'`)).length, 1)
      await remove(name, loser)
      assert.equal((await sql(`SELECT 1 FROM pg_database WHERE datname = '${externalName}'`)).length, 1)
      await remove(name, both[states.indexOf('True')]!)
      assert.deepEqual(await sql(`SELECT 1 FROM pg_database WHERE datname = '${externalName}'`), [])
    }
  })

  /** Returns a client with a token of a ServiceAccount. */
  async function tenantOf(kubeconfig: string, namespace: string): Promise<HttpClient> {
    const metadata = { name: 'tenant', namespace }
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} }
    const answer = await admin.create<KubeObject>(accounts, asked, { subresource: 'token' })
    const { token } = answer['status'] as { token: string }
    const access = await kubeconfigAccess({ file: kubeconfig })
    const { ca } = await access.tls()
    return new HttpClient({
      server: access.server,
      tls: async () => (ca ? { ca } : {}),
      headers: async () => ({ authorization: `Bearer ${token}` }),
      renew: () => {},
    })
  }
}

function claimOf(name: string, namespace: string, externalName: string, spec: object): KubeObject {
  return {
    apiVersion: apiVersionOf(claims),
    kind: claims.kind,
    metadata: { name, namespace, annotations: { [NAME]: externalName } },
    spec: { writeConnectionSecretToRef: { name }, ...spec },
  }
}

const onDatabase = (url: string, database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const session = new pg.Client({ connectionString, connectionTimeoutMillis: 120_000 })
  session.on('error', () => {})
  try {
    await session.connect()
    return (await session.query(text)).rows
  } finally {
    await session.end()
  }
}

/** Returns the administrator URL of the PostgreSQL server that crosstie started. */
async function urlOf(program: Program): Promise<string> {
  using client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
  const key = { name: 'postgresql-embedded', namespace: 'crossplane-system' }
  const find = () => client.get<KubeObject>(secrets, key).catch(ignoring(isNotFound))
  const { data } = (await eventually('the server is offered', find, PATIENCE_MS)) as { data?: Record<string, string> }
  const value = (name: string) => encodeURIComponent(Buffer.from(data?.[name] ?? '', 'base64').toString())
  return `postgresql://${value('username')}:${value('password')}@${value('endpoint')}:${value('port')}/postgres`
}

/** Starts controller processes that do not coordinate with each other. */
async function controllers(program: Program, count: number, running: AsyncDisposable[]): Promise<void> {
  const options = ['--kubeconfig', program.kubeconfig, '--providers', 'aws,sql', '--standalone']
  const children: readonly Child[] = Array.from({ length: count }, () => program.start('controllers', ...options))
  running.push(...children)
  for (const child of children) assert.ok(await child.says(/^starting: /m), child.errors)
}

const missing = await motoMissing()

describe('attacks of tenants on the embedded server', { skip: missing ?? false, timeout: 1_200_000 }, () => {
  attacks(async (running) => {
    const program = await Program.up('--providers', 'aws,sql')
    running.push(program)
    const databaseUrl = await urlOf(program)
    await controllers(program, 1, running)
    return { program, databaseUrl, brought: true }
  })
})

const real = missing ?? (await startRealKubernetes())

describe('attacks of tenants on the real kube-apiserver', {
  skip: typeof real === 'string' ? real : false,
  timeout: 1_200_000,
}, () => {
  attacks(async (running) => {
    if (typeof real === 'string') throw new Error(real)
    running.push(real)
    // This control plane does not run the PostgreSQL server.
    const elsewhere = await Program.up('--providers', 'sql')
    running.push(elsewhere)
    const program = await Program.on(real.kubeconfig)
    running.push(program)
    await controllers(program, 2, running)
    return { program, databaseUrl: await urlOf(elsewhere), brought: false }
  })
})

const tenantManifest = (namespace: string) => `
---
apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: tenant, namespace: ${namespace}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: ${namespace}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "crosstie:application-operator"}
subjects: [{kind: ServiceAccount, name: tenant, namespace: ${namespace}}]
`

const rdsClass = (name: string, annotations: object) => `
---
apiVersion: rds.aws.crossplane.io/v1alpha1
kind: DBInstanceClass
metadata: {name: ${name}, annotations: ${JSON.stringify(annotations)}}
specTemplate:
  writeConnectionSecretsToNamespace: crossplane-system
  forProvider:
    region: ${region}
    engine: postgres
    dbInstanceClass: db.t4g.micro
    allocatedStorage: 20
    masterUsername: keeper
    skipFinalSnapshot: true
`

const serverManifest = (url: string) => `
---
apiVersion: v1
kind: Secret
metadata: {name: server, namespace: crossplane-system}
stringData: {url: "${url}"}
---
apiVersion: postgresql.sql.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default}
spec:
  credentials:
    source: Secret
    secretRef: {name: server, namespace: crossplane-system, key: url}
`

const manifests = (motoUrl: string) => `
apiVersion: v1
kind: Namespace
metadata: {name: crossplane-system}
---
apiVersion: v1
kind: Secret
metadata: {name: attacks, namespace: crossplane-system}
stringData:
  aws: |
    [default]
    aws_access_key_id = AKIAIOSFODNN7EXAMPLE
    aws_secret_access_key = not-checked-by-moto
---
apiVersion: aws.crossplane.io/v1beta1
kind: ProviderConfig
metadata: {name: default}
spec:
  credentials:
    source: Secret
    secretRef: {name: attacks, namespace: crossplane-system, key: aws}
  endpoint: {url: "${motoUrl}"}
---
apiVersion: postgresql.sql.crossplane.io/v1alpha1
kind: DatabaseClass
metadata: {name: direct}
specTemplate:
  writeConnectionSecretsToNamespace: crossplane-system
  forProvider: {forceDrop: true}
${rdsClass('rds', {})}${rdsClass('rds-prefixed', { 'crossplane.io/external-name-prefix': 'prod-' })}
${tenantManifest('team-a')}${tenantManifest('team-b')}`
