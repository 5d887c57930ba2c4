import { absent, defineManaged, type Listed, PartialCreateError, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { ident, literal } from '../server/quote.js'
import { connect, type Server, type ServerFacts, versionText } from '../server/server.js'
import { connectionTo } from '../server/target.js'
import { forbiddenDatabase } from './forbidden.js'
import { configurationParameters, parametersIn, settingStatements } from './settings.js'
import { group, types, version } from './types.js'

const everybody = ['CONNECT', 'CREATE', 'TEMPORARY'] as const

/**
 * Compares encodings and locales: `UTF8`, `utf-8` and `Unicode` are equal, and so are `en_US.UTF-8` and
 * `en_US.utf8`.
 */
const sameWord = (a: string, b: string): boolean => {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[-_]/g, '')
      .replace(/^unicode$/, 'utf8')
  return plain(a) === plain(b)
}

const fixed = (doc: string) => s.optional(s.string({ doc, immutable: true, same: sameWord }))

const parameters = s.object({
  engineVersion: s.optional(
    s.string({
      doc: 'The version that the server must have, such as 18 or 15.4: on another one nothing is made.',
      pattern: '^[0-9]+(\\.[0-9]+)*$',
      immutable: true,
      lateInitialize: false,
      same: (desired, observed) => `${observed}.`.startsWith(`${desired}.`),
    }),
  ),
  owner: s.optional(
    s.reference(s.string({ doc: 'The role that owns it. Default: the one that we use.' }), { to: () => types.role }),
  ),
  template: s.optional(
    s.string({
      doc: 'The database that it is a copy of. Default: template0, to which no session can connect. A session in another template stops every copy of it.',
      immutable: true,
      unreported: true,
    }),
  ),
  strategy: s.optional(
    s.string({
      doc: 'How the template is copied (15 and later).',
      enum: ['WAL_LOG', 'FILE_COPY'],
      immutable: true,
      unreported: true,
    }),
  ),
  encoding: fixed('Character set, such as UTF8.'),
  localeProvider: s.optional(
    s.string({
      doc: 'Who knows the locale (15 and later; builtin 17 and later).',
      enum: ['libc', 'icu', 'builtin'],
      immutable: true,
    }),
  ),
  locale: fixed('Locale of the providers icu and builtin.'),
  icuRules: s.optional(
    s.string({ doc: 'More rules of collation, with the provider icu (16 and later).', immutable: true }),
  ),
  lcCollate: fixed('Locale that texts are ordered by.'),
  lcCtype: fixed('Locale that letters are told by.'),
  tablespace: s.optional(s.string({ doc: 'Where it is kept. It moves only while nobody is connected.' })),
  allowConnections: s.optional(s.boolean({ doc: 'Whether anybody can connect.' })),
  connectionLimit: s.optional(
    s.integer({ doc: 'How many sessions it may have at once; -1: any number.', minimum: -1 }),
  ),
  isTemplate: s.optional(s.boolean({ doc: 'Whether everybody who may make databases may copy it.' })),
  publicPrivileges: s.optional(
    s.list(s.string({ enum: everybody }), {
      doc: 'What every role may do with it. None: only those who were granted it get in. The server begins with CONNECT and TEMPORARY.',
      set: true,
    }),
  ),
  configurationParameters: configurationParameters('What sessions in it begin with.'),
  comment: s.optional(s.string({ doc: 'What it is for, kept by the server.' })),
  forceDrop: s.optional(
    s.boolean({
      doc: 'When it is deleted, end the sessions that are in it. Without it, a database in use stays until nobody uses it.',
      unreported: true,
    }),
  ),
})

const observation = s.object({
  oid: s.string({ doc: 'The number that the server knows it by.' }),
  collationVersion: s.string({ doc: 'Of the locale, when it was made.' }),
})

interface Row {
  readonly name: string
  readonly oid: string
  readonly owner: string
  readonly encoding: string
  readonly tablespace: string
  readonly everybody: string[]
  readonly comment: string | null
  readonly config: string[] | null
  /** The row of the catalog. Its columns depend on the version. */
  readonly d: {
    readonly datcollate: string
    readonly datctype: string
    readonly datallowconn: boolean
    readonly datconnlimit: number
    readonly datistemplate: boolean
    readonly datlocprovider?: string
    readonly datlocale?: string | null
    readonly daticulocale?: string | null
    readonly daticurules?: string | null
    readonly datcollversion?: string | null
  }
}

