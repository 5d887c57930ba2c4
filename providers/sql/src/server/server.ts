import type { ConnectContext, CountChange } from '@crosstie/resources/provider'
import type pg from 'pg'
import { type Attempt, explained } from './errors.js'
import { Sessions } from './sessions.js'
import { type Target, targetOf } from './target.js'

/** An operation with its database. */
export interface Where extends Attempt {
  /** The database. Absent: the default database. */
  readonly database?: string | undefined
  readonly signal: AbortSignal
}

/** The capabilities of a server and of the login role. */
export interface ServerFacts {
  /** The version number: 150004 is 15.4. */
  readonly version: number
  /** Whether the login role can read stored passwords. Usually only a superuser can. */
  readonly seesPasswords: boolean
}

const UNUSED_MS = 60_000
/** The lifetime of cached capabilities: servers are upgraded, and users get more rights. */
const FACTS_MS = 300_000

/** Formats a version number: 150004 is 15.4. Before version 10 there were three parts: 90624 is 9.6.24. */
export function versionText(version: number): string {
  const [major, minor] = [Math.trunc(version / 10_000), version % 10_000]
  return major >= 10 ? `${major}.${minor}` : `${major}.${Math.trunc(minor / 100)}.${minor % 100}`
}

/** A connection to one PostgreSQL server as one user. */
export class Server {
  readonly #sessions: Sessions
  #facts: ServerFacts | undefined
  #factsUntil = 0
  /** The number of sent statements. */
  statements = 0
  usedAt = Date.now()

  /** The server that holds sessions and capabilities: this one, or the one that this is a view of. */
  readonly #shared: Server
  readonly #changing: CountChange

  constructor(
    readonly target: Target,
    view?: { readonly of: Server; readonly changing: CountChange },
  ) {
    this.#sessions = view ? view.of.#sessions : new Sessions(target)
    this.#shared = view?.of ?? this
    this.#changing = view?.changing ?? (() => {})
  }

  /** The server that holds the sessions, the same for every view of it. */
  get shared(): Server {
    return this.#shared
  }

  /** Returns a view for one reconciliation, which counts statements that change something. */
  counting(changing: CountChange): Server {
    return new Server(this.target, { of: this.#shared, changing })
  }

  get connections(): Sessions['count'] {
    return this.#sessions.count
  }

  /** Returns the rows of one statement. Parameters are sent separately. Throws a SqlError. */
  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[], where: Where): Promise<R[]> {
    return await this.#attempt(where, async (client) => {
      this.#shared.statements++
      return (await client.query<R>(text, [...values])).rows
    })
  }

  /** Runs statements in one transaction. A single statement runs without one. Throws a SqlError. */
  async run(statements: readonly string[], where: Where): Promise<void> {
    if (statements.length === 0) return
    this.#changing()
    await this.#attempt(where, async (client) => {
      this.#shared.statements += statements.length
      await client.query(statements.join(';\n'))
    })
  }

  async leave(database: string): Promise<void> {
    await this.#sessions.leave(database)
  }

  async facts(signal: AbortSignal): Promise<ServerFacts> {
    const shared = this.#shared
    if (!shared.#facts || Date.now() > shared.#factsUntil) {
      shared.#facts = await this.#ask(signal)
      shared.#factsUntil = Date.now() + FACTS_MS
    }
    return shared.#facts
  }

  async #ask(signal: AbortSignal): Promise<ServerFacts> {
    const [row] = await this.query<{ version: string; sees: boolean }>(
      `SELECT current_setting('server_version_num') AS version,
              has_table_privilege('pg_catalog.pg_authid', 'SELECT') AS sees`,
      [],
      { what: 'ask the server for its version', signal },
    )
    return { version: Number(row!.version), seesPasswords: row!.sees }
  }

  async #attempt<T>(where: Where, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const { database = this.target.database, signal } = where
    try {
      return await this.#sessions.use(database, signal, work)
    } catch (error) {
      if (signal.aborted) throw error
      throw explained(error, this.target, where)
    }
  }
}

/**
 * Servers by revision: a change of the ProviderConfig or the credentials creates a new one, and the old sessions
 * end soon.
 */
const servers = new Map<string, Server>()

/** Returns the server of a ProviderConfig. */
export function connect({ config, trackChanges }: ConnectContext): Server {
  if (!config) throw new Error('PostgreSQL needs a ProviderConfig')
  const now = Date.now()
  for (const [revision, { usedAt }] of servers) if (now - usedAt > UNUSED_MS) servers.delete(revision)
  let server = servers.get(config.revision)
  if (!server) {
    server = new Server(targetOf(config))
    servers.set(config.revision, server)
  }
  server.usedAt = now
  return server.counting(trackChanges())
}
