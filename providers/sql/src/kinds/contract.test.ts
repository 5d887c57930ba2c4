import { after, before, describe } from 'node:test'
import { kindContract } from '@crosstie/resources/testing'
import { type TestServer, type Variant, variants } from '../testing/servers.js'
import { database } from './database.js'
import { extension } from './extension.js'
import { grantKind } from './grant.js'
import { role } from './role.js'
import { schema } from './schema.js'

for (const variant of variants()) {
  describe(variant.name, { skip: variant.skip, timeout: 900_000 }, () => contracts(variant))
}

/** Tests the provider contract of each kind with a real server. */
function contracts({ start }: Variant): void {
  let on: TestServer
  before(async () => {
    on = await start()
    await on.sql('CREATE ROLE readers')
    await on.sql('CREATE ROLE writers')
    await on.sql('CREATE DATABASE shop')
    await on.sql(`CREATE SCHEMA stock;
      CREATE TABLE stock.goods (name text); CREATE TABLE stock.prices (price numeric);
      CREATE SEQUENCE stock.numbers;
      CREATE FUNCTION stock.total(amount integer, price numeric) RETURNS numeric LANGUAGE sql AS 'SELECT amount * price';
      CREATE FUNCTION stock.total(amount integer) RETURNS integer LANGUAGE sql AS 'SELECT amount'`)
  })
  after(async () => await on?.[Symbol.asyncDispose]())

  const count = (table: string) => async () => {
    const [row] = await on.sql<{ count: string }>(`SELECT count(*) FROM ${table}`)
    return Number(row!.count)
  }
  const has = (table: string, column: string) => async (name: string) =>
    (await on.sql(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [name])).length > 0

  kindContract('Role', async () => ({
    kind: on.connected(role),
    example: {
      privileges: { createDb: true, inherit: false },
      connectionLimit: 5,
      validUntil: '2030-01-01T01:00:00+01:00',
      memberOf: ['readers'],
      configurationParameters: [
        { name: 'search_path', value: 'app, "$user", public' },
        { name: 'work_mem', value: '8MB' },
      ],
      comment: "it's here",
    },
    change: {
      privileges: { createDb: false, inherit: true },
      connectionLimit: 6,
      validUntil: 'infinity',
      memberOf: ['writers'],
      configurationParameters: [{ name: 'work_mem', value: '16MB' }],
      comment: 'or there',
    },
    meddle: async (name) => void (await on.sql(`ALTER ROLE "${name}" CREATEROLE NOCREATEDB`)),
    exists: has('pg_roles', 'rolname'),
    count: count('pg_roles'),
  }))

  kindContract('Database', async () => ({
    kind: on.connected(database),
    example: {
      owner: 'readers',
      template: 'template0',
      encoding: 'utf-8',
      lcCollate: 'C',
      lcCtype: 'C',
      tablespace: 'pg_default',
      connectionLimit: 7,
      isTemplate: true,
      publicPrivileges: [],
      configurationParameters: [{ name: 'timezone', value: 'UTC' }],
      comment: 'for the contract',
    },
    change: {
      owner: 'writers',
      connectionLimit: -1,
      isTemplate: false,
      publicPrivileges: ['CONNECT'],
      configurationParameters: [],
      comment: 'changed',
    },
    meddle: async (name) => void (await on.sql(`ALTER DATABASE "${name}" OWNER TO writers`)),
    exists: has('pg_database', 'datname'),
    count: count('pg_database'),
  }))

  kindContract('Schema', async () => ({
    kind: on.connected(schema),
    example: { database: 'postgres', owner: 'readers', comment: 'of readers' },
    change: { owner: 'writers', comment: 'of writers' },
    meddle: async (name) => void (await on.sql(`ALTER SCHEMA "${name}" OWNER TO writers`)),
    exists: has('pg_namespace', 'nspname'),
    count: count('pg_namespace'),
  }))

  const grantOn = (on: () => string, where: object, privileges: readonly string[], changed: readonly string[]) => ({
    example: { role: 'readers', ...where, privileges },
    change: { privileges: changed, withOption: 'GRANT' },
    meddle: async () => void (await run(`REVOKE ${privileges[0]} ON ${on()} FROM readers`)),
  })
  const run = async (text: string) => await on.sql(text)
  /** Reports whether the role has any privilege on the object of a query. */
  const holds = (query: string) => async (name: string) =>
    name !== 'no-such-thing' &&
    (await on.sql(`SELECT 1 FROM (${query}) t, aclexplode(t.acl) a WHERE a.grantee = 'readers'::regrole`)).length > 0

  const heldOn = (query: string) => ({ exists: holds(query), count: async () => Number(await holds(query)('')) })

  kindContract('Grant on a database', async () => ({
    kind: on.connected(grantKind),
    ...grantOn(() => 'DATABASE shop', { database: 'shop' }, ['CONNECT', 'CREATE'], ['CONNECT', 'TEMPORARY']),
    ...heldOn("SELECT datacl AS acl FROM pg_database WHERE datname = 'shop'"),
  }))

  kindContract('Grant of ALL on a schema', async () => ({
    kind: on.connected(grantKind),
    example: { role: 'readers', schema: 'stock', privileges: ['ALL'] },
    change: { privileges: ['USAGE'] },
    meddle: async () => void (await run('REVOKE CREATE ON SCHEMA stock FROM readers')),
    ...heldOn("SELECT nspacl AS acl FROM pg_namespace WHERE nspname = 'stock'"),
  }))

  kindContract('Grant on tables', async () => ({
    kind: on.connected(grantKind),
    ...grantOn(
      () => 'stock.goods',
      { database: 'postgres', schema: 'stock', tables: ['goods', 'prices'] },
      ['SELECT', 'INSERT'],
      ['SELECT'],
    ),
    ...heldOn("SELECT relacl AS acl FROM pg_class WHERE relname = 'prices'"),
  }))

  kindContract('Grant on all sequences', async () => ({
    kind: on.connected(grantKind),
    ...grantOn(() => 'SEQUENCE stock.numbers', { schema: 'stock', sequences: ['*'] }, ['SELECT', 'USAGE'], ['USAGE']),
    ...heldOn("SELECT relacl AS acl FROM pg_class WHERE relname = 'numbers'"),
  }))

  kindContract('Grant on functions', async () => ({
    kind: on.connected(grantKind),
    example: {
      role: 'readers',
      schema: 'stock',
      functions: ['total(integer, numeric)'],
      privileges: ['EXECUTE'],
      withOption: 'NONE',
    },
    change: { withOption: 'GRANT' },
    meddle: async () =>
      void (await run(
        'REVOKE ALL ON FUNCTION stock.total(integer, numeric) FROM readers; GRANT EXECUTE ON FUNCTION stock.total(integer, numeric) TO readers WITH GRANT OPTION',
      )),
    ...heldOn("SELECT proacl AS acl FROM pg_proc WHERE proname = 'total'"),
  }))

  kindContract('Grant of a membership', async () => ({
    kind: on.connected(grantKind),
    example: { role: 'readers', memberOf: 'writers', withOption: 'ADMIN' },
    change: { withOption: 'NONE' },
    meddle: async () => void (await run('REVOKE ADMIN OPTION FOR writers FROM readers')),
    exists: async () => (await on.sql("SELECT 1 FROM pg_auth_members WHERE member = 'readers'::regrole")).length > 0,
    count: count('pg_auth_members'),
  }))

  kindContract('Extension', async () => ({
    // The object of the contract is named `contract`, which is not an extension.
    kind: named(on.connected(extension), 'contract', 'hstore'),
    example: { database: 'postgres', schema: 'public', version: '1.7' },
    change: { version: '1.8', comment: 'keys and values' },
    meddle: async () => {
      await on.sql('CREATE SCHEMA IF NOT EXISTS elsewhere')
      await on.sql('ALTER EXTENSION hstore SET SCHEMA elsewhere')
    },
    exists: async (name) => await has('pg_extension', 'extname')(name === 'contract' ? 'hstore' : name),
    count: count('pg_extension'),
  }))
}

type Kind = ReturnType<TestServer['connected']>

/** Returns the kind with one external name replaced by another. */
function named(kind: Kind, from: string, to: string): Kind {
  const renamed = <C extends { readonly externalName: string }>(call: C): C => ({
    ...call,
    externalName: call.externalName === from ? to : call.externalName,
  })
  const { external } = kind
  const functions: Partial<Kind['external']> = {
    async observe(call) {
      const seen = await external.observe(renamed(call))
      return seen.exists ? { ...seen, externalName: call.externalName } : seen
    },
    create: async (call) => await external.create(renamed(call)),
    update: async (call) => await external.update(renamed(call)),
    delete: async (call) => await external.delete(renamed(call)),
  }
  return { ...kind, external: Object.assign(Object.create(external) as Kind['external'], functions) }
}
