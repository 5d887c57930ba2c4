import pg from 'pg'
import type { Target } from './target.js'

/** The maximum number of connections to one server, for all its databases. */
const MAX = 5
const IDLE_MS = 10_000
const CONNECT_MS = 10_000

interface Session {
  readonly database: string
  readonly client: pg.Client
  broken: boolean
  idle?: NodeJS.Timeout
}

/**
 * Sessions with one server, kept for a short time after use. A session belongs to one database. A pool per database
 * would need as many connections as there are databases, so all share a few.
 */
export class Sessions {
  readonly #target: Target
  readonly #idle: Session[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  #made = 0

  constructor(target: Target) {
    this.#target = target
  }

  /** The number of open connections, and of all connections so far. */
  get count(): { readonly open: number; readonly made: number } {
    return { open: this.#open, made: this.#made }
  }

  /**
   * Runs an operation in a session of the database. If the signal aborts, the session is closed and the operation
   * fails.
   */
  async use<T>(database: string, signal: AbortSignal, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const session = await this.#acquire(database, signal)
    if (signal.aborted) this.#release(session)
    signal.throwIfAborted()
    const abort = () => {
      session.broken = true
      void session.client.end().catch(() => {})
    }
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await work(session.client)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
      this.#release(session)
    }
  }

  /** Closes idle sessions of a database, which would block its drop. */
  async leave(database: string): Promise<void> {
    await Promise.all(this.#idle.filter((session) => session.database === database).map((s) => this.#close(s)))
  }

  async #acquire(database: string, signal: AbortSignal): Promise<Session> {
    for (;;) {
      signal.throwIfAborted()
      const kept = this.#idle.findLast((session) => session.database === database)
      if (kept) return this.#take(kept)
      if (this.#open < MAX) return await this.#connect(database)
      const other = this.#idle[0]
      if (other) await this.#close(other)
      else await this.#turn(signal)
    }
  }

  #take(session: Session): Session {
    this.#idle.splice(this.#idle.indexOf(session), 1)
    clearTimeout(session.idle)
    hold(session)
    return session
  }

  async #connect(database: string): Promise<Session> {
    this.#open++
    try {
      const client = await connect(this.#target, database)
      this.#made++
      const session: Session = { database, client, broken: false }
      const lost = () => {
        session.broken = true
        if (this.#idle.includes(session)) void this.#close(session)
      }
      client.on('error', lost)
      client.on('end', lost)
      return session
    } catch (error) {
      this.#open--
      this.#wake()
      throw error
    }
  }

  #release(session: Session): void {
    if (session.broken) {
      this.#open--
      void session.client.end().catch(() => {})
    } else {
      session.idle = setTimeout(() => void this.#close(session), IDLE_MS).unref()
      // An idle session does not keep the process running.
      letGo(session)
      this.#idle.push(session)
    }
    this.#wake()
  }

  async #close(session: Session): Promise<void> {
    const at = this.#idle.indexOf(session)
    if (at < 0) return
    this.#idle.splice(at, 1)
    clearTimeout(session.idle)
    this.#open--
    hold(session)
    await session.client.end().catch(() => {})
    this.#wake()
  }

  #wake(): void {
    this.#waiting.shift()?.()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const mine = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(mine), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(mine)
    })
  }
}

/** Methods of the driver that are missing in its types. */
type Referenced = { ref(): void; unref(): void }
const hold = ({ client }: Session) => (client as unknown as Referenced).ref()
const letGo = ({ client }: Session) => (client as unknown as Referenced).unref()

/** Connects. `prefer` is the default of libpq: encrypted if the server supports it, otherwise plain. */
async function connect(target: Target, database: string): Promise<pg.Client> {
  const { sslMode } = target
  if (sslMode !== 'prefer') return await connectOnce(target, database, sslMode !== 'disable')
  try {
    return await connectOnce(target, database, true)
  } catch (error) {
    if (!/does not support SSL/.test(error instanceof Error ? error.message : '')) throw error
    return await connectOnce(target, database, false)
  }
}

async function connectOnce(target: Target, database: string, encrypted: boolean): Promise<pg.Client> {
  const { host, port, user, password, tls } = target
  const client = new pg.Client({
    host,
    port,
    user,
    // Without a password the driver would search the environment and files of the user.
    password: password ?? '',
    database,
    ssl: encrypted ? tls : false,
    application_name: 'crosstie',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    // The owner of a database can set the search path and place functions there that this session would run.
    await client.query("SELECT pg_catalog.set_config('search_path', 'pg_catalog', false)")
    return client
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
}
