import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { KubeObject } from '@crosstie/kube'
import type { ProviderHost } from '@crosstie/resources/provider'
import { FakeApi } from '@crosstie/resources/testing'
import pg from 'pg'
import { providerConfig } from '../config.js'
import { secretType } from '../testing/keeper.js'
import { findBinaries, serverAccount } from './binaries.js'
import { type Login, type RunningServer, startPostgres } from './server.js'
import { startEmbedded } from './start.js'

const account = serverAccount()
const binaries = findBinaries(account)

async function query(login: Login, text: string): Promise<unknown[]> {
  const client = new pg.Client({ ...login, database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 180_000; !(await look()); ) {
    if (Date.now() > deadline) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a PostgreSQL of our own', { timeout: 900_000 }, () => {
  let dir: string
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'crosstie-embedded-'))
  })
  after(async () => {
    await rm(dir, { recursive: true, force: true })
  })
  const start = async (folder = join(dir, 'server')): Promise<RunningServer> =>
    await startPostgres({ binaries, dir: folder, account, volatile: true })

  test('listens on loopback only, keeps data, port and password, and stops cleanly', async () => {
    const first = await start()
    await query(first.login, 'CREATE TABLE kept AS SELECT 42 AS number')
    assert.deepEqual(await query(first.login, "SELECT current_setting('listen_addresses') AS at"), [
      { at: '127.0.0.1' },
    ])
    await assert.rejects(query({ ...first.login, password: 'wrong' }, 'SELECT 1'), { code: '28P01' })
    assert.equal((await stat(join(dir, 'server', 'password'))).mode & 0o777, 0o600)
    assert.equal((await stat(join(dir, 'server'))).mode & 0o777, 0o700)
    await first[Symbol.asyncDispose]()
    await until('it is gone', () => !isRunning(first.pid))

    const second = await start()
    try {
      assert.deepEqual(second.login, first.login)
      assert.deepEqual(await query(second.login, 'SELECT number FROM kept'), [{ number: 42 }])
      const log = await readFile(join(dir, 'server', 'server.log'), 'utf8')
      assert.ok(!log.includes('was not properly shut down'), 'it was stopped cleanly')
    } finally {
      await second[Symbol.asyncDispose]()
    }
  })

  test('ends when its owner is killed, and the next one loses nothing', async () => {
    const folder = join(dir, 'killed')
    const module = fileURLToPath(new URL('./server.js', import.meta.url))
    const program = `
      import { startPostgres } from ${JSON.stringify(module)}
      const server = await startPostgres(${JSON.stringify({ binaries, dir: folder, account, volatile: true })})
      console.log(JSON.stringify({ login: server.login, pid: server.pid }))
      setInterval(() => {}, 1000)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [chunk] = (await once(owner.stdout, 'data')) as [Buffer]
      const { login, pid } = JSON.parse(chunk.toString()) as { login: Login; pid: number }
      await query(login, 'CREATE TABLE kept AS SELECT 43 AS number')
      owner.kill('SIGKILL')
      await until('the server ends with its owner', () => !isRunning(pid))
      await using next = await start(folder)
      assert.deepEqual(next.login, login)
      assert.deepEqual(await query(next.login, 'SELECT number FROM kept'), [{ number: 43 }])
    } finally {
      owner.kill('SIGKILL')
    }
  })

  test('there is never a second server on a folder: one that was left is stopped first', async () => {
    const folder = join(dir, 'left')
    const left = await start(folder)
    await query(left.login, 'CREATE TABLE kept AS SELECT 44 AS number')
    await using next = await start(folder)
    await until('the first one is gone', () => !isRunning(left.pid))
    assert.notEqual(next.pid, left.pid)
    assert.deepEqual(await query(next.login, 'SELECT number FROM kept'), [{ number: 44 }])
  })

  test('a process that merely has the number of an old server is left alone', async () => {
    const folder = join(dir, 'recycled')
    await (await start(folder))[Symbol.asyncDispose]()
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    try {
      await once(other, 'spawn')
      await writeFile(join(folder, 'data', 'postmaster.pid'), `${other.pid}\n${folder}/data\n0\n5432\n\n\n\n\n`)
      await using next = await start(folder)
      assert.equal(isRunning(other.pid!), true)
      await query(next.login, 'SELECT 1')
    } finally {
      other.kill('SIGKILL')
    }
  })

  test('another port is taken when that of last time is not free', async () => {
    const folder = join(dir, 'port')
    const first = await start(folder)
    await first[Symbol.asyncDispose]()
    const other = createServer().listen(first.login.port, '127.0.0.1')
    try {
      await once(other, 'listening')
      await using next = await start(folder)
      assert.notEqual(next.login.port, first.login.port)
      await query(next.login, 'SELECT 1')
    } finally {
      other.close()
    }
  })

  test('a password that does not fit the data is told', async () => {
    const folder = join(dir, 'forgotten')
    await (await start(folder))[Symbol.asyncDispose]()
    await rm(join(folder, 'password'))
    await assert.rejects(start(folder), /does not start: password authentication failed/)
  })

  const hostOn = (client: FakeApi, folder: string): ProviderHost => ({
    client,
    dataDir: join(dir, folder),
    env: {},
    log: () => {},
    signal: AbortSignal.timeout(600_000),
  })

  test('is offered as ProviderConfig default, and taken out of use at the end', async () => {
    const api = new FakeApi()
    // As on a server, apply creates the object.
    api.apply = (async (type, object) => await api.create(type, object as KubeObject)) as typeof api.apply
    const started = await startEmbedded(hostOn(api, 'offered'))
    try {
      assert.match(started.summary, /^PostgreSQL on 127\.0\.0\.1:\d+ \(ProviderConfig default\)$/)
      const { spec } = api.peek(providerConfig.type, { name: 'default' }) as unknown as { spec: Offered }
      const { data } = api.peek(secretType, spec.credentials.secretRef) as unknown as { data: Record<string, string> }
      const value = (key: string) => Buffer.from(data[key]!, 'base64').toString()
      const login = {
        host: value('endpoint'),
        port: Number(value('port')),
        user: value('username'),
        password: value('password'),
      }
      assert.deepEqual(await query(login, 'SELECT 1 AS one'), [{ one: 1 }])
      assert.ok(!started.summary.includes(login.password))
    } finally {
      await started[Symbol.asyncDispose]()
    }
  })

  test('is not started where the user has a ProviderConfig default of their own', async () => {
    const api = new FakeApi()
    const { type } = providerConfig
    await api.create(type, {
      apiVersion: `${type.group}/${type.version}`,
      kind: type.kind,
      metadata: { name: 'default' },
    })
    await using started = await startEmbedded(hostOn(api, 'theirs'))
    assert.match(started.summary, /is yours, no server was started/)
    await assert.rejects(stat(join(dir, 'theirs')))
  })
})

interface Offered {
  readonly credentials: { readonly secretRef: { readonly name: string; readonly namespace: string } }
}
