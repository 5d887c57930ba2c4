import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { ident, literal } from '../server/quote.js'
import { connect, type Server } from '../server/server.js'
import { forbiddenSchema } from './forbidden.js'
import { group, types, version } from './types.js'
import { unlessNoDatabase, withinDatabase } from './within.js'

const parameters = s.object({
  database: withinDatabase(),
  owner: s.optional(
    s.reference(s.string({ doc: 'The role that owns it. Default: the one that we use.' }), { to: () => types.role }),
  ),
  comment: s.optional(s.string({ doc: 'What it is for, kept by the server.' })),
  cascade: s.optional(
    s.boolean({
      doc: 'When it is deleted, drop all that is in it. Without it, a schema that is not empty stays.',
      unreported: true,
    }),
  ),
})

const observation = s.object({ oid: s.string({ doc: 'The number that the server knows it by.' }) })

interface Row {
  readonly oid: string
  readonly owner: string
  readonly comment: string | null
}

async function look(server: Server, name: string, database: string | undefined, signal: AbortSignal) {
  const rows = await server.query<Row>(
    `SELECT n.oid::text, pg_get_userbyid(n.nspowner) AS owner, obj_description(n.oid, 'pg_namespace') AS comment
       FROM pg_namespace n WHERE n.nspname = $1`,
    [name],
    { what: `look at schema ${JSON.stringify(name)}`, database, signal },
  )
  return rows[0]
}

/** The managed kind Schema. */
export const schema = defineManaged({
  group,
  version,
  kind: 'Schema',
  doc: 'A schema in a database of a PostgreSQL server.',
  parameters,
  observation,
  naming: 'user-chosen',
  identifiedBy: ({ database }) => [database],
  forbiddenName: ({ externalName }) => forbiddenSchema(externalName),
  consistencySeconds: 0,
  unmetered: true,
  providerConfig,
  permissions: {
    Observe: ['CONNECT on the database'],
    Create: ['CREATE on the database', 'with owner: membership in that role, with SET OPTION from 16 on'],
    Update: ['ownership of the schema (CREATE on the database beside it for a new owner)'],
    Delete: ['ownership of the schema'],
  },

  connect,

  async observe({ client, externalName, forProvider, signal }) {
    const database = forProvider.database ?? client.target.database
    const row = await unlessNoDatabase(undefined, () => look(client, externalName, database, signal))
    if (!row) return absent
    const { oid, owner, comment } = row
    return present({
      externalName,
      ready: true,
      atProvider: { oid, database, owner, ...(comment === null ? {} : { comment }) },
    })
  },

  async create({ client, externalName, forProvider: { database, owner, comment }, signal }) {
    const name = ident(externalName)
    const statements = [
      `CREATE SCHEMA ${name}${owner === undefined ? '' : ` AUTHORIZATION ${ident(owner)}`}`,
      ...(comment === undefined ? [] : [`COMMENT ON SCHEMA ${name} IS ${literal(comment)}`]),
    ]
    await client.run(statements, { what: `create schema ${JSON.stringify(externalName)}`, database, signal })
    return {}
  },

  async update({ client, externalName, forProvider: { database }, changed: { owner, comment }, signal }) {
    const name = ident(externalName)
    const statements = [
      ...(owner === undefined ? [] : [`ALTER SCHEMA ${name} OWNER TO ${ident(owner)}`]),
      ...(comment === undefined ? [] : [`COMMENT ON SCHEMA ${name} IS ${literal(comment)}`]),
    ]
    await client.run(statements, { what: `change schema ${JSON.stringify(externalName)}`, database, signal })
  },

  async delete({ client, externalName, forProvider: { database, cascade }, signal }) {
    const drop = `DROP SCHEMA IF EXISTS ${ident(externalName)}${cascade ? ' CASCADE' : ''}`
    await unlessNoDatabase(undefined, () =>
      client.run([drop], {
        what: `drop schema ${JSON.stringify(externalName)}`,
        advice: { '2BP01': 'there is something in it: drop that, or set forProvider.cascade to true' },
        database,
        signal,
      }),
    )
  },
})
