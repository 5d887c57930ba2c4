import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { conditionsOf, ignoring, isNotFound, type KubeObject, type ResourceType } from '@crosstie/kube'
import pg from 'pg'
import { eventually } from '../support/claims-world.js'
import { fileOf, Program } from '../support/program.js'

const PATIENCE_MS = 120_000

const typeOf = (group: string, kind: string, resource: string, namespaced = false): ResourceType => ({
  group,
  version: group === '' ? 'v1' : 'v1alpha1',
  kind,
  resource,
  namespaced,
})
const sql = 'postgresql.sql.crossplane.io'
const kinds = {
  role: typeOf(sql, 'Role', 'roles'),
  database: typeOf(sql, 'Database', 'databases'),
  grant: typeOf(sql, 'Grant', 'grants'),
  schema: typeOf(sql, 'Schema', 'schemas'),
  extension: typeOf(sql, 'Extension', 'extensions'),
}
const claims = typeOf('database.crossplane.io', 'PostgreSQLInstance', 'postgresqlinstances', true)
const secrets = typeOf('', 'Secret', 'secrets', true)

describe('PostgreSQL that crosstie brings', { timeout: 600_000 }, () => {
  let program: Program
  let client: HttpClient
  before(async () => {
    program = await Program.up('--providers', 'sql')
    client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    await eventually(
      'the server is offered',
      () => find(secrets, 'postgresql-embedded', 'crossplane-system'),
      PATIENCE_MS,
    )
  })
  after(async () => {
    client?.close()
    await program?.[Symbol.asyncDispose]()
  })

  const find = async (type: ResourceType, name: string, namespace?: string): Promise<KubeObject | undefined> => {
    return await client.get(type, { name, ...(namespace ? { namespace } : {}) }).catch(ignoring(isNotFound))
  }
  /** Returns the decoded data of a Secret. */
  const secretOf = async (name: string, namespace: string): Promise<Record<string, string>> => {
    const { data = {} } = (await client.get(secrets, { name, namespace })) as { data?: Record<string, string> }
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    )
  }
  const conditionOf = (object: KubeObject, type: string) => conditionsOf(object).find((each) => each.type === type)
  const isReady = (object: KubeObject) =>
    ['Ready', 'Synced'].every((type) => conditionOf(object, type)?.status === 'True')
  /** Requests an immediate reconciliation instead of waiting for the next poll. */
  const lookNow = async (type: ResourceType, name: string) => {
    const annotations = { 'crossplane.io/reconcile-requested-at': new Date().toISOString() }
    await client.patch(type, { name }, { type: 'merge', patch: { metadata: { annotations } } })
  }
  /** Runs a statement as the administrator of the server, without Crosstie. */
  const asAdministrator = async (text: string, values: readonly unknown[] = []) => {
    const { endpoint, port, username, password } = await secretOf('postgresql-embedded', 'crossplane-system')
    return await query(
      { host: endpoint, port: Number(port), user: username, password, database: 'postgres' },
      text,
      values,
    )
  }

  const claimOf = (name: string, externalName: string, namespace = 'default'): KubeObject => ({
    apiVersion: 'database.crossplane.io/v1alpha1',
    kind: 'PostgreSQLInstance',
    metadata: { name, namespace, annotations: { 'crossplane.io/external-name': externalName } },
    spec: { writeConnectionSecretToRef: { name } },
  })
  const refusedFor = async (name: string) =>
    await eventually(
      `${name} is refused`,
      async () => {
        const ready = conditionOf(await client.get(claims, { name, namespace: 'default' }), 'Ready')
        return ready?.reason.startsWith('ExternalName') ? ready : undefined
      },
      PATIENCE_MS,
    )
  const removed = async (name: string, namespace = 'default') => {
    await client.delete(claims, { name, namespace })
    await eventually(`${name} is gone`, async () => !(await find(claims, name, namespace)), PATIENCE_MS)
  }

  test('XN3 CLM7 a claim gets what is created for it, and nothing that exists', async () => {
    await program.ok('apply', '-f', fileOf('examples/private-database/infrastructure.yaml'))
    await asAdministrator("CREATE ROLE prod LOGIN SUPERUSER PASSWORD 'kept'")
    await asAdministrator('CREATE DATABASE prod OWNER prod')
    const [before] = await asAdministrator("SELECT rolpassword FROM pg_authid WHERE rolname = 'prod'")

    await asAdministrator('CREATE ROLE lonely SUPERUSER')
    for (const [name, externalName, reason] of [
      ['thief', 'prod', 'ExternalNameTaken'],
      ['patron', 'lonely', 'ExternalNameTaken'],
      ['usurper', 'postgres', 'ExternalNameForbidden'],
      ['copier', 'template1', 'ExternalNameForbidden'],
    ] as const) {
      await client.create(claims, claimOf(name, externalName))
      const refused = await refusedFor(name)
      assert.equal(refused.reason, reason)
      assert.match(
        refused.message ?? '',
        new RegExp(`external name "${externalName}" is .*create it again with another name`),
      )
      assert.equal(await find(secrets, name, 'default'), undefined, 'nothing of it is published')
      await removed(name)
    }
    const [after] = await asAdministrator("SELECT rolpassword FROM pg_authid WHERE rolname = 'prod' AND rolsuper")
    assert.deepEqual(after, before, 'the password of the role is the same')
    const [{ count }] = (await asAdministrator(
      "SELECT count(*)::int FROM pg_database WHERE datname IN ('prod', 'postgres', 'template1')",
    )) as [{ count: number }]
    assert.equal(count, 3)
    const owned = await asAdministrator("SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = 'lonely'")
    assert.deepEqual(owned, [], 'no database was given to a role of others')
  })

  test('XN3 XN5 the default example can be claimed with an external name', async () => {
    await client.create(claims, claimOf('shop', 'shop'))
    await program.ok('wait', 'postgresqlinstance/shop', '--for', 'condition=Ready', '--timeout', '120s')
    const { username, database, uri } = await secretOf('shop', 'default')
    assert.deepEqual({ username, database }, { username: 'shop', database: 'shop' })
    assert.deepEqual(await query({ connectionString: uri }, 'CREATE TABLE t AS SELECT 1 AS a; SELECT a FROM t'), [
      { a: 1 },
    ])
    await removed('shop')
  })

  test('XN1 of two claims of the same external name, created at the same moment, one gets it', async () => {
    for (let round = 0; round < 6; round++) {
      const both = [`left-${round}`, `right-${round}`]
      await Promise.all(both.map((name) => client.create(claims, claimOf(name, `contested-${round}`))))
      const isDone = ({ status, reason }: { status: string; reason: string }) =>
        status === 'True' || reason === 'ExternalNameTaken'
      const states = await eventually(
        'both are decided',
        async () => {
          const found = await Promise.all(both.map((name) => client.get(claims, { name, namespace: 'default' })))
          const ready = found.map((claim) => conditionOf(claim, 'Ready'))
          return ready.every((each) => each && isDone(each)) ? ready.map((each) => each!.status) : undefined
        },
        PATIENCE_MS,
      )
      assert.deepEqual([...states].sort(), ['False', 'True'], `round ${round}`)
      await Promise.all(both.map((name) => removed(name)))
    }
  })

  test('AGG11 a claim becomes a private database; what is broken by hand is reported and healed; all goes with the claim', async () => {
    const folder = fileOf('examples/private-database')
    await program.ok('apply', '-f', folder)
    await program.ok('wait', 'postgresqlinstance/app', '--for', 'condition=Ready', '--timeout', '120s')
    const claim = await client.get(claims, { name: 'app', namespace: 'default' })
    assert.equal((claim['status'] as { bindingPhase?: string }).bindingPhase, 'Bound')

    // The Secret in the namespace of the claim contains valid credentials that permit creating a table.
    const details = await secretOf('app', 'default')
    const login = { connectionString: details['uri'] }
    assert.deepEqual(await query(login, 'CREATE TABLE orders AS SELECT 1 AS number; SELECT number FROM orders'), [
      { number: 1 },
    ])
    const { username: role = '', database = '' } = details
    assert.deepEqual(await query(login, 'SELECT current_user AS role, current_database() AS database'), [
      { role, database },
    ])

    // A wrong password is rejected, and another role cannot connect.
    const wrong = { host: details['host'], port: Number(details['port']), user: role, password: 'guessed', database }
    await assert.rejects(query(wrong, 'SELECT 1'), { code: '28P01' })
    await asAdministrator("CREATE ROLE stranger LOGIN PASSWORD 'stranger'")
    await assert.rejects(query({ ...wrong, user: 'stranger', password: 'stranger' }, 'SELECT 1'), { code: '42501' })

    const named = async (type: ResourceType) => (await client.list(type)).items.map(({ metadata }) => metadata.name!)
    const [roleName] = await named(kinds.role)
    const grants = (await client.list(kinds.grant)).items
    const onDatabase = grants.find(({ spec }) => (spec as Spec).forProvider.schema === undefined)!.metadata.name!

    // Drift is reported if the policies forbid updates.
    const policies = async (managementPolicies: readonly string[]) =>
      await client.patch(
        kinds.role,
        { name: roleName! },
        { type: 'merge', patch: { spec: { managementPolicies } } as never },
      )
    await policies(['Observe', 'Create', 'Delete'])
    await asAdministrator(`ALTER ROLE ${pg.escapeIdentifier(role)} NOLOGIN PASSWORD 'stolen'`)
    await assert.rejects(query(login, 'SELECT 1'))
    await lookNow(kinds.role, roleName!)
    const drifted = await eventually(
      'the drift is reported',
      async () => {
        const condition = conditionOf(await client.get(kinds.role, { name: roleName! }), 'Drifted')
        return condition?.status === 'True' ? condition : undefined
      },
      PATIENCE_MS,
    )
    assert.match(drifted.message ?? '', /privileges\.login: wanted true, is false/)
    assert.match(drifted.message ?? '', /password: wanted "the one in the Secret", is "another"/)

    // Drift is corrected if the policies permit updates.
    await policies(['*'])
    await asAdministrator(
      `REVOKE TEMPORARY ON DATABASE ${pg.escapeIdentifier(database)} FROM ${pg.escapeIdentifier(role)}`,
    )
    await lookNow(kinds.grant, onDatabase)
    await eventually('the role logs in again', () => query(login, 'SELECT 1').catch(() => undefined), PATIENCE_MS)
    await eventually(
      'the privilege is back, and that it was gone is told',
      async () => {
        const condition = conditionOf(await client.get(kinds.grant, { name: onDatabase }), 'Drifted')
        const [row] = await asAdministrator('SELECT has_database_privilege($1, $2, $3) AS has', [
          role,
          database,
          'TEMPORARY',
        ])
        return row?.['has'] === true && condition?.reason === 'Corrected' && /privileges/.test(condition.message ?? '')
      },
      PATIENCE_MS,
    )

    await program.ok('delete', '-f', folder, '--wait=false')
    await eventually(
      'all objects are gone',
      async () => {
        const left = await Promise.all([kinds.role, kinds.database, kinds.grant].map(named))
        return (
          left.flat().length === 0 &&
          !(await find(claims, 'app', 'default')) &&
          !(await find(secrets, 'app', 'default'))
        )
      },
      PATIENCE_MS,
    )
    const counted =
      'SELECT (SELECT count(*) FROM pg_roles WHERE rolname = $1) + (SELECT count(*) FROM pg_database WHERE datname = $2) AS left'
    assert.deepEqual(await asAdministrator(counted, [role, database]), [{ left: '0' }])
  })

  test('MR9 the examples of all kinds become ready, log in, and go', async () => {
    await program.ok('apply', '-f', fileOf('providers/sql/examples'))
    const all = async () => {
      const lists = await Promise.all(Object.values(kinds).map(async (type) => (await client.list(type)).items))
      return lists.flat().filter(({ metadata }) => metadata.name!.startsWith('shop'))
    }
    await eventually(
      'all are ready',
      async () => {
        const objects = await all()
        return objects.length === 8 && objects.every(isReady)
      },
      PATIENCE_MS,
    )
    const { uri } = await secretOf('shop', 'default')
    const login = { connectionString: uri }
    await query(login, 'CREATE TABLE stock.goods (name text)')
    assert.deepEqual(await query(login, "SELECT similarity('apples', 'apple') > 0.5 AS alike"), [{ alike: true }])
    const status = JSON.stringify(await all())
    const { password } = await secretOf('shop', 'default')
    assert.ok(!status.includes(password!), 'the password is in no object')
    await program.ok('delete', '-f', fileOf('providers/sql/examples'), '--wait=false')
    await eventually('all are gone', async () => (await all()).length === 0, PATIENCE_MS)
  })

  test('OBS1 OBS3 what is there is observed and referred to; a typo makes nothing', async () => {
    const observed = (name: string, externalName: string) => ({
      apiVersion: `${sql}/v1alpha1`,
      kind: 'Database',
      metadata: { name, annotations: { 'crossplane.io/external-name': externalName } },
      spec: { managementPolicies: ['Observe'], forProvider: {} },
    })
    await client.create(kinds.database, observed('existing', 'postgres'))
    await client.create(kinds.database, observed('typo', 'postgers'))
    await client.create(kinds.schema, {
      apiVersion: `${sql}/v1alpha1`,
      kind: 'Schema',
      metadata: { name: 'observed' },
      spec: { forProvider: { databaseRef: { name: 'existing' } } },
    })
    await eventually(
      'the schema is made',
      async () => isReady(await client.get(kinds.schema, { name: 'observed' })),
      PATIENCE_MS,
    )
    const existing = await client.get(kinds.database, { name: 'existing' })
    assert.equal((existing['status'] as { atProvider: { owner?: string } }).atProvider.owner, 'crosstie')
    const typo = await eventually(
      'the typo is told',
      async () => {
        const condition = conditionOf(await client.get(kinds.database, { name: 'typo' }), 'Synced')
        return condition?.status === 'False' ? condition : undefined
      },
      PATIENCE_MS,
    )
    assert.match(typo.message ?? '', /does not exist/)
    assert.deepEqual(await asAdministrator("SELECT 1 FROM pg_database WHERE datname = 'postgers'"), [])
    assert.equal((await asAdministrator("SELECT 1 FROM pg_namespace WHERE nspname = 'observed'")).length, 1)
    await client.delete(kinds.schema, { name: 'observed' })
    for (const name of ['existing', 'typo']) await client.delete(kinds.database, { name })
    await eventually(
      'they are gone',
      async () => !(await find(kinds.database, 'existing')) && !(await find(kinds.database, 'typo')),
      PATIENCE_MS,
    )
    assert.equal((await asAdministrator("SELECT 1 FROM pg_database WHERE datname = 'postgres'")).length, 1)
  })
})

interface Spec {
  readonly forProvider: { readonly schema?: string }
}

async function query(
  login: pg.ClientConfig,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const session = new pg.Client({ ...login, connectionTimeoutMillis: 120_000 })
  session.on('error', () => {})
  try {
    await session.connect()
    const answer = values.length > 0 ? await session.query(text, [...values]) : await session.query(text)
    const answers = (Array.isArray(answer) ? answer : [answer]) as pg.QueryResult[]
    return answers.at(-1)!.rows
  } finally {
    await session.end()
  }
}
