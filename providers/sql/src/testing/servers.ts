import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ManagedKind } from '@crosstie/resources/provider'
import pg from 'pg'
import { findBinaries, serverAccount } from '../embedded/binaries.js'
import { type Login, startPostgres } from '../embedded/server.js'
import { Server } from '../server/server.js'
import { debianPostgres } from './debian.js'

/** A server of a test's own, gone with the test, whatever becomes of it. */
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
    // Before version 16 a server must be able to pass all folders above its own.
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

  /** As a kind would reach it. */
  as({ host, port, user, password }: Login): Server {
    return new Server({ host, port, user, password, database: 'postgres', sslMode: 'disable', tls: {} })
  }

  /** All that the server wrote to its log. */
  async log(): Promise<string> {
    return await readFile(join(this.dir, 'server.log'), 'utf8')
  }

  /** Asks past our own code. */
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

  /** The kind, on this server. */
  connected(kind: ManagedKind, server: Server = this.server): ManagedKind {
    const external = Object.assign(Object.create(kind.external) as typeof kind.external, { connect: () => server })
    return { ...kind, providerConfig: undefined, external }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

export interface Variant {
  readonly name: string
  /** Why it cannot be tried here. */
  readonly skip: string | false
  /** With settings of its own, as `name=value`. */
  start(settings?: readonly string[]): Promise<TestServer>
}

export function embeddedVariant(): Variant {
  return {
    name: 'PostgreSQL of npm',
    skip: false,
    start: (settings) => TestServer.start(findBinaries(serverAccount()), settings),
  }
}

/** The PostgreSQL that we bring, and the older one that Debian has. */
export function variants(): readonly Variant[] {
  const debian = debianPostgres()
  const other =
    'folder' in debian
      ? { skip: false as const, start: (settings?: readonly string[]) => TestServer.start(debian.folder, settings) }
      : { skip: debian.missing, start: () => Promise.reject(new Error(debian.missing)) }
  return [embeddedVariant(), { name: 'PostgreSQL of Debian', ...other }]
}
