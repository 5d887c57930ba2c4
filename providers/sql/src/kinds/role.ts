import { absent, defineManaged, type ExternalCall, type Listed, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { ident, literal } from '../server/quote.js'
import { fits, scramVerifier } from '../server/scram.js'
import { connect, type Server } from '../server/server.js'
import { connectionTo } from '../server/target.js'
import { forbiddenRole } from './forbidden.js'
import { configurationParameters, parametersIn, settingStatements } from './settings.js'
import { group, types, version } from './types.js'

const flag = (doc: string) => s.optional(s.boolean({ doc }))

const parameters = s.object({
  privileges: s.optional(
    s.object(
      {
        login: flag('May log in: a user rather than a group.'),
        superUser: flag('May do everything.'),
        createDb: flag('May make databases.'),
        createRole: flag('May make roles.'),
        inherit: flag('Has the privileges of the roles that it is a member of without asking for them.'),
        replication: flag('May replicate, and make backups.'),
        bypassRls: flag('Is not held by row level security.'),
      },
      { doc: 'What the role may do on the whole server. What is left open is as the server has it.' },
    ),
  ),
  connectionLimit: s.optional(
    s.integer({ doc: 'How many sessions it may have at once; -1: any number.', minimum: -1 }),
  ),
  validUntil: s.optional(
    s.string({
      doc: 'Until when its password is good, as RFC 3339 has it, or `infinity`.',
      pattern: '^(infinity|\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d))$',
      same: (desired, observed) => desired === observed || Date.parse(desired) === Date.parse(observed),
    }),
  ),
  password: s.sensitive({
    doc: 'What it logs in with. Changes behind our back are seen where the credentials may read pg_authid.',
    unless: ({ privileges }) => (privileges as { login?: boolean } | undefined)?.login !== true,
  }),
  memberOf: s.optional(
    s.reference(
      s.list(s.string(), {
        doc: 'Roles that it is a member of. Absent: left alone. Given: all of them, it is taken out of others.',
        set: true,
        lateInitialize: false,
      }),
      { to: () => types.role, refField: 'memberOfRefs', selectorField: 'memberOfSelector' },
    ),
  ),
  configurationParameters: configurationParameters('What its sessions begin with.'),
  comment: s.optional(s.string({ doc: 'What it is for, kept by the server.' })),
  database: s.optional(
    s.reference(s.string({ doc: 'The database that the published `uri` leads to.', unreported: true }), {
      to: () => types.database,
    }),
  ),
  reassignOwnedTo: s.optional(
    s.reference(s.string({ doc: 'Who gets what it owns, in all databases, when it is deleted.', unreported: true }), {
      to: () => types.role,
    }),
  ),
  dropOwned: s.optional(
    s.boolean({
      doc: 'When it is deleted, drop what it (still) owns and take back what it was granted, in all databases. Without it, a role that owns something stays.',
      unreported: true,
    }),
  ),
})

const observation = s.object({
  oid: s.string({ doc: 'The number that the server knows it by.' }),
  passwordKind: s.string({ doc: 'How its password is kept: scram-sha-256, md5, none. Absent: we may not know.' }),
})

interface Row {
  readonly name: string
  readonly oid: string
  readonly login: boolean
  readonly super: boolean
  readonly createdb: boolean
  readonly createrole: boolean
  readonly inherit: boolean
  readonly replication: boolean
  readonly bypassrls: boolean
  readonly connection_limit: number
  readonly valid_until: string | null
  readonly comment: string | null
  readonly config: string[] | null
  readonly member_of: string[]
  readonly verifier?: string | null
}

/** Reads all roles, or one. */
async function look(server: Server, name: string | null, signal: AbortSignal): Promise<readonly Row[]> {
  const { seesPasswords } = await server.facts(signal)
  return await server.query<Row>(
    `SELECT r.rolname AS name, r.oid::text, r.rolcanlogin AS login, r.rolsuper AS super, r.rolcreatedb AS createdb,
            r.rolcreaterole AS createrole, r.rolinherit AS inherit, r.rolreplication AS replication,
            r.rolbypassrls AS bypassrls, r.rolconnlimit AS connection_limit,
            CASE WHEN r.rolvaliduntil = 'infinity' THEN 'infinity'
                 ELSE to_char(r.rolvaliduntil AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END AS valid_until,
            shobj_description(r.oid, 'pg_authid') AS comment, c.setconfig AS config,
            ARRAY(SELECT DISTINCT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                  WHERE m.member = r.oid ORDER BY 1) AS member_of
            ${seesPasswords ? ', a.rolpassword AS verifier' : ''}
       FROM pg_roles r
       LEFT JOIN pg_db_role_setting c ON c.setrole = r.oid AND c.setdatabase = 0
       ${seesPasswords ? 'JOIN pg_authid a ON a.oid = r.oid' : ''}
      WHERE $1::text IS NULL OR r.rolname = $1`,
    [name],
    { what: name === null ? 'list roles' : `look at role ${JSON.stringify(name)}`, signal },
  )
}

interface Known {
  readonly password?: string
  readonly database?: string
}

function observed(server: Server, row: Row, { password, database }: Known) {
  const { name, verifier } = row
  const alike = password === undefined || verifier === undefined ? undefined : fits(password, name, verifier ?? '')
  return present({
    externalName: name,
    ready: true,
    connection: connectionTo(server.target, { username: name, password, database }),
    ...(alike === false || (verifier === null && password !== undefined) ? { alsoDiffers: [otherPassword] } : {}),
    atProvider: {
      oid: row.oid,
      ...(verifier === undefined ? {} : { passwordKind: kindOf(verifier) }),
      privileges: {
        login: row.login,
        superUser: row.super,
        createDb: row.createdb,
        createRole: row.createrole,
        inherit: row.inherit,
        replication: row.replication,
        bypassRls: row.bypassrls,
      },
      connectionLimit: row.connection_limit,
      ...(row.valid_until === null ? {} : { validUntil: row.valid_until }),
      memberOf: row.member_of,
      configurationParameters: parametersIn(row.config),
      ...(row.comment === null ? {} : { comment: row.comment }),
    },
  })
}

const otherPassword = { path: 'password', desired: 'the one in the Secret', observed: 'another' }

const kindOf = (verifier: string | null) =>
  verifier === null ? 'none' : verifier.startsWith('SCRAM-SHA-256$') ? 'scram-sha-256' : 'md5'

interface Wanted {
  readonly privileges?: Readonly<Record<string, boolean | undefined>>
  readonly connectionLimit?: number
  readonly validUntil?: string
  readonly password?: string
}

const words: Readonly<Record<string, string>> = {
  login: 'LOGIN',
  superUser: 'SUPERUSER',
  createDb: 'CREATEDB',
  createRole: 'CREATEROLE',
  inherit: 'INHERIT',
  replication: 'REPLICATION',
  bypassRls: 'BYPASSRLS',
}

async function attributes({ privileges = {}, connectionLimit, validUntil, password }: Wanted): Promise<string> {
  const given = Object.entries(words).filter(([name]) => privileges[name] !== undefined)
  return [
    ...given.map(([name, word]) => (privileges[name] ? word : `NO${word}`)),
    ...(connectionLimit === undefined ? [] : [`CONNECTION LIMIT ${Math.trunc(connectionLimit)}`]),
    ...(validUntil === undefined ? [] : [`VALID UNTIL ${literal(validUntil)}`]),
    ...(password === undefined ? [] : [`PASSWORD ${literal(await scramVerifier(password))}`]),
  ].join(' ')
}

/** The managed kind Role: a user or a group. */
export const role = defineManaged({
  group,
  version,
  kind: 'Role',
  doc:
    'A role of a PostgreSQL server: a user, or a group of them. The connection Secret has endpoint, host, port, username and ' +
    'password, and with `database` a `uri` that drivers take as it is.',
  parameters,
  observation,
  naming: 'user-chosen',
  forbiddenName: ({ client, externalName }) => forbiddenRole(externalName, client.target),
  consistencySeconds: 0,
  unmetered: true,
  providerConfig,
  permissions: {
    Observe: [
      'CONNECT on the default database',
      'SELECT on pg_authid (a superuser), to see that a password was changed',
    ],
    Create: ['CREATEROLE; SUPERUSER for roles with superUser; on 16 and later the attributes that are given away'],
    Update: ['CREATEROLE, and from 16 on ADMIN OPTION on the role'],
    Delete: [
      'CREATEROLE, and from 16 on ADMIN OPTION on the role',
      'CONNECT on every database and membership in the role, with dropOwned or reassignOwnedTo',
    ],
  },

  connect,

  async observe({ client, externalName, forProvider, signal }) {
    const [row] = await look(client, externalName, signal)
    return row ? observed(client, row, forProvider) : absent
  },

  async list({ client, signal }) {
    const rows = await look(client, null, signal)
    return rows.map(
      (row): Listed<ReturnType<typeof observed>['atProvider'], Known> => ({
        ...observed(client, row, {}),
        complete: (forProvider) => observed(client, row, forProvider),
      }),
    )
  },

  async create({ client, externalName, forProvider, signal }) {
    const { memberOf = [], configurationParameters: settings, comment } = forProvider
    const name = ident(externalName)
    const statements = [
      `CREATE ROLE ${name} WITH ${await attributes(forProvider)}`,
      ...memberOf.map((other) => `GRANT ${ident(other)} TO ${name}`),
      ...(settings?.length ? settingStatements(`ROLE ${name}`, settings) : []),
      ...(comment === undefined ? [] : [`COMMENT ON ROLE ${name} IS ${literal(comment)}`]),
    ]
    await client.run(statements, { what: `create role ${JSON.stringify(externalName)}`, signal })
    return {}
  },

  async update({ client, externalName, forProvider, changed, differences, signal }) {
    const name = ident(externalName)
    const { password } = forProvider
    const otherwise = differences.some(({ path }) => path === 'password')
    const set = await attributes({ ...changed, ...(otherwise && password !== undefined ? { password } : {}) })
    const statements = [
      ...(set === '' ? [] : [`ALTER ROLE ${name} WITH ${set}`]),
      ...(changed.memberOf ? await membershipChanges(client, externalName, changed.memberOf, signal) : []),
      ...settingStatements(`ROLE ${name}`, changed.configurationParameters),
      ...(changed.comment === undefined ? [] : [`COMMENT ON ROLE ${name} IS ${literal(changed.comment)}`]),
    ]
    await client.run(statements, { what: `change role ${JSON.stringify(externalName)}`, signal })
    return {
      connection: connectionTo(client.target, { username: externalName, password, database: forProvider.database }),
    }
  },

  async delete(call) {
    const { client, externalName, forProvider, signal } = call
    if (forProvider.reassignOwnedTo !== undefined || forProvider.dropOwned) await giveUpOwned(call)
    await client.run([`DROP ROLE IF EXISTS ${ident(externalName)}`], {
      what: `drop role ${JSON.stringify(externalName)}`,
      advice: {
        '2BP01':
          'it owns something or was granted something: delete that, or set forProvider.reassignOwnedTo or forProvider.dropOwned',
        '55006': 'it is the role that we use ourselves: delete it with other credentials',
      },
      signal,
    })
  },
})

async function membershipChanges(client: Server, name: string, wanted: readonly string[], signal: AbortSignal) {
  const [row] = await look(client, name, signal)
  const held = row?.member_of ?? []
  return [
    ...held.filter((other) => !wanted.includes(other)).map((other) => `REVOKE ${ident(other)} FROM ${ident(name)}`),
    ...wanted.filter((other) => !held.includes(other)).map((other) => `GRANT ${ident(other)} TO ${ident(name)}`),
  ]
}

type DeleteCall = ExternalCall<{ readonly reassignOwnedTo?: string; readonly dropOwned?: boolean }, Server>

/** Reassigns or drops owned objects, which are only known in their own database. */
async function giveUpOwned({ client, externalName, forProvider, signal }: DeleteCall): Promise<void> {
  const { reassignOwnedTo, dropOwned } = forProvider
  if ((await look(client, externalName, signal)).length === 0) return
  const what = `give up what role ${JSON.stringify(externalName)} owns`
  const rows = await client.query<{ datname: string }>('SELECT datname FROM pg_database WHERE datallowconn', [], {
    what,
    signal,
  })
  const name = ident(externalName)
  for (const { datname } of rows) {
    const statements = [
      ...(reassignOwnedTo === undefined ? [] : [`REASSIGN OWNED BY ${name} TO ${ident(reassignOwnedTo)}`]),
      // DROP OWNED also revokes the privileges in this database, which would block the drop.
      ...(dropOwned || reassignOwnedTo !== undefined ? [`DROP OWNED BY ${name}`] : []),
    ]
    await client.run(statements, { what: `${what} in database ${JSON.stringify(datname)}`, database: datname, signal })
  }
}
