import { absent, defineManaged, type ExternalCall, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { hasState, NO_OBJECT } from '../server/errors.js'
import { grantee } from '../server/quote.js'
import { connect, type Server } from '../server/server.js'
import { grantMembership, lookAtMembership, revokeMembership } from './grant-membership.js'
import { type Held, held, type Target, targetOf } from './grant-target.js'
import { group, types, version } from './types.js'
import { unlessNoDatabase } from './within.js'

/** All privileges of PostgreSQL. */
const privileges = [
  'ALL',
  'CONNECT',
  'CREATE',
  'DELETE',
  'EXECUTE',
  'INSERT',
  'MAINTAIN',
  'REFERENCES',
  'SELECT',
  'TEMPORARY',
  'TRIGGER',
  'TRUNCATE',
  'UPDATE',
  'USAGE',
] as const

const names = (doc: string) => s.optional(s.list(s.string(), { doc, set: true, immutable: true, minItems: 1 }))

const parameters = s.object({
  role: s.reference(s.string({ doc: 'The role that is granted something; `public` is everybody.', immutable: true }), {
    to: () => types.role,
  }),
  memberOf: s.optional(
    s.reference(s.string({ doc: 'The role that it becomes a member of. Instead of privileges.', immutable: true }), {
      to: () => types.role,
      refField: 'memberOfRef',
      selectorField: 'memberOfSelector',
    }),
  ),
  privileges: s.optional(
    s.list(s.string({ enum: privileges }), {
      doc: 'What the role may do; `ALL` is everything there is to do. The role holds just these: others are taken back.',
      set: true,
      minItems: 1,
      lateInitialize: false,
      requiredUnless: ['memberOf'],
    }),
  ),
  database: s.optional(
    s.reference(
      s.string({
        doc: 'The database that the privileges are on, or that the schema is in. Default: the default database of the ProviderConfig.',
        immutable: true,
      }),
      { to: () => types.database },
    ),
  ),
  schema: s.optional(
    s.reference(s.string({ doc: 'The schema that the privileges are on, or on things in it.', immutable: true }), {
      to: () => types.schema,
    }),
  ),
  tables: names('Tables and views in the schema; `*` is all there are, also those that come later.'),
  sequences: names('Sequences in the schema; `*` is all there are, also those that come later.'),
  functions: names(
    'Functions and procedures in the schema, such as `add` or `add(integer, integer)`; `*` is all there are, also those that come later.',
  ),
  withOption: s.optional(
    s.string({
      doc: 'Whether it may pass on the privileges (GRANT) or the membership (ADMIN).',
      enum: ['GRANT', 'ADMIN', 'NONE'],
      lateInitialize: false,
    }),
  ),
  inheritOption: s.optional(
    s.boolean({
      doc: 'Of a membership: its privileges come without asking for them (16 and later).',
      lateInitialize: false,
    }),
  ),
  setOption: s.optional(
    s.boolean({ doc: 'Of a membership: the role may become the other one (16 and later).', lateInitialize: false }),
  ),
})

const observation = s.object({
  objects: s.integer({ doc: 'How many things the privileges are on.' }),
})

interface Known {
  readonly role?: string
  readonly memberOf?: string
  readonly privileges?: readonly string[]
  readonly database?: string
  readonly schema?: string
  readonly tables?: readonly string[]
  readonly sequences?: readonly string[]
  readonly functions?: readonly string[]
  readonly withOption?: 'GRANT' | 'ADMIN' | 'NONE'
}

type Grants = ExternalCall<Known, Server>

/** Returns the current privileges of the role, or undefined if it has none. */
async function lookAtPrivileges({ client, forProvider, signal }: Grants, role: string, target: Target) {
  const state = await unlessNoDatabase(undefined, () => held(client, role, target, signal))
  if (!state) return absent
  const wanted = forProvider.privileges ?? []
  // A grant on all objects is complete while there are no objects.
  const vacuous = target.everything && state.objects === 0
  if (!vacuous && state.common.length === 0) return absent
  const complete = wanted.includes('ALL') && state.all.every((privilege) => state.common.includes(privilege))
  const { role: _, privileges: __, withOption: ___, ...where } = forProvider
  return present({
    ready: true,
    atProvider: {
      ...where,
      role,
      database: target.database,
      privileges: (vacuous ? wanted : complete ? ['ALL'] : state.common) as (typeof privileges)[number][],
      withOption: (vacuous ? (forProvider.withOption ?? 'NONE') : state.grantable ? 'GRANT' : 'NONE') as
        | 'GRANT'
        | 'NONE',
      objects: state.objects,
    },
  })
}

/** Grants exactly the wanted privileges: others, and the grant option, are revoked. */
async function give(call: Grants, role: string, target: Target, state: Held): Promise<void> {
  const { client, forProvider, signal } = call
  const { privileges: wanted = [], withOption } = forProvider
  const beyond = wanted.includes('ALL') ? [] : state.any.filter((privilege) => !wanted.includes(privilege))
  const to = grantee(role)
  const statements = target
    .on(state.names)
    .flatMap((on) => [
      ...(beyond.length > 0 ? [`REVOKE ${beyond.join(', ')} ON ${on} FROM ${to}`] : []),
      ...(withOption === 'NONE' ? [`REVOKE GRANT OPTION FOR ALL ON ${on} FROM ${to}`] : []),
      `GRANT ${words(wanted)} ON ${on} TO ${to}${withOption === 'GRANT' ? ' WITH GRANT OPTION' : ''}`,
    ])
  await client.run(statements, { what: describe('grant', call, target), database: target.session, signal })
}

const words = (given: readonly string[]) =>
  given.includes('ALL') ? 'ALL' : given.filter((one) => privileges.includes(one as never)).join(', ')

const describe = (verb: string, { forProvider }: Grants, target: Target) =>
  `${verb} ${words(forProvider.privileges ?? [])} on ${target.called} ${verb === 'grant' ? 'to' : 'from'} ${JSON.stringify(forProvider.role)}`

async function grant(call: Grants): Promise<void> {
  const { client, forProvider, signal } = call
  const { role, memberOf } = checked(forProvider)
  if (memberOf !== undefined) return await grantMembership({ ...call, forProvider: { ...forProvider, memberOf, role } })
  const target = targetOf(forProvider, client.target.database)
  await give(call, role, target, await held(client, role, target, signal))
}

/** Validates a grant: required and contradictory fields. */
function checked(given: Known): { readonly role: string; readonly memberOf: string | undefined } {
  const { role, memberOf, privileges: wanted, withOption } = given
  const objects = [given.tables, given.sequences, given.functions].filter((list) => list !== undefined)
  if (role === undefined) throw new Error('forProvider.role is missing: say who is granted something')
  if ((memberOf === undefined) === (wanted === undefined))
    throw new Error('set either forProvider.memberOf or forProvider.privileges')
  if (memberOf !== undefined && (given.schema !== undefined || objects.length > 0))
    throw new Error('a membership is of the whole server: leave out schema, tables, sequences and functions')
  if (memberOf !== undefined && withOption === 'GRANT')
    throw new Error('a membership is passed on with forProvider.withOption ADMIN, not GRANT')
  if (memberOf === undefined && withOption === 'ADMIN')
    throw new Error('privileges are passed on with forProvider.withOption GRANT, not ADMIN')
  if (objects.length > 1) throw new Error('set one of tables, sequences and functions, and make a Grant for each other')
  if (objects.length > 0 && given.schema === undefined)
    throw new Error('forProvider.schema is missing: say where the tables, sequences or functions are')
  return { role, memberOf }
}

/** The managed kind Grant: privileges of a role on objects, or its membership in another role. */
export const grantKind = defineManaged({
  group,
  version,
  kind: 'Grant',
  doc:
    'That a role holds privileges on a database, a schema, or tables, sequences or functions in it; or that it is a member ' +
    'of another role. One Grant says all that a role holds on a thing: two for the same role and thing would take back ' +
    "from each other. The external name means nothing to the server, it is the object's own.",
  parameters,
  observation,
  naming: 'user-chosen',
  nameless: true,
  consistencySeconds: 0,
  unmetered: true,
  providerConfig,
  permissions: {
    Observe: ['CONNECT on the database'],
    Create: ['ownership of the things, or the privileges with GRANT OPTION', 'for memberOf: ADMIN OPTION on that role'],
    Update: ['ownership of the things, or the privileges with GRANT OPTION', 'for memberOf: ADMIN OPTION on that role'],
    Delete: ['ownership of the things, or having granted it', 'for memberOf: ADMIN OPTION on that role'],
  },

  connect,

  async observe(call) {
    const { role, memberOf } = checked(call.forProvider)
    if (memberOf !== undefined) return await lookAtMembership(call, role, memberOf)
    return await lookAtPrivileges(call, role, targetOf(call.forProvider, call.client.target.database))
  },

  async create(call) {
    await grant(call)
    return {}
  },

  async update(call) {
    await grant(call)
  },

  async delete(call) {
    const { client, forProvider, signal } = call
    const { role, memberOf } = checked(forProvider)
    if (memberOf !== undefined) return await revokeMembership(call, role, memberOf)
    const target = targetOf(forProvider, client.target.database)
    try {
      await unlessNoDatabase(undefined, async () => {
        const { names: there } = await held(client, role, target, signal)
        const from = grantee(role)
        const statements = target
          .on(there)
          .map((on) => `REVOKE ${words(forProvider.privileges ?? [])} ON ${on} FROM ${from}`)
        await client.run(statements, { what: describe('revoke', call, target), database: target.session, signal })
      })
    } catch (error) {
      // The role or the objects are gone, so that nothing is left to revoke.
      if (!hasState(error, ...NO_OBJECT)) throw error
    }
  },
})
