import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { ident, literal } from '../server/quote.js'
import { connect, type Server } from '../server/server.js'
import { group, types, version } from './types.js'
import { unlessNoDatabase, withinDatabase } from './within.js'

const parameters = s.object({
  database: withinDatabase(),
  schema: s.optional(
    s.reference(
      s.string({ doc: 'The schema that its objects are in. Only extensions that say so can move to another one.' }),
      { to: () => types.schema },
    ),
  ),
  version: s.optional(s.string({ doc: 'Default: the newest that the server has when it is installed.' })),
  comment: s.optional(s.string({ doc: 'What it is for, kept by the server.' })),
  cascade: s.optional(
    s.boolean({
      doc: 'Install the extensions that it needs too; when it is deleted, drop what depends on it. Without it, an extension in use stays.',
      unreported: true,
    }),
  ),
})

const observation = s.object({
  oid: s.string({ doc: 'The number that the server knows it by.' }),
  owner: s.string({ doc: 'The role that installed it.' }),
  relocatable: s.boolean({ doc: 'Whether it can move to another schema.' }),
  availableVersion: s.string({ doc: 'What would be installed now, if no version were named.' }),
})

interface Row {
  readonly oid: string
  readonly owner: string
  readonly schema: string
  readonly version: string
  readonly relocatable: boolean
  readonly available: string | null
  readonly comment: string | null
}

async function look(server: Server, name: string, database: string | undefined, signal: AbortSignal) {
  const rows = await server.query<Row>(
    `SELECT e.oid::text, pg_get_userbyid(e.extowner) AS owner, n.nspname AS schema, e.extversion AS version,
            e.extrelocatable AS relocatable, a.default_version AS available,
            obj_description(e.oid, 'pg_extension') AS comment
       FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
       LEFT JOIN pg_available_extensions a ON a.name = e.extname
      WHERE e.extname = $1`,
    [name],
    { what: `look at extension ${JSON.stringify(name)}`, database, signal },
  )
  return rows[0]
}

const advice = {
  '0A000': 'the server does not have it: install its files there first',
  '58P01': 'the server does not have it: install its files there first',
  '42704': 'it needs another extension: install that first, or set forProvider.cascade to true',
}

/** The managed kind Extension. */
export const extension = defineManaged({
  group,
  version,
  kind: 'Extension',
  doc: 'An extension of PostgreSQL, installed in a database. Its files must be on the server.',
  parameters,
  observation,
  naming: 'user-chosen',
  identifiedBy: ({ database }) => [database],
  consistencySeconds: 0,
  unmetered: true,
  providerConfig,
  permissions: {
    Observe: ['CONNECT on the database'],
    Create: ['CREATE on the database for trusted extensions, SUPERUSER for others'],
    Update: ['ownership of the extension'],
    Delete: ['ownership of the extension'],
  },

  connect,

  async observe({ client, externalName, forProvider, signal }) {
    const database = forProvider.database ?? client.target.database
    const row = await unlessNoDatabase(undefined, () => look(client, externalName, database, signal))
    if (!row) return absent
    const { available, comment, ...rest } = row
    return present({
      externalName,
      ready: true,
      atProvider: {
        ...rest,
        database,
        ...(available === null ? {} : { availableVersion: available }),
        ...(comment === null ? {} : { comment }),
      },
    })
  },

  async create({ client, externalName, forProvider, signal }) {
    const { database, schema, version: wanted, comment, cascade } = forProvider
    const name = ident(externalName)
    const options = [
      ...(schema === undefined ? [] : [`SCHEMA ${ident(schema)}`]),
      ...(wanted === undefined ? [] : [`VERSION ${literal(wanted)}`]),
      ...(cascade ? ['CASCADE'] : []),
    ]
    const statements = [
      // The default schema, if neither the spec nor the extension defines one.
      'SET LOCAL search_path TO public',
      `CREATE EXTENSION ${name} ${options.join(' ')}`,
      ...(comment === undefined ? [] : [`COMMENT ON EXTENSION ${name} IS ${literal(comment)}`]),
    ]
    await client.run(statements, {
      what: `install extension ${JSON.stringify(externalName)}`,
      advice,
      database,
      signal,
    })
    return {}
  },

  async update({ client, externalName, forProvider: { database }, changed, signal }) {
    const name = ident(externalName)
    const statements = [
      ...(changed.version === undefined ? [] : [`ALTER EXTENSION ${name} UPDATE TO ${literal(changed.version)}`]),
      ...(changed.schema === undefined ? [] : [`ALTER EXTENSION ${name} SET SCHEMA ${ident(changed.schema)}`]),
      ...(changed.comment === undefined ? [] : [`COMMENT ON EXTENSION ${name} IS ${literal(changed.comment)}`]),
    ]
    await client.run(statements, { what: `change extension ${JSON.stringify(externalName)}`, advice, database, signal })
  },

  async delete({ client, externalName, forProvider: { database, cascade }, signal }) {
    const drop = `DROP EXTENSION IF EXISTS ${ident(externalName)}${cascade ? ' CASCADE' : ''}`
    await unlessNoDatabase(undefined, () =>
      client.run([drop], {
        what: `drop extension ${JSON.stringify(externalName)}`,
        advice: { '2BP01': 'something depends on it: drop that, or set forProvider.cascade to true' },
        database,
        signal,
      }),
    )
  },
})
