import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ManagedKind } from '@crosstie/resources/provider'
import pg from 'pg'
import { findBinaries, serverAccount } from '../embedded/binaries.js'
import { type Login, startPostgres } from '../embedded/server.js'
import { Server } from '../server/server.js'
import { debianPostgres } from './debian.js'

/** A server for one test. Disposing removes it. */
export class TestServer implements AsyncDisposable {
  readonly server: Server

  private constructor(
    readonly login: Login,
    private readonly dir: string,
    private readonly close: () => Promise<void>,
  ) {
    this.server = this.as(login)
  }

  static async start(binaries: string, settings: readonly string[] = []): Promise<TestServer> {
    const dir = await mkdtemp(join(tmpdir(), 'crosstie-sql-'))
    // Before version 16, a server must be able to enter all parent folders.
    await chmod(dir, 0o711)
    const account = serverAccount()
    try {
      const running = await startPostgres({ binaries, dir, account, settings, volatile: true })
      return new TestServer(running.login, dir, async () => {
        await running[Symbol.asyncDispose]()
        await rm(dir, { recursive: true, force: true })
      })
    } catch (error) {
      await rm(dir, { recursive: true, force: true })
      throw error
    }
  }

  /** Returns a connection as a kind would use it. */
  as({ host, port, user, password }: Login): Server {
    return new Server({ host, port, user, password, database: 'postgres', sslMode: 'disable', tls: {} })
  }

  /** Returns the log of the server. */
  async log(): Promise<string> {
    return await readFile(join(this.dir, 'server.log'), 'utf8')
  }

  /** Runs a query without the code under test. */
  async sql<R extends pg.QueryResultRow = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
    login: Partial<Login> & { readonly database?: string } = {},
  ): Promise<R[]> {
    const client = new pg.Client({ ...this.login, database: 'postgres', ...login })
    await client.connect()
    try {
      return (await client.query<R>(text, [...values])).rows
    } finally {
      await client.end()
    }
  }

  /** Returns the kind with a connection to this server. */
  connected(kind: ManagedKind, server: Server = this.server): ManagedKind {
    const external = Object.assign(Object.create(kind.external) as typeof kind.external, { connect: () => server })
    return { ...kind, providerConfig: undefined, external }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** A PostgreSQL to test with. */
export interface Variant {
  readonly name: string
  /** The reason why it cannot be tested here. */
  readonly skip: string | false
  /** Starts a server, with additional settings as `name=value`. */
  start(settings?: readonly string[]): Promise<TestServer>
}

/** Returns the embedded PostgreSQL. */
export function embeddedVariant(): Variant {
  return {
    name: 'PostgreSQL of npm',
    skip: false,
    start: (settings) => TestServer.start(findBinaries(serverAccount()), settings),
  }
}

/** Returns the embedded PostgreSQL, and the older one of Debian. */
export function variants(): readonly Variant[] {
  const debian = debianPostgres()
  const other =
    'folder' in debian
      ? { skip: false as const, start: (settings?: readonly string[]) => TestServer.start(debian.folder, settings) }
      : { skip: debian.missing, start: () => Promise.reject(new Error(debian.missing)) }
  return [embeddedVariant(), { name: 'PostgreSQL of Debian', ...other }]
}
