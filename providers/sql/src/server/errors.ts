import { messageOf } from '@crosstie/kube'
import { ThrottledError } from '@crosstie/resources/provider'
import type { Target } from './target.js'

/** What PostgreSQL, or the way to it, refused: what was attempted, what it said, and what to do. */
export class SqlError extends Error {
  override readonly name = 'SqlError'

  constructor(
    message: string,
    /** SQLSTATE, or the code of the network's error. */
    readonly sqlState: string,
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

export interface Attempt {
  /** What was being done, behind "cannot": `drop database "x"`. */
  readonly what: string
  /** What to do about an error of a code, where the kind knows better. */
  readonly advice?: Readonly<Record<string, string>>
}

const DETAIL = 400

const unreachable = ({ host, port }: Target) =>
  `nothing answers at ${host}:${port}: is the server running, and are endpoint and port of the ProviderConfig right?`

const credentials = ({ user }: Target) =>
  `the server does not let ${JSON.stringify(user)} in: check username and password in the credentials of the ProviderConfig`

const general: Readonly<Record<string, (target: Target) => string>> = {
  '28P01': credentials,
  '28000': credentials,
  '42501': ({ user }) =>
    `${JSON.stringify(user)} lacks a privilege: grant it (the page of the kind lists what is needed), ` +
    'or use credentials that have it',
  '53300': () => 'the server has no connection to spare: it is tried again more slowly',
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
}

/** An error as a user can act on it. Statements are never part of it: they may hold what nobody should read. */
export function explained(error: unknown, target: Target, { what, advice = {} }: Attempt): Error {
  const { code = '', detail } = error as { code?: string; detail?: string }
  const said = [messageOf(error) || code, ...(detail ? [shortened(detail)] : [])].join(': ')
  const next = advice[code] ?? general[code]?.(target)
  const message = `cannot ${what}: ${said}${next ? ` (${next})` : ''}`
  if (code === '53300') return new ThrottledError(message, { cause: error })
  return new SqlError(message, code, { cause: error })
}

const shortened = (text: string) => {
  const line = text.replace(/\s*\n\s*/g, '; ')
  return line.length > DETAIL ? `${line.slice(0, DETAIL)}…` : line
}

export const hasState = (error: unknown, ...states: readonly string[]): boolean =>
  error instanceof SqlError && states.includes(error.sqlState)

/** There is no such database. */
export const NO_DATABASE = '3D000'
/** There is no such role, schema, extension, table, function. */
export const NO_OBJECT = ['42704', '3F000', '42P01', '42883'] as const
