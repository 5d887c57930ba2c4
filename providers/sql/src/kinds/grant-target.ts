import { ident, isPublic } from '../server/quote.js'
import type { Server } from '../server/server.js'

/** The objects that privileges are granted on. */
export interface Target {
  readonly database: string
  /** The database of the session. Absent: any. */
  readonly session?: string
  /** Whether all objects of the kind in the schema are meant. */
  readonly everything: boolean
  /** The name for messages. */
  readonly called: string
  /** Selects the objects as rows of `name` (as in statements), `acl` and `owner_default`. */
  readonly query: string
  readonly values: readonly unknown[]
  /** Returns the text after ON in a statement, for objects of these names. */
  on(names: readonly string[]): readonly string[]
}

interface Given {
  readonly database?: string
  readonly schema?: string
  readonly tables?: readonly string[]
  readonly sequences?: readonly string[]
  readonly functions?: readonly string[]
}

/** Returns the objects that a Grant refers to. Throws if the spec is contradictory. */
export function targetOf(given: Given, defaultDatabase: string): Target {
  const { database = defaultDatabase, schema, tables, sequences, functions } = given
  if (schema === undefined) return wholeDatabase(database)
  if (tables) return relations(database, schema, tables, 'TABLE')
  if (sequences) return relations(database, schema, sequences, 'SEQUENCE')
  if (functions) return routines(database, schema, functions)
  return wholeSchema(database, schema)
}

/**
 * Returns the target for a database. Its privileges are visible from every database, so no session is opened that
 * could block a drop.
 */
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

/**
 * Returns the target for functions. A name without arguments means all functions of the name. Statements use the
 * spelling of the server.
 */
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

/** The privileges of a role on objects. */
export interface Held {
  readonly objects: number
  /** The names as in statements. */
  readonly names: readonly string[]
  /** The privileges on each of them. */
  readonly common: readonly string[]
  /** The privileges on at least one of them. */
  readonly any: readonly string[]
  /** All privileges that the objects support. */
  readonly all: readonly string[]
  /** Whether the common privileges can be granted to others. */
  readonly grantable: boolean
}

interface Row {
  readonly name: string
  readonly privileges: string[]
  readonly grantable: string[]
  readonly all: string[]
}

/** Reads the privileges of a role on the objects of a target. */
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
