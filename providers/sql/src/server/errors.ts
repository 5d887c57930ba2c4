import { messageOf } from '@crosstie/kube'
import { ThrottledError } from '@crosstie/resources/provider'
import type { Target } from './target.js'

/** An error of PostgreSQL or of the connection: the attempt, the message of the server and the next step. */
export class SqlError extends Error {
  override readonly name = 'SqlError'

  constructor(
    message: string,
    /** The SQLSTATE, or the code of the network error. */
    readonly sqlState: string,
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** An attempted operation. */
export interface Attempt {
  /** The operation after "cannot", such as `drop database "x"`. */
  readonly what: string
  /** The next step by error code, if the kind knows a better one. */
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

/** Returns an error that a user can act on. It never contains the statement, which may contain a secret. */
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

/** Reports whether an error has one of the codes. */
export const hasState = (error: unknown, ...states: readonly string[]): boolean =>
  error instanceof SqlError && states.includes(error.sqlState)

/** The database does not exist. */
export const NO_DATABASE = '3D000'
/** The role, schema, extension, table or function does not exist. */
export const NO_OBJECT = ['42704', '3F000', '42P01', '42883'] as const
