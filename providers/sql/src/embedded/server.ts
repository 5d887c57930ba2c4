import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, openSync, statSync, unlinkSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import type { Account } from './binaries.js'
import { isNodeError, isStarting, tryLogin } from './login.js'

/** Options of {@link startPostgres}. */
export interface ServerOptions {
  /** The folder with `bin/postgres` and `bin/initdb`. */
  readonly binaries: string
  /** The folder of the server. It is created if it does not exist. */
  readonly dir: string
  readonly account?: Account | undefined
  /** More settings, as `name=value`. */
  readonly settings?: readonly string[]
  /** Do not sync data to the disk. For tests. */
  readonly volatile?: boolean
  readonly signal?: AbortSignal
}

/** The address and the superuser of a server. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

/** A running server. Disposing stops it. */
export interface RunningServer extends AsyncDisposable {
  readonly login: Login
  readonly pid: number
}

const HOST = '127.0.0.1'
const SUPERUSER = 'crosstie'
const PORT_ATTEMPTS = 5
const STOP_MS = 30_000
const POLL_MS = 25

const settings = [
  `listen_addresses=${HOST}`,
  'unix_socket_directories=',
  'password_encryption=scram-sha-256',
  // A failed statement may contain a secret, so it is not logged.
  'log_min_error_statement=panic',
]

const volatileSettings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'shared_buffers=16MB']

/**
 * Starts a PostgreSQL server. Its data folder is created on the first start. The server listens on loopback, with a
 * password that only the owner of the folder can read. It stops with this process, even if the process is killed. A
 * server of an earlier process on the same folder is stopped first.
 */
export async function startPostgres(options: ServerOptions): Promise<RunningServer> {
  const { dir } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const password = await keptPassword(dir)
  const data = join(dir, 'data')
  if (!(await exists(data))) await initialize(options, data, password)
  const loginAt = (port: number): Login => ({ host: HOST, port, user: SUPERUSER, password })

  await stop(await leftRunning(data), data)
  await rm(join(data, 'postmaster.pid'), { force: true })

  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(dir, attempt > 1)
    const child = launch({ ...options, account: await ownerOf(data, options) }, data, port)
    const watcher = child.pid === undefined ? undefined : endWithUs(child.pid)
    const alive = async () => child.pid !== undefined && child.exitCode === null && child.signalCode === null
    const refusal = await whyNotIn(loginAt(port), alive, options.signal)
    if (!refusal) {
      await writeFile(join(dir, 'port'), `${port}\n`)
      return {
        login: loginAt(port),
        pid: child.pid!,
        async [Symbol.asyncDispose]() {
          await stop(child.pid, data)
          watcher?.kill()
        },
      }
    }
    watcher?.kill()
    await stop(child.pid, data)
    options.signal?.throwIfAborted()
    if (attempt >= PORT_ATTEMPTS) {
      const said = (await readFile(join(dir, 'server.log'), 'utf8').catch(() => '')).trim().split('\n').slice(-3)
      throw new Error(`PostgreSQL in ${dir} does not start: ${refusal.message}; it said: ${said.join(' / ')}`)
    }
  }
}

/** Returns the account that runs the server: only the owner of a data folder can. */
async function ownerOf(data: string, { account }: ServerOptions): Promise<Account | undefined> {
  if (!account) return undefined
  const { uid, gid } = await stat(data)
  return uid === 0 ? account : { uid, gid }
}

/** Returns the password of the superuser, which is created once. Only readers of the folder can read it. */
async function keptPassword(dir: string): Promise<string> {
  const file = join(dir, 'password')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (!isNodeError(error, 'ENOENT')) throw error
  }
  const password = randomBytes(24).toString('base64url')
  await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  return password
}