/** Reads all databases, or one. */
async function look(server: Server, name: string | null, signal: AbortSignal): Promise<readonly Row[]> {
  return await server.query<Row>(
    `SELECT d.datname AS name, d.oid::text, pg_get_userbyid(d.datdba) AS owner, t.spcname AS tablespace,
            pg_encoding_to_char(d.encoding) AS encoding, shobj_description(d.oid, 'pg_database') AS comment,
            c.setconfig AS config, to_jsonb(d) - 'datacl' AS d,
            ARRAY(SELECT a.privilege_type FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
                  WHERE a.grantee = 0 ORDER BY 1) AS everybody
       FROM pg_database d
       JOIN pg_tablespace t ON t.oid = d.dattablespace
       LEFT JOIN pg_db_role_setting c ON c.setdatabase = d.oid AND c.setrole = 0
      WHERE $1::text IS NULL OR d.datname = $1`,
    [name],
    { what: name === null ? 'list databases' : `look at database ${JSON.stringify(name)}`, signal },
  )
}

const providers: Readonly<Record<string, 'libc' | 'icu' | 'builtin'>> = { c: 'libc', i: 'icu', b: 'builtin' }

/** The connection limit of a database whose drop was interrupted. It can only be dropped. */
const INVALID = -2

function observed(server: Server, row: Row, { version: number }: ServerFacts) {
  const { d } = row
  const provider = providers[d.datlocprovider ?? 'c']
  const locale = d.datlocale ?? d.daticulocale
  const invalid = d.datconnlimit === INVALID
  return present({
    externalName: row.name,
    ready: invalid ? unfinished : true,
    connection: connectionTo(server.target, { database: row.name }),
    atProvider: {
      oid: row.oid,
      engineVersion: versionText(number),
      owner: row.owner,
      encoding: row.encoding,
      ...(d.datlocprovider && provider ? { localeProvider: provider } : {}),
      ...(locale ? { locale } : {}),
      ...(d.daticurules ? { icuRules: d.daticurules } : {}),
      lcCollate: d.datcollate,
      lcCtype: d.datctype,
      tablespace: row.tablespace,
      allowConnections: d.datallowconn,
      ...(invalid ? {} : { connectionLimit: d.datconnlimit }),
      isTemplate: d.datistemplate,
      publicPrivileges: row.everybody as (typeof everybody)[number][],
      configurationParameters: parametersIn(row.config),
      ...(row.comment === null ? {} : { comment: row.comment }),
      ...(d.datcollversion ? { collationVersion: d.datcollversion } : {}),
    },
  })
}

const unfinished = {
  type: 'Ready',
  status: 'False',
  reason: 'Unavailable',
  message: 'a DROP DATABASE was interrupted: the database can only be deleted',
} as const

interface Wanted {
  readonly owner?: string
  readonly publicPrivileges?: readonly string[]
  readonly configurationParameters?: readonly { readonly name: string; readonly value: string }[]
  readonly comment?: string
}

/** Returns the statements that need an existing database and can run in a transaction. */
function furtherStatements(name: string, { publicPrivileges, configurationParameters: settings, comment }: Wanted) {
  const database = `DATABASE ${ident(name)}`
  return [
    ...(publicPrivileges ? [`REVOKE ALL ON ${database} FROM PUBLIC`] : []),
    ...(publicPrivileges?.length ? [`GRANT ${privileges(publicPrivileges)} ON ${database} TO PUBLIC`] : []),
    ...settingStatements(database, settings),
    ...(comment === undefined ? [] : [`COMMENT ON ${database} IS ${literal(comment)}`]),
  ]
}

/** The default template. Unlike template1 it does not accept sessions, so that no login can block CREATE DATABASE. */
const DEFAULT_TEMPLATE = 'template0'

const privileges = (given: readonly string[]) => given.filter((one) => everybody.includes(one as never)).join(', ')

const option = (word: string, value: string | number | boolean | undefined): string[] =>
  value === undefined ? [] : [`${word} = ${typeof value === 'string' ? literal(value) : value}`]

