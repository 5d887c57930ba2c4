import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Keeper } from '../testing/keeper.js'
import { embeddedVariant, type TestServer } from '../testing/servers.js'
import { role } from './role.js'

const MANY = 2_000

describe('many at once', { timeout: 900_000 }, () => {
  let on: TestServer
  before(async () => {
    on = await embeddedVariant().start()
  })
  after(async () => await on?.[Symbol.asyncDispose]())

  test(`OBS1 ${MANY} roles that are there are observed with one list a round`, async (t) => {
    await on.sql(`DO $$ BEGIN FOR i IN 1..${MANY} LOOP EXECUTE 'CREATE ROLE many' || i; END LOOP; END $$`)
    const keeper = new Keeper()
    const roles = on.connected(role)
    const names = Array.from({ length: MANY }, (_, i) => `many${i + 1}`)
    for (const name of names) await keeper.apply(roles, name, {}, { managementPolicies: ['Observe'] })
    const round = async () => {
      const before = on.server.statements
      for (const name of names) await keeper.reconcile(roles, name)
      return on.server.statements - before
    }
    const first = await round()
    assert.ok(first < 10, 'only the first few are looked at by themselves')
    for (let i = 0; i < 3; i++) {
      keeper.pass(60)
      const statements = await round()
      assert.equal(statements, 1, 'one list tells of all of them')
      t.diagnostic(`${MANY} roles: ${statements} statement, after ${first} in the first round`)
    }
    await on.sql('ALTER ROLE many7 CREATEDB')
    keeper.pass(60)
    await round()
    const seen = keeper.object(roles, 'many7')['status'] as { atProvider: { privileges: { createDb: boolean } } }
    assert.equal(seen.atProvider.privileges.createDb, true, 'and what changed is seen on it')
  })

  test('a list that shows another password than the one in the Secret is not taken at its word', async () => {
    const keeper = new Keeper()
    const roles = on.connected(role)
    const names = ['listed1', 'listed2', 'listed3', 'listed4']
    const more = (name: string) => ({ writeConnectionSecretToRef: { namespace: 'test', name } })
    for (const name of names) await keeper.apply(roles, name, { privileges: { login: true } }, more(name))
    for (const name of names) await keeper.settle(roles, name)
    keeper.pass(60)
    await on.sql("ALTER ROLE listed3 PASSWORD 'other'")
    for (const name of names) await keeper.reconcile(roles, name)
    const { password } = keeper.secret('listed3')
    const me = await on.sql('SELECT current_user AS me', [], { user: 'listed3', password: password! })
    assert.deepEqual(me, [{ me: 'listed3' }])
    assert.equal(keeper.condition(roles, 'listed3', 'Drifted')?.reason, 'Corrected')
    assert.equal(keeper.condition(roles, 'listed2', 'Drifted'), undefined)
  })
})
