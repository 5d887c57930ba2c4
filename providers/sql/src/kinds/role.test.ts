import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ManagedKind } from '@crosstie/resources/provider'
import { Keeper } from '../testing/keeper.js'
import { embeddedVariant, type TestServer } from '../testing/servers.js'
import { database } from './database.js'
import { role } from './role.js'
import { schema } from './schema.js'

describe('Role', { timeout: 600_000 }, () => {
  let on: TestServer
  let roles: ManagedKind
  before(async () => {
    on = await embeddedVariant().start(['log_statement=all'])
    roles = on.connected(role)
  })
  after(async () => await on?.[Symbol.asyncDispose]())

  const login = { privileges: { login: true } }
  const published = (name: string) => ({ writeConnectionSecretToRef: { namespace: 'test', name } })
  const logsIn = async (user: string, password: string, where = 'postgres') =>
    await on.sql('SELECT current_user AS me', [], { user, password, database: where })

  test('MR9 a password is made up, logs in, and is shown to nobody; a wrong one does not log in', async () => {
    const keeper = new Keeper()
    await keeper.apply(roles, 'anna', { ...login, database: 'postgres' }, published('anna'))
    await keeper.settle(roles, 'anna')
    const { username, password, uri, host, port } = keeper.secret('anna')
    assert.deepEqual(await logsIn(username!, password!), [{ me: 'anna' }])
    await assert.rejects(logsIn('anna', `${password}x`), { code: '28P01' })
    assert.equal(uri, `postgresql://anna:${password}@${host}:${port}/postgres`)
    assert.ok(!keeper.told(keeper.object(roles, 'anna')).includes(password!))
    await keeper.remove(roles, 'anna')
  })

  test('a group needs neither password nor Secret', async () => {
    const keeper = new Keeper()
    await keeper.apply(roles, 'group', { privileges: { login: false } })
    await keeper.settle(roles, 'group')
    const status = keeper.object(roles, 'group')['status'] as { atProvider: { passwordKind: string } }
    assert.equal(status.atProvider.passwordKind, 'none')
    await keeper.remove(roles, 'group')
  })

  test('a password from a Secret is used, and a new one in the Secret is too', async () => {
    const keeper = new Keeper()
    await keeper.writeSecret('given', { password: 'first-secret' })
    const given = { ...login, passwordSecretRef: { namespace: 'test', name: 'given', key: 'password' } }
    await keeper.apply(roles, 'bert', given, published('bert'))
    await keeper.settle(roles, 'bert')
    await logsIn('bert', 'first-secret')
    await keeper.writeSecret('given', { password: 'größer als 1 ﬁnger' })
    await keeper.reconcile(roles, 'bert')
    await logsIn('bert', 'größer als 1 ﬁnger')
    assert.equal(keeper.secret('bert')['password'], 'größer als 1 ﬁnger')
    await assert.rejects(logsIn('bert', 'first-secret'), { code: '28P01' })
    await keeper.remove(roles, 'bert')
  })

  test('MR14 a password that was changed behind our back is seen, reported without showing it, and set again', async () => {
    const keeper = new Keeper()
    await keeper.apply(roles, 'carl', login, published('carl'))
    await keeper.settle(roles, 'carl')
    const password = keeper.secret('carl')['password']!
    for (const change of ["PASSWORD 'stolen-secret'", 'PASSWORD NULL']) {
      await on.sql(`ALTER ROLE carl ${change}`)
      await keeper.apply(roles, 'carl', login, { ...published('carl'), managementPolicies: ['Observe'] })
      await keeper.reconcile(roles, 'carl')
      const { status, message = '' } = keeper.condition(roles, 'carl', 'Drifted') ?? {}
      assert.equal(status, 'True', change)
      assert.match(message, /^password: wanted "the one in the Secret", is "another"$/)
      await keeper.apply(roles, 'carl', login, published('carl'))
      await keeper.reconcile(roles, 'carl')
      await keeper.reconcile(roles, 'carl')
      assert.equal(keeper.condition(roles, 'carl', 'Drifted')?.status, 'False')
      await logsIn('carl', password)
    }
    const told = keeper.told(keeper.object(roles, 'carl'))
    for (const secret of [password, 'stolen-secret', 'SCRAM-SHA-256$']) assert.ok(!told.includes(secret), secret)
    await keeper.remove(roles, 'carl')
  })

  test('one who may not see how passwords are kept says nothing of them', async () => {
    await on.sql("CREATE ROLE clerk LOGIN CREATEROLE PASSWORD 'clerk'")
    const asClerk = on.connected(role, on.as({ ...on.login, user: 'clerk', password: 'clerk' }))
    const keeper = new Keeper()
    await keeper.apply(asClerk, 'dora', login, published('dora'))
    await keeper.settle(asClerk, 'dora')
    await on.sql("ALTER ROLE dora PASSWORD 'other'")
    await keeper.reconcile(asClerk, 'dora')
    assert.equal(keeper.condition(asClerk, 'dora', 'Drifted'), undefined)
    assert.equal(keeper.condition(asClerk, 'dora', 'Synced')?.status, 'True')
    await keeper.remove(asClerk, 'dora')
  })

  test('statements hold no password: the server that logs all of them has none', async () => {
    const keeper = new Keeper()
    await keeper.apply(roles, 'emil', login, published('emil'))
    await keeper.settle(roles, 'emil')
    const password = keeper.secret('emil')['password']!
    const log = await on.log()
    assert.match(log, /CREATE ROLE "emil"/, 'the log has the statement')
    assert.ok(!log.includes(password))
    await keeper.remove(roles, 'emil')
  })

  const hostile = [
    'a"; DROP ROLE crosstie; --',
    "o'brien",
    'back\\slash',
    'Ünïcödé 名前',
    'select',
    '$$dollar$$',
    'new\nline',
    '%s {0} `x`',
    '-- comment',
  ]
  for (const name of hostile) {
    test(`any name is a name: ${JSON.stringify(name)}`, async () => {
      const keeper = new Keeper()
      const databases = on.connected(database)
      const schemas = on.connected(schema)
      const metadata = { annotations: { 'crossplane.io/external-name': name } }
      const all = [
        {
          kind: roles,
          forProvider: { comment: name, configurationParameters: [{ name: 'application_name', value: name }] },
        },
        { kind: databases, forProvider: { owner: name, comment: name } },
        { kind: schemas, forProvider: { database: name, owner: name, comment: name } },
      ]
      for (const { kind, forProvider } of all) {
        await keeper.apply(kind, 'hostile', forProvider)
        await keeper.api.update(kind.type, {
          ...keeper.object(kind, 'hostile'),
          metadata: { ...keeper.object(kind, 'hostile').metadata, ...metadata },
        })
        await keeper.settle(kind, 'hostile')
        await keeper.reconcile(kind, 'hostile')
        assert.notEqual(keeper.condition(kind, 'hostile', 'Drifted')?.status, 'True')
      }
      const [{ there } = {}] = await on.sql<{ there: number }>(
        'SELECT (SELECT count(*) FROM pg_roles WHERE rolname = $1) + (SELECT count(*) FROM pg_database WHERE datname = $1) AS there',
        [name],
      )
      assert.equal(Number(there), 2)
      for (const { kind } of all.reverse()) await keeper.remove(kind, 'hostile')
      assert.equal((await on.sql("SELECT 1 FROM pg_roles WHERE rolname = 'crosstie'")).length, 1)
    })
  }

  const refused: Record<string, { readonly name: string; readonly because: RegExp }> = {
    TooLong: { name: 'x'.repeat(64), because: /has 64 bytes, and PostgreSQL keeps 63.*crossplane\.io\/external-name/ },
    WithNul: { name: 'a\0b', because: /no texts with a NUL/ },
  }
  for (const [title, { name, because }] of Object.entries(refused)) {
    test(`a name that the server could not keep is refused: ${title}`, async () => {
      await assert.rejects(
        async () =>
          await role.external.create({
            client: on.server,
            managed: { apiVersion: '', kind: '', metadata: {} },
            externalName: name,
            forProvider: {},
            token: '',
            tags: {},
            signal: AbortSignal.timeout(60_000),
          }),
        because,
      )
    })
  }

  test('a role that owns something stays, and says what to do; then it goes', async () => {
    const keeper = new Keeper()
    const schemas = on.connected(schema)
    await keeper.apply(roles, 'owner', login, published('owner'))
    await keeper.settle(roles, 'owner')
    await keeper.apply(schemas, 'owned', { owner: 'owner' })
    await keeper.settle(schemas, 'owned')
    await keeper.api.delete(roles.type, { name: 'owner' })
    await keeper.reconcile(roles, 'owner')
    const { message = '' } = keeper.condition(roles, 'owner', 'Synced') ?? {}
    assert.match(message, /cannot drop role "owner"/)
    assert.match(message, /owner of schema owned/)
    assert.match(message, /reassignOwnedTo or forProvider\.dropOwned/)
    const held = keeper.object(roles, 'owner')
    const spec = held['spec'] as { forProvider: object }
    await keeper.api.update(roles.type, {
      ...held,
      spec: { ...spec, forProvider: { ...spec.forProvider, reassignOwnedTo: 'crosstie' } },
    })
    await keeper.reconcile(roles, 'owner')
    await keeper.reconcile(roles, 'owner')
    assert.equal(keeper.api.peek(roles.type, { name: 'owner' }), undefined)
    await keeper.reconcile(schemas, 'owned')
    assert.match(keeper.condition(schemas, 'owned', 'Synced')?.message ?? '', /role "owner" does not exist/)
    await keeper.remove(schemas, 'owned')
  })
})
