import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ManagedKind, ThrottledError } from '@crosstie/resources/provider'
import pg from 'pg'
import { database } from '../kinds/database.js'
import { extension } from '../kinds/extension.js'
import { grantKind } from '../kinds/grant.js'
import { role } from '../kinds/role.js'
import { schema } from '../kinds/schema.js'
import { Keeper } from '../testing/keeper.js'
import { embeddedVariant, type TestServer } from '../testing/servers.js'
import type { Server } from './server.js'

describe('what goes wrong is said so that one can act on it', { timeout: 600_000 }, () => {
  let on: TestServer
  before(async () => {
    on = await embeddedVariant().start(['max_connections=40'])
  })
  after(async () => await on?.[Symbol.asyncDispose]())

  /** Returns the conditions after one reconciliation with a server. */
  const told = async (kind: ManagedKind, server: Server, forProvider: object, name = 'wrong') => {
    const keeper = new Keeper()
    const connected = on.connected(kind, server)
    await keeper.apply(connected, name, forProvider)
    const after = await keeper.reconcile(connected, name)
    const condition = keeper.condition(connected, name, 'Synced')
    assert.equal(condition?.status, 'False')
    assert.equal(after, 'backoff', 'it is tried again, later and later')
    return condition?.message ?? ''
  }

  test('a wrong password', async () => {
    const said = await told(role, on.as({ ...on.login, password: 'wrong' }), {})
    assert.match(said, /password authentication failed for user "crosstie"/)
    assert.match(said, /check username and password in the credentials of the ProviderConfig/)
  })

  test('a server that is not there', async () => {
    const said = await told(role, on.as({ ...on.login, port: 1 }), {})
    assert.match(said, /nothing answers at 127\.0\.0\.1:1: is the server running/)
  })

  test('a privilege that is missing', async () => {
    await on.sql("CREATE ROLE weak LOGIN PASSWORD 'weak'")
    const weak = on.as({ ...on.login, user: 'weak', password: 'weak' })
    for (const kind of [role, database, schema]) {
      const said = await told(kind, weak, {})
      assert.match(said, /permission denied/)
      assert.match(said, /"weak" lacks a privilege/)
    }
  })

  test('grants that make no sense are refused before anything is asked', async () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ role: 'weak' }, /set either forProvider\.memberOf or forProvider\.privileges/],
      [{ role: 'weak', memberOf: 'x', schema: 'y' }, /a membership is of the whole server/],
      [{ role: 'weak', memberOf: 'x', withOption: 'GRANT' }, /withOption ADMIN, not GRANT/],
      [{ role: 'weak', privileges: ['SELECT'], tables: ['t'] }, /forProvider\.schema is missing/],
      [{ role: 'weak', privileges: ['USAGE'], schema: 's', tables: ['t'], sequences: ['u'] }, /set one of tables/],
      [
        { role: 'weak', privileges: ['SELECT'], schema: 'public', tables: ['none'] },
        /relation "public\.none" does not exist/,
      ],
      [
        { role: 'weak', privileges: ['EXECUTE'], schema: 'public', functions: ['f(); DROP ROLE weak'] },
        /there are no functions/,
      ],
      [{ role: 'nobody', privileges: ['USAGE'], schema: 'public' }, /role "nobody" does not exist/],
    ]
    for (const [forProvider, because] of wrong) assert.match(await told(grantKind, on.server, forProvider), because)
  })

  test('an extension that the server does not have, or that needs another', async () => {
    assert.match(await told(extension, on.server, {}, 'no-such'), /install its files there first/)
    const said = await told(extension, on.server, {}, 'earthdistance')
    assert.match(said, /required extension "cube" is not installed/)
  })

  test('a version that the server has not', async () => {
    const said = await told(database, on.server, { engineVersion: '9.6' })
    assert.match(said, /the server is PostgreSQL 18\.\d+, and 9\.6 is asked for/)
  })

  test('a locale that the template has not', async () => {
    assert.match(
      await told(database, on.server, { template: 'template1', lcCollate: 'POSIX' }),
      /set forProvider\.template/,
    )
  })

  test('a database in use stays, says so, and goes by force when that is asked for', async () => {
    const keeper = new Keeper()
    const databases = on.connected(database)
    await keeper.apply(databases, 'busy', {})
    await keeper.settle(databases, 'busy')
    const session = new pg.Client({ ...on.login, database: 'busy' })
    const ended = new Promise((resolve) => session.on('error', resolve))
    await session.connect()
    await keeper.api.delete(databases.type, { name: 'busy' })
    await keeper.reconcile(databases, 'busy')
    assert.match(
      keeper.condition(databases, 'busy', 'Synced')?.message ?? '',
      /being accessed by other users.*set forProvider\.forceDrop to true/,
    )
    const held = keeper.object(databases, 'busy')
    await keeper.api.update(databases.type, {
      ...held,
      spec: { ...(held['spec'] as object), forProvider: { forceDrop: true } },
    })
    await keeper.reconcile(databases, 'busy')
    await keeper.reconcile(databases, 'busy')
    assert.equal(keeper.api.peek(databases.type, { name: 'busy' }), undefined)
    await ended
  })

  test('a schema with something in it stays, and goes with it when that is asked for', async () => {
    const keeper = new Keeper()
    const schemas = on.connected(schema)
    await keeper.apply(schemas, 'full', {})
    await keeper.settle(schemas, 'full')
    await on.sql('CREATE TABLE "full".things (id int)')
    await keeper.api.delete(schemas.type, { name: 'full' })
    await keeper.reconcile(schemas, 'full')
    const { message = '' } = keeper.condition(schemas, 'full', 'Synced') ?? {}
    assert.match(message, /table "full"\.things depends on schema full.*set forProvider\.cascade to true/)
    const held = keeper.object(schemas, 'full')
    await keeper.api.update(schemas.type, {
      ...held,
      spec: { ...(held['spec'] as object), forProvider: { cascade: true } },
    })
    await keeper.reconcile(schemas, 'full')
    await keeper.reconcile(schemas, 'full')
    assert.equal(keeper.api.peek(schemas.type, { name: 'full' }), undefined)
  })

  test('the owner of a database cannot make us run what they wrote', async () => {
    await on.sql("CREATE ROLE mallory LOGIN PASSWORD 'mallory'")
    await on.sql('CREATE DATABASE trap OWNER mallory')
    const mallory = { user: 'mallory', password: 'mallory', database: 'trap' }
    await on.sql(
      `CREATE SCHEMA evil;
       CREATE FUNCTION evil.quote_ident(name) RETURNS text LANGUAGE plpgsql AS
         $$ BEGIN ALTER ROLE mallory SUPERUSER; RETURN $1; END $$;
       CREATE FUNCTION evil.obj_description(oid, text) RETURNS text LANGUAGE plpgsql AS
         $$ BEGIN ALTER ROLE mallory SUPERUSER; RETURN ''; END $$;
       CREATE VIEW evil.pg_namespace AS SELECT 0::oid AS oid, 'app'::name AS nspname, 10::oid AS nspowner;
       GRANT ALL ON SCHEMA evil TO PUBLIC; GRANT ALL ON evil.pg_namespace TO PUBLIC;
       ALTER DATABASE trap SET search_path = evil, pg_catalog`,
      [],
      mallory,
    )
    const keeper = new Keeper()
    const server = on.as(on.login)
    const all = [
      { kind: on.connected(schema, server), forProvider: { database: 'trap' } },
      {
        kind: on.connected(grantKind, server),
        forProvider: { role: 'mallory', database: 'trap', schema: 'app', privileges: ['USAGE'] },
      },
      { kind: on.connected(extension, server), forProvider: { database: 'trap' } },
    ]
    for (const { kind, forProvider } of all) {
      const name = kind.type.kind === 'Extension' ? 'hstore' : 'app'
      await keeper.apply(kind, name, forProvider)
      await keeper.settle(kind, name)
    }
    assert.deepEqual(await on.sql("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'"), [{ rolsuper: false }])
    const there = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'app'"
    assert.equal((await on.sql(there, [], { database: 'trap' })).length, 1, 'the schema was really made')
  })

  test('our own sessions do not keep a database from being dropped', async () => {
    const keeper = new Keeper()
    const [databases, schemas] = [on.connected(database), on.connected(schema)]
    await keeper.apply(databases, 'ours', {})
    await keeper.settle(databases, 'ours')
    await keeper.apply(schemas, 'inside', { database: 'ours' })
    await keeper.settle(schemas, 'inside')
    await keeper.remove(databases, 'ours')
    await keeper.remove(schemas, 'inside')
  })

  test('a server without a connection to spare is asked more slowly', async () => {
    const taken: pg.Client[] = []
    try {
      for (;;) {
        const client = new pg.Client({ ...on.login, database: 'postgres' })
        client.on('error', () => {})
        await client.connect()
        taken.push(client)
      }
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300')
    }
    try {
      const server = on.as(on.login)
      const signal = AbortSignal.timeout(60_000)
      await assert.rejects(server.query('SELECT 1', [], { what: 'ask', signal }), ThrottledError)
    } finally {
      await Promise.all(taken.map((client) => client.end()))
    }
  })

  test('many at once share a few sessions, also in many databases', async () => {
    const server = on.as(on.login)
    const signal = AbortSignal.timeout(120_000)
    for (let i = 0; i < 8; i++) await on.sql(`CREATE DATABASE many${i}`)
    const asked = Array.from({ length: 60 }, async (_, i) => {
      const rows = await server.query<{ me: string }>('SELECT current_database() AS me, pg_sleep(0.001)', [], {
        what: 'ask',
        database: `many${i % 8}`,
        signal,
      })
      assert.equal(rows[0]!.me, `many${i % 8}`)
      assert.ok(server.connections.open <= 5, `${server.connections.open} sessions`)
    })
    await Promise.all(asked)
  })

  test('what takes too long is given up, and the next one finds a session that works', async () => {
    const server = on.as(on.login)
    const late = server.query('SELECT pg_sleep(3600)', [], { what: 'sleep', signal: AbortSignal.timeout(200) })
    await assert.rejects(late, { name: 'TimeoutError' })
    const signal = AbortSignal.timeout(60_000)
    assert.deepEqual(await server.query('SELECT 1 AS one', [], { what: 'ask', signal }), [{ one: 1 }])
  })
})
