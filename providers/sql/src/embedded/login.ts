import pg from 'pg'
import type { Login } from './server.js'

/** Returns the reason why the login fails, or undefined if it succeeds. */
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

/** Reports whether an error means that the server is starting, and not that another server answers. */
export function isStarting(error: Error): boolean {
  const { code = '' } = error as { code?: string }
  // Refused: not listening yet. 57P03: recovering. Without a code: timed out.
  return ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', '57P03', ''].includes(code)
}

/** Reports whether an error of Node has a code. */
export function isNodeError(error: unknown, code: string): boolean {
  return (error as { code?: unknown }).code === code
}
