import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Keeper } from '../testing/keeper.js'
import { embeddedVariant, type TestServer } from '../testing/servers.js'
import { database } from './database.js'

describe('Database', { timeout: 600_000 }, () => {
  let on: TestServer
  before(async () => {
    on = await embeddedVariant().start(['allow_in_place_tablespaces=on'])
  })
  after(async () => await on?.[Symbol.asyncDispose]())

  const atProvider = (keeper: Keeper, name: string) =>
    (keeper.object(on.connected(database), name)['status'] as { atProvider: Record<string, unknown> }).atProvider

  const locales: Record<string, { readonly given: object; readonly want: object }> = {
    builtin: {
      given: { localeProvider: 'builtin', locale: 'C.UTF-8', lcCollate: 'C', lcCtype: 'C' },
      want: { localeProvider: 'builtin', locale: 'C.UTF-8' },
    },
    icu: {
      given: { localeProvider: 'icu', locale: 'de-DE', icuRules: '&V << w <<< W', lcCollate: 'C', lcCtype: 'C' },
      want: { localeProvider: 'icu', locale: 'de-DE', icuRules: '&V << w <<< W' },
    },
    libc: { given: { localeProvider: 'libc', lcCollate: 'C.UTF-8', lcCtype: 'C' }, want: { lcCollate: 'C.UTF-8' } },
    other: { given: { encoding: 'LATIN1', lcCollate: 'C', lcCtype: 'C' }, want: { encoding: 'LATIN1' } },
  }
  for (const [name, { given, want }] of Object.entries(locales)) {
    test(`a locale of ${name}`, async () => {
      const keeper = new Keeper()
      const databases = on.connected(database)
      await keeper.apply(databases, name, { template: 'template0', strategy: 'FILE_COPY', ...given })
      await keeper.settle(databases, name)
      const seen = atProvider(keeper, name)
      for (const [field, value] of Object.entries(want)) assert.equal(seen[field], value, field)
      assert.match(String(seen['engineVersion']), /^18\./)
      await keeper.remove(databases, name)
    })
  }

  test('MR11 what only a create can set shows as drift, and nothing is done about it', async () => {
    const keeper = new Keeper()
    const databases = on.connected(database)
    await keeper.apply(databases, 'fixed', { template: 'template0', encoding: 'UTF8' })
    await keeper.settle(databases, 'fixed')
    await keeper.apply(databases, 'fixed', { template: 'template0', encoding: 'LATIN1' })
    await keeper.reconcile(databases, 'fixed')
    const { status, reason, message } = keeper.condition(databases, 'fixed', 'Drifted') ?? {}
    assert.deepEqual([status, reason, message], ['True', 'Immutable', 'encoding: wanted "LATIN1", is "UTF8"'])
    await keeper.remove(databases, 'fixed')
  })

  test('a copy of another database has what that has', async () => {
    const keeper = new Keeper()
    const databases = on.connected(database)
    await on.sql('CREATE DATABASE original')
    await on.sql('CREATE TABLE things AS SELECT 7 AS id', [], { database: 'original' })
    await keeper.apply(databases, 'copy', { template: 'original' })
    await keeper.settle(databases, 'copy')
    assert.deepEqual(await on.sql('SELECT id FROM things', [], { database: 'copy' }), [{ id: 7 }])
    await keeper.remove(databases, 'copy')
  })

  test('a login that stays connected to template1 and postgres keeps no one from creating databases', async () => {
    const keeper = new Keeper()
    const databases = on.connected(database)
    await on.sql("CREATE ROLE squatter LOGIN PASSWORD 'squatter'")
    const stay = (name: string) =>
      on.sql('SELECT pg_sleep(300)', [], { user: 'squatter', password: 'squatter', database: name }).catch(() => {})
    const sessions = [stay('template1'), stay('postgres')]
    const there = "SELECT pid FROM pg_stat_activity WHERE usename = 'squatter' AND state = 'active'"
    while ((await on.sql(there)).length < 2) await setImmediate()
    await keeper.apply(databases, 'undisturbed', {})
    await keeper.reconcile(databases, 'undisturbed')
    assert.equal((await on.sql("SELECT 1 FROM pg_database WHERE datname = 'undisturbed'")).length, 1)
    assert.equal((await on.sql(there)).length, 2, 'the sessions were there all the time')
    await on.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'squatter'")
    await Promise.all(sessions)
    await keeper.remove(databases, 'undisturbed')
  })

  test('it moves to another tablespace, and nobody is let in who was not granted it', async () => {
    const keeper = new Keeper()
    const databases = on.connected(database)
    await on.sql("CREATE TABLESPACE elsewhere LOCATION ''")
    await on.sql("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    await keeper.apply(databases, 'moving', { publicPrivileges: [] })
    await keeper.settle(databases, 'moving')
    const guest = { user: 'guest', password: 'guest', database: 'moving' }
    await assert.rejects(on.sql('SELECT 1', [], guest), { code: '42501' })
    await keeper.apply(databases, 'moving', { publicPrivileges: ['CONNECT'], tablespace: 'elsewhere' })
    await keeper.settle(databases, 'moving')
    await keeper.reconcile(databases, 'moving')
    assert.equal(atProvider(keeper, 'moving')['tablespace'], 'elsewhere')
    await on.sql('SELECT 1', [], guest)
    await keeper.remove(databases, 'moving')
  })
})