/** Creates the data folder under a temporary name, so that an existing one is always complete. */
async function initialize(options: ServerOptions, data: string, password: string): Promise<void> {
  const { account, binaries, dir, volatile } = options
  const unfinished = `${data}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await chmod(unfinished, 0o700)
  if (account) await chown(unfinished, account.uid, account.gid)
  const file = join(dir, 'password.initdb')
  await writeFile(file, `${password}\n`, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
  const passwordFile = openSync(file, 'r')
  unlinkSync(file)
  const args = [
    `--pgdata=${seenFromWithin(unfinished, account)}`,
    `--username=${SUPERUSER}`,
    '--auth=scram-sha-256',
    '--pwfile=/dev/fd/3',
    '--encoding=UTF8',
    process.platform === 'linux' ? '--locale=C.UTF-8' : '--no-locale',
    '--no-instructions',
    ...(volatile ? ['--no-sync'] : []),
  ]
  try {
    const child = spawn(join(binaries, 'bin', 'initdb'), args, {
      cwd: unfinished,
      ...account,
      stdio: ['ignore', 'ignore', 'pipe', passwordFile],
      env: environment(),
    })
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const code = await ended(child)
    if (code !== 0) throw new Error(`cannot make a PostgreSQL in ${dir}: ${said.trim() || `initdb ended with ${code}`}`)
  } finally {
    closeSync(passwordFile)
  }
  await rename(unfinished, data)
}

/**
 * Returns the data folder as the server names it. As another user it cannot enter the parent folders, so it uses
 * its working directory.
 */
function seenFromWithin(data: string, account: Account | undefined): string {
  return account && process.platform === 'linux' && !isOpenToAll(dirname(data)) ? '/proc/self/cwd' : data
}

function isOpenToAll(folder: string): boolean {
  const passable = (statSync(folder).mode & 0o001) !== 0
  return passable && (dirname(folder) === folder || isOpenToAll(dirname(folder)))
}

/**
 * Returns an environment without variables that change the server (PGDATA, PGPORT and others) or that it should not
 * see.
 */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: process.env['TZ'], LC_ALL: 'C' }
}

function launch({ binaries, dir, account, volatile, ...options }: ServerOptions, data: string, port: number) {
  const all = [...settings, ...(volatile ? volatileSettings : []), ...(options.settings ?? [])]
  const args = ['-D', seenFromWithin(data, account), '-p', String(port), ...all.flatMap((setting) => ['-c', setting])]
  const log = openSync(join(dir, 'server.log'), 'w', 0o600)
  const child = spawn(join(binaries, 'bin', 'postgres'), args, {
    cwd: data,
    ...account,
    // In its own session, so that Ctrl-C does not reach it. It is stopped after its last use.
    detached: true,
    stdio: ['ignore', log, log],
    env: environment(),
  })
  child.on('error', () => {})
  child.unref()
  closeSync(log)
  return child
}

/** Returns a free port: the previous one if possible, so that connection strings stay valid. */
async function choosePort(dir: string, another: boolean): Promise<number> {
  const kept = Number(await readFile(join(dir, 'port'), 'utf8').catch(() => ''))
  if (kept > 0 && !another && (await freePort(kept))) return kept
  return (await freePort(0))!
}

function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, HOST, () => {
      const address = server.address() as { port: number }
      server.close(() => resolve(address.port))
    })
  })
}

/** Returns the process id in the data folder, which may be stale. */
async function leftRunning(data: string): Promise<number | undefined> {
  const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  return pid > 0 ? pid : undefined
}

/** Reports whether a process is the server of this folder. Process ids are reused. */
async function isPostmaster(pid: number, data: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!isNodeError(error, 'EPERM')) return false
  }
  if (process.platform !== 'linux')
    return /postgres/.test(spawnSync('ps', ['-o', 'comm=', '-p', String(pid)]).stdout?.toString() ?? '')
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(data))
  } catch {
    return false
  }
}

/** Waits until the login succeeds. Returns the reason if it cannot: the server ended, or rejects the password. */
async function whyNotIn(
  login: Login,
  alive: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<Error | undefined> {
  for (;;) {
    const error = await tryLogin(login)
    if (!error || signal?.aborted || !(await alive()) || !isStarting(error)) return error
    await pause()
  }
}

/** Performs a fast shutdown: ends sessions and writes everything. */
async function stop(pid: number | undefined, data: string): Promise<void> {
  if (pid === undefined || !(await isPostmaster(pid, data))) return
  process.kill(pid, 'SIGINT')
  for (const deadline = Date.now() + STOP_MS; await isPostmaster(pid, data); await pause()) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) does not stop`)
  }
}

/** Starts a shell that stops the server when a pipe of this process closes, even if this process is killed. */
function endWithUs(pid: number): ChildProcess {
  const watcher = spawn('sh', ['-c', `cat >/dev/null; kill -INT ${pid} 2>/dev/null`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.on('error', () => {})
  watcher.unref()
  ;(watcher.stdin as unknown as { unref(): void }).unref()
  return watcher
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_MS))

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
