import { absent, type ExternalCall, type Observed, present } from '@crosstie/resources/provider'
import { hasState, NO_OBJECT } from '../server/errors.js'
import { ident } from '../server/quote.js'
import type { Server } from '../server/server.js'

interface Given {
  readonly withOption?: 'GRANT' | 'ADMIN' | 'NONE'
  readonly inheritOption?: boolean
  readonly setOption?: boolean
}

interface Row {
  readonly m: { readonly admin_option: boolean; readonly inherit_option?: boolean; readonly set_option?: boolean }
}

/** The version from which on memberships have the options INHERIT and SET. */
const WITH_OPTIONS = 160000

interface Membership {
  readonly role: string
  readonly memberOf: string
  readonly withOption: 'ADMIN' | 'NONE'
  readonly inheritOption?: boolean
  readonly setOption?: boolean
}

/** Observes a membership. */
export async function lookAtMembership(
  { client, signal }: ExternalCall<Given, Server>,
  role: string,
  memberOf: string,
): Promise<Observed<Membership>> {
  const rows = await client.query<Row>(
    `SELECT to_jsonb(m) AS m FROM pg_auth_members m
       JOIN pg_roles g ON g.oid = m.roleid JOIN pg_roles r ON r.oid = m.member
      WHERE r.rolname = $1 AND g.rolname = $2`,
    [role, memberOf],
    { what: `look at the membership of ${JSON.stringify(role)} in ${JSON.stringify(memberOf)}`, signal },
  )
  if (rows.length === 0) return absent
  // Several roles may have granted it. The union of their options applies.
  const some = (option: keyof Row['m']) => rows.some(({ m }) => m[option] === true)
  const known = rows[0]!.m.inherit_option !== undefined
  return present({
    ready: true,
    atProvider: {
      role,
      memberOf,
      withOption: some('admin_option') ? 'ADMIN' : 'NONE',
      ...(known ? { inheritOption: some('inherit_option'), setOption: some('set_option') } : {}),
    },
  })
}

/** Grants a membership. */
export async function grantMembership(
  call: ExternalCall<Given & { readonly role: string; readonly memberOf: string }, Server>,
): Promise<void> {
  const { client, forProvider, signal } = call
  const { role, memberOf, withOption, inheritOption, setOption } = forProvider
  const { version } = await client.facts(signal)
  if (version < WITH_OPTIONS && (inheritOption !== undefined || setOption !== undefined))
    throw new Error('inheritOption and setOption need PostgreSQL 16: take them out')
  const grant = `GRANT ${ident(memberOf)} TO ${ident(role)}`
  const options = [
    ...(withOption === undefined ? [] : [`ADMIN ${withOption === 'ADMIN'}`]),
    ...(inheritOption === undefined ? [] : [`INHERIT ${inheritOption}`]),
    ...(setOption === undefined ? [] : [`SET ${setOption}`]),
  ]
  const old = [
    ...(withOption === 'NONE' ? [`REVOKE ADMIN OPTION FOR ${ident(memberOf)} FROM ${ident(role)}`] : []),
    `${grant}${withOption === 'ADMIN' ? ' WITH ADMIN OPTION' : ''}`,
  ]
  const current = [`${grant}${options.length > 0 ? ` WITH ${options.join(', ')}` : ''}`]
  const what = `make ${JSON.stringify(role)} a member of ${JSON.stringify(memberOf)}`
  await client.run(version < WITH_OPTIONS ? old : current, { what, signal })
}

/** Revokes a membership. */
export async function revokeMembership(
  { client, signal }: ExternalCall<Given, Server>,
  role: string,
  memberOf: string,
) {
  const what = `take ${JSON.stringify(role)} out of ${JSON.stringify(memberOf)}`
  try {
    await client.run([`REVOKE ${ident(memberOf)} FROM ${ident(role)}`], { what, signal })
  } catch (error) {
    if (!hasState(error, ...NO_OBJECT)) throw error
  }
}
