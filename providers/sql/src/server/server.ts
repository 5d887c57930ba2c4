import type { ConnectContext, CountChange } from '@crosstie/resources/provider'
import type pg from 'pg'
import { type Attempt, explained } from './errors.js'
import { Sessions } from './sessions.js'
import { type Target, targetOf } from './target.js'

export interface Where extends Attempt {
  /** Absent: the default database. */
  readonly database?: string | undefined
  readonly signal: AbortSignal
}

/** What a server can do and what we may do there. */
export interface ServerFacts {
  /** 150004 is 15.4. */
  readonly version: number
  /** May we read how passwords are stored? Mostly that takes a superuser. */
  readonly seesPasswords: boolean
}

const UNUSED_MS = 60_000
/** Servers are upgraded, and users given more rights. */
const FACTS_MS = 300_000

/** 150004 is 15.4; before 10 there were three parts, 90624 is 9.6.24. */
export function versionText(version: number): string {
  const [major, minor] = [Math.trunc(version / 10_000), version % 10_000]
  return major >= 10 ? `${major}.${minor}` : `${major}.${Math.trunc(minor / 100)}.${minor % 100}`
}

/** One PostgreSQL server, as one user. */
export class Server {
  readonly #sessions: Sessions
  #facts: ServerFacts | undefined
  #factsUntil = 0
  /** How many statements were sent so far. */
  statements = 0
  usedAt = Date.now()

  /** Where sessions and facts are kept: this server, or the one that this is a view of. */
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

  /** The same server for one reconciliation, which counts the statements that change something. */
  counting(changing: CountChange): Server {
    return new Server(this.target, { of: this.#shared, changing })
  }

  get connections(): Sessions['count'] {
    return this.#sessions.count
  }

  /** Rows of one statement, with its parameters handed over apart. */
  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[], where: Where): Promise<R[]> {
    return await this.#attempt(where, async (client) => {
      this.#shared.statements++
      return (await client.query<R>(text, [...values])).rows
    })
  }

  /** Several statements, all of them or none. Alone, also one that does not go into a transaction. */
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

/** Kept by revision: a change of ProviderConfig or credentials makes a new one, and the old one's sessions soon end. */
const servers = new Map<string, Server>()

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
