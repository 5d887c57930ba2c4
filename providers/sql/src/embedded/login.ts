import pg from 'pg'
import type { Login } from './server.js'

/** Says why one cannot log in; undefined when one can. */
export async function tryLogin({ host, port, user, password }: Login): Promise<Error | undefined> {
  const client = new pg.Client({ host, port, user, password, database: 'postgres', connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error as Error
  } finally {
    await client.end().catch(() => {})
  }
}

/** Does this mean that a server is on its way, rather than that it is another's? */
export function isStarting(error: Error): boolean {
  const { code = '' } = error as { code?: string }
  // Refused: not listening yet. 57P03: reading its log back in. Without a code: it took too long.
  return ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', '57P03', ''].includes(code)
}

export function isNodeError(error: unknown, code: string): boolean {
  return (error as { code?: unknown }).code === code
}