/** The managed kind Database. */
export const database = defineManaged({
  group,
  version,
  kind: 'Database',
  doc: 'A database of a PostgreSQL server. The connection Secret has endpoint, host, port and database; a Role has the rest.',
  parameters,
  observation,
  naming: 'user-chosen',
  forbiddenName: ({ client, externalName }) => forbiddenDatabase(externalName, client.target),
  consistencySeconds: 0,
  unmetered: true,
  providerConfig,
  permissions: {
    Observe: ['CONNECT on the default database'],
    Create: ['CREATEDB', 'with owner: membership in that role, with SET OPTION from 16 on'],
    Update: ['ownership of the database (CREATEDB beside it for a new owner), or SUPERUSER'],
    Delete: [
      'ownership of the database, or SUPERUSER',
      'with forceDrop: membership in the roles whose sessions are ended',
    ],
  },

  connect,

  async observe({ client, externalName, signal }) {
    const [row] = await look(client, externalName, signal)
    return row ? observed(client, row, await client.facts(signal)) : absent
  },

  async list({ client, signal }) {
    const rows = await look(client, null, signal)
    const facts = await client.facts(signal)
    return rows.map((row): Listed<ReturnType<typeof observed>['atProvider']> => observed(client, row, facts))
  },

  async create({ client, externalName, forProvider, signal }) {
    const localeOption = { icu: 'ICU_LOCALE', builtin: 'BUILTIN_LOCALE', libc: 'LOCALE' }[
      forProvider.localeProvider ?? 'libc'
    ]
    const options = [
      ...(forProvider.owner === undefined ? [] : [`OWNER = ${ident(forProvider.owner)}`]),
      `TEMPLATE = ${ident(forProvider.template ?? DEFAULT_TEMPLATE)}`,
      ...(forProvider.strategy === undefined ? [] : [`STRATEGY = ${literal(forProvider.strategy)}`]),
      ...option('ENCODING', forProvider.encoding),
      ...(forProvider.localeProvider === undefined ? [] : [`LOCALE_PROVIDER = ${literal(forProvider.localeProvider)}`]),
      ...option(localeOption, forProvider.locale),
      ...option('ICU_RULES', forProvider.icuRules),
      ...option('LC_COLLATE', forProvider.lcCollate),
      ...option('LC_CTYPE', forProvider.lcCtype),
      ...(forProvider.tablespace === undefined ? [] : [`TABLESPACE = ${ident(forProvider.tablespace)}`]),
      ...option('ALLOW_CONNECTIONS', forProvider.allowConnections),
      ...option('CONNECTION LIMIT', forProvider.connectionLimit),
      ...option('IS_TEMPLATE', forProvider.isTemplate),
    ]
    const what = `create database ${JSON.stringify(externalName)}`
    const { engineVersion } = forProvider
    const there = versionText((await client.facts(signal)).version)
    if (engineVersion !== undefined && !`${there}.`.startsWith(`${engineVersion}.`))
      throw new Error(`cannot ${what}: the server is PostgreSQL ${there}, and ${engineVersion} is asked for`)
    await client.run([`CREATE DATABASE ${ident(externalName)} ${options.join(' ')}`], {
      what,
      advice: {
        '55006': 'a session is connected to the template: end it, or leave out forProvider.template',
        '22023':
          'encoding and locale cannot differ from the template, unless that is template0: set forProvider.template',
      },
      signal,
    })
    try {
      await client.run(furtherStatements(externalName, forProvider), { what, signal })
    } catch (error) {
      throw new PartialCreateError(error instanceof Error ? error.message : String(error), externalName, {
        cause: error,
      })
    }
    return {}
  },

  async update({ client, externalName, changed, signal }) {
    const name = ident(externalName)
    const what = `change database ${JSON.stringify(externalName)}`
    const options = [
      ...(changed.allowConnections === undefined ? [] : [`ALLOW_CONNECTIONS ${changed.allowConnections}`]),
      ...(changed.connectionLimit === undefined ? [] : [`CONNECTION LIMIT ${Math.trunc(changed.connectionLimit)}`]),
      ...(changed.isTemplate === undefined ? [] : [`IS_TEMPLATE ${changed.isTemplate}`]),
    ]
    const statements = [
      ...(changed.owner === undefined ? [] : [`ALTER DATABASE ${name} OWNER TO ${ident(changed.owner)}`]),
      ...(options.length > 0 ? [`ALTER DATABASE ${name} WITH ${options.join(' ')}`] : []),
      ...furtherStatements(externalName, changed as Wanted),
    ]
    await client.run(statements, { what, signal })
    if (changed.tablespace === undefined) return
    await client.leave(externalName)
    await client.run([`ALTER DATABASE ${name} SET TABLESPACE ${ident(changed.tablespace)}`], {
      what,
      advice: { '55006': 'it moves to another tablespace only while nobody is connected' },
      signal,
    })
  },

  async delete({ client, externalName, forProvider, signal }) {
    const name = ident(externalName)
    const what = `drop database ${JSON.stringify(externalName)}`
    const [row] = await look(client, externalName, signal)
    if (!row) return
    await client.leave(externalName)
    // The server protects templates from being dropped by mistake. Deleting the object is deliberate.
    if (row.d.datistemplate) await client.run([`ALTER DATABASE ${name} IS_TEMPLATE false`], { what, signal })
    await client.run([`DROP DATABASE IF EXISTS ${name}${forProvider.forceDrop ? ' WITH (FORCE)' : ''}`], {
      what,
      advice: { '55006': 'end the sessions that are in it, or set forProvider.forceDrop to true' },
      signal,
    })
  },
})
