import { ident, isPublic } from '../server/quote.js'
import type { Server } from '../server/server.js'

/** What privileges can be on. */
export interface Target {
  readonly database: string
  /** The database to look and to grant in; absent: any. */
  readonly session?: string
  /** All things of the kind in the schema, whichever there are. */
  readonly everything: boolean
  /** How people are told of it. */
  readonly called: string
  /** Gives the things that there are, as rows of `name` (as it stands in a statement), `acl` and `owner_default`. */
  readonly query: string
  readonly values: readonly unknown[]
  /** What stands behind ON in a statement, for the things of these names. */
  on(names: readonly string[]): readonly string[]
}

interface Given {
  readonly database?: string
  readonly schema?: string
  readonly tables?: readonly string[]
  readonly sequences?: readonly string[]
  readonly functions?: readonly string[]
}

export function targetOf(given: Given, defaultDatabase: string): Target {
  const { database = defaultDatabase, schema, tables, sequences, functions } = given
  if (schema === undefined) return wholeDatabase(database)
  if (tables) return relations(database, schema, tables, 'TABLE')
  if (sequences) return relations(database, schema, sequences, 'SEQUENCE')
  if (functions) return routines(database, schema, functions)
  return wholeSchema(database, schema)
}

/** A database's privileges are seen from every other: no need to enter it, which might keep it from being dropped. */
function wholeDatabase(name: string): Target {
  return {
    database: name,
    everything: false,
    called: `database ${JSON.stringify(name)}`,
    query: `SELECT quote_ident(datname) AS name, coalesce(datacl, acldefault('d', datdba)) AS acl,
                   acldefault('d', datdba) AS owner_default FROM pg_database WHERE datname = $2`,
    values: [name],
    on: () => [`DATABASE ${ident(name)}`],
  }
}

function wholeSchema(database: string, schema: string): Target {
  return {
    database,
    session: database,
    everything: false,
    called: `schema ${JSON.stringify(schema)}`,
    query: `SELECT quote_ident(nspname) AS name, coalesce(nspacl, acldefault('n', nspowner)) AS acl,
                   acldefault('n', nspowner) AS owner_default FROM pg_namespace WHERE nspname = $2`,
    values: [schema],
    on: () => [`SCHEMA ${ident(schema)}`],
  }
}

function relations(database: string, schema: string, names: readonly string[], word: 'TABLE' | 'SEQUENCE'): Target {
  const everything = names.includes('*')
  const [letter, kinds] = word === 'TABLE' ? ['r', '{r,v,m,f,p}'] : ['s', '{S}']
  return {
    database,
    session: database,
    everything,
    called: `${everything ? 'all ' : ''}${word.toLowerCase()}s ${everything ? '' : names.join(', ')} in schema ${JSON.stringify(schema)}`,
    query: `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
                   coalesce(c.relacl, acldefault('${letter}', c.relowner)) AS acl,
                   acldefault('${letter}', c.relowner) AS owner_default
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $2 AND c.relkind = ANY ($3::"char"[]) AND ($4::text[] IS NULL OR c.relname = ANY ($4))`,
    values: [schema, kinds, everything ? null : names],
    on: (there) => {
      if (everything) return there.length > 0 ? [`ALL ${word}S IN SCHEMA ${ident(schema)}`] : []
      return [`${word} ${names.map((name) => `${ident(schema)}.${ident(name)}`).join(', ')}`]
    },
  }
}

/** Functions are known by name and arguments; a bare name means all that have it. What stands in statements is the server's own spelling. */
function routines(database: string, schema: string, names: readonly string[]): Target {
  const everything = names.includes('*')
  const plain = names.map((name) =>
    name
      .replace(/\s+/g, ' ')
      .replace(/\s*([(),])\s*/g, '$1')
      .trim(),
  )
  return {
    database,
    session: database,
    everything,
    called: `functions ${names.join(', ')} in schema ${JSON.stringify(schema)}`,
    query: `SELECT quote_ident(n.nspname) || '.' || quote_ident(p.proname) ||
                   '(' || pg_get_function_identity_arguments(p.oid) || ')' AS name,
                   coalesce(p.proacl, acldefault('f', p.proowner)) AS acl,
                   acldefault('f', p.proowner) AS owner_default
              FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
             WHERE n.nspname = $2 AND ($3::text[] IS NULL OR p.proname = ANY ($3) OR
                   p.proname || '(' || array_to_string(ARRAY(SELECT format_type(t, NULL)
                     FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, o) ORDER BY o), ',') || ')' = ANY ($3))`,
    values: [schema, everything ? null : plain],
    on: (there) => {
      if (there.length > 0) return [`ROUTINE ${there.join(', ')}`]
      if (everything) return []
      throw new Error(`there are no functions ${names.join(', ')} in schema ${JSON.stringify(schema)}`)
    },
  }
}

/** What a role holds on some things. */
export interface Held {
  readonly objects: number
  /** As they stand in statements. */
  readonly names: readonly string[]
  /** Held on each of them. */
  readonly common: readonly string[]
  /** Held on at least one of them. */
  readonly any: readonly string[]
  /** All that can be held on them. */
  readonly all: readonly string[]
  /** Those held on each can be passed on. */
  readonly grantable: boolean
}

interface Row {
  readonly name: string
  readonly privileges: string[]
  readonly grantable: string[]
  readonly all: string[]
}

export async function held(server: Server, role: string, target: Target, signal: AbortSignal): Promise<Held> {
  const rows = await server.query<Row>(
    `WITH things AS (${target.query}),
          who AS (SELECT CASE WHEN $1::text IS NULL THEN 0::oid ELSE (SELECT oid FROM pg_roles WHERE rolname = $1) END AS oid)
     SELECT t.name,
            ARRAY(SELECT DISTINCT a.privilege_type FROM aclexplode(t.acl) a, who WHERE a.grantee = who.oid ORDER BY 1) AS privileges,
            ARRAY(SELECT DISTINCT a.privilege_type FROM aclexplode(t.acl) a, who
                  WHERE a.grantee = who.oid AND a.is_grantable) AS grantable,
            ARRAY(SELECT DISTINCT a.privilege_type FROM aclexplode(t.owner_default) a WHERE a.grantee <> 0 ORDER BY 1) AS all
       FROM things t ORDER BY 1`,
    [isPublic(role) ? null : role, ...target.values],
    {
      what: `look at the privileges of ${JSON.stringify(role)} on ${target.called}`,
      database: target.database,
      signal,
    },
  )
  const everyRow = (has: (row: Row) => boolean) => rows.length > 0 && rows.every(has)
  const any = [...new Set(rows.flatMap((row) => row.privileges))].sort()
  const common = any.filter((privilege) => everyRow((row) => row.privileges.includes(privilege)))
  return {
    objects: rows.length,
    names: rows.map(({ name }) => name),
    common,
    any,
    all: rows[0]?.all ?? [],
    grantable: common.length > 0 && common.every((privilege) => everyRow((row) => row.grantable.includes(privilege))),
  }
}
