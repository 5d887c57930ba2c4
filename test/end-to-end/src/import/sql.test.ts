import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import type { KubeObject } from '@crosstie/kube'
import { database, role } from '@crosstie/provider-sql'
import { Imagination, plan } from '@crosstie/resources'
import pg from 'pg'
import { eventually } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { Program } from '../support/program.js'

/** The number of roles and databases to import. A thousand take minutes. */
const COUNT = Number(process.env['CROSSTIE_IMPORT'] ?? 60)
const DATABASES = Math.max(5, Math.floor(COUNT / 10))
const ROLES = COUNT - DATABASES

const surroundings = { environment: {}, readFile: async () => '' }
const secretType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

const program = await Program.up('--providers', 'sql')
const told = await program.plane!.says(/PostgreSQL on |PostgreSQL was not started: (.*)/, 180_000)
const reason = told ? told[1] : 'crosstie up ended before it had a PostgreSQL'

describe('import of what exists on PostgreSQL', { skip: reason ?? false }, () => {
  let client: HttpClient
  let sql: pg.Client
  let login: { host: string; port: number; user: string; password: string }

  before(async () => {
    client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    const secret = await client.get(secretType, { name: 'postgresql-embedded', namespace: 'crossplane-system' })
    const data = secret['data'] as Readonly<Record<string, string>>
    const value = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString()
    login = {
      host: value('endpoint'),
      port: Number(value('port')),
      user: value('username'),
      password: value('password'),
    }
    sql = new pg.Client({ ...login, database: 'postgres' })
    await sql.connect()
    await fill(sql)
  })
  after(async () => {
    await sql?.end()
    client?.close()
    await program[Symbol.asyncDispose]()
  })

  /** Returns all roles and databases of the server, including password hashes. */
  const world = async () => {
    const roles = await sql.query('SELECT * FROM pg_authid ORDER BY rolname')
    const databases = await sql.query(
      'SELECT datname, datdba, datconnlimit, datallowconn, datacl FROM pg_database ORDER BY datname',
    )
    const members = await sql.query('SELECT roleid, member, grantor FROM pg_auth_members ORDER BY oid')
    return JSON.stringify([roles.rows, databases.rows, members.rows])
  }

  const discover = (...more: readonly string[]) =>
    program.run(['discover', 'sql', 'role', 'database', '--filter', 'name=app*', ...more])

  /** Returns the number of transactions on the server so far, by all clients. */
  const transactions = async () => {
    const { rows } = await sql.query('SELECT sum(xact_commit)::int AS count FROM pg_stat_database')
    return rows[0].count as number
  }

  test('OBS2 all of it is observed, then managed, and nothing changes on the server', async () => {
    const before = await world()
    const begun = await transactions()
    const { code, out, err } = await discover('-o', 'imported.yaml')
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`1 file with ${COUNT} manifests`))
    await program.ok('apply', '-f', 'imported.yaml')
    const dry = await program.run(['promote', '-f', 'imported.yaml', '--dry-run', '--timeout', '5m'])
    assert.equal(dry.code, 0, dry.err)
    assert.match(dry.out, new RegExp(`${COUNT} would be promoted, 0 managed already, 0 refused`))
    assert.match(dry.out, /\+ spec\.forProvider\.privileges\.login: true/)
    const promoted = await program.run(['promote', '-f', 'imported.yaml', '--timeout', '5m'])
    assert.equal(promoted.code, 0, promoted.err)
    assert.match(promoted.out, new RegExp(`${COUNT} promoted, 0 managed already, 0 refused`))
    await settled()
    const each = ((await transactions()) - begun) / COUNT
    console.log(`# ${COUNT} roles and databases: ${each.toFixed(1)} transactions for each, from discovery to the end`)
    let planned = 0
    for (const kind of [role, database]) {
      for (const { metadata } of (await client.list(kind.type)).items) {
        const subject = { kind, key: { name: metadata.name! } }
        const options = { world: new Imagination(client), surroundings }
        const [resource] = (await plan(options, [subject], AbortSignal.timeout(120_000))).resources
        assert.deepEqual([resource!.outcome, resource!.steps], ['none', []], `${kind.type.kind} ${metadata.name}`)
        planned++
      }
    }
    assert.equal(planned, COUNT)
    assert.equal(await world(), before, 'not even a password was written')
  })

  /** Waits until the current generation of every object is reconciled. */
  async function settled(): Promise<void> {
    const isSettled = (object: KubeObject) => {
      const synced = condition(object, 'Synced')
      return synced?.status === 'True' && synced.observedGeneration === object.metadata.generation
    }
    await eventually(
      'all are settled',
      async () => {
        const all = await Promise.all([role, database].map(async ({ type }) => (await client.list(type)).items))
        return all.flat().every(isSettled)
      },
      180_000,
    )
  }

  test('OBS2 owners and memberships lead to what was found; who could log in still can', async () => {
    const owned = await client.get(database.type, { name: await nameOf('app_db_0') })
    const { forProvider } = owned['spec'] as { forProvider: { owner: string; ownerRef: { name: string } } }
    assert.equal(forProvider.ownerRef.name, await nameOf('app_user_0', role))
    const user = new pg.Client({ ...login, user: 'app_user_1', password: 'pa55-1', database: 'postgres' })
    await user.connect()
    await user.end()
    const shown = JSON.stringify((await client.list(role.type)).items)
    assert.ok(!shown.includes('SCRAM-SHA-256$') && !shown.includes('pa55-'), 'no object holds a password')
  })

  async function nameOf(externalName: string, kind = database): Promise<string> {
    const { items } = await client.list(kind.type)
    const of = ({ metadata }: KubeObject) => metadata.annotations?.['crossplane.io/external-name']
    return items.find((object) => of(object) === externalName)!.metadata.name!
  }

  test('OBS2 what changed since it was observed is refused, and told with its difference', async () => {
    await sql.query('CREATE ROLE app_late LOGIN CONNECTION LIMIT 5')
    const { out } = await discover('-o', 'late.yaml')
    assert.match(out, /1 file with 1 manifest$/m)
    await program.ok('apply', '-f', 'late.yaml')
    const name = await nameOf('app_late', role)
    const patch = { spec: { forProvider: { connectionLimit: 7 } } }
    await client.patch(role.type, { name }, { type: 'merge', patch })
    const refused = await program.run(['promote', `role/${name}`, '--timeout', '5m'])
    assert.equal(refused.code, 1)
    assert.match(refused.out, /refused: managing it would update the external resource \(connectionLimit\)/)
    const { rows } = await sql.query("SELECT rolconnlimit FROM pg_roles WHERE rolname = 'app_late'")
    assert.equal(rows[0].rolconnlimit, 5)
  })
})

if (reason) await program[Symbol.asyncDispose]()

async function fill(sql: pg.Client): Promise<void> {
  await sql.query('CREATE ROLE app_team NOLOGIN')
  for (let i = 0; i < ROLES - 1; i++) {
    await sql.query(`CREATE ROLE app_user_${i} LOGIN PASSWORD 'pa55-${i}' CONNECTION LIMIT ${i % 20}`)
    if (i % 2 === 0) await sql.query(`GRANT app_team TO app_user_${i}`)
  }
  for (let i = 0; i < DATABASES; i++) await sql.query(`CREATE DATABASE app_db_${i} OWNER app_user_${i}`)
}
