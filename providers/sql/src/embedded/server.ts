import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, openSync, statSync, unlinkSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import type { Account } from './binaries.js'
import { isNodeError, isStarting, tryLogin } from './login.js'

export interface ServerOptions {
  /** The folder with `bin/postgres` and `bin/initdb`. */
  readonly binaries: string
  /** A folder of the server's own; made if it is not there. */
  readonly dir: string
  readonly account?: Account | undefined
  /** More settings, as `name=value`. */
  readonly settings?: readonly string[]
  /** For servers of tests: nothing is written through to the disk. */
  readonly volatile?: boolean
  readonly signal?: AbortSignal
}

/** How a server is reached, by its superuser. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

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
  // A statement that fails may hold what nobody should read in a log.
  'log_min_error_statement=panic',
]

const volatileSettings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'shared_buffers=16MB']

/**
 * Runs a PostgreSQL of our own: made at first, started, and reached on
 * loopback with a password that only the owner of the folder can read. It ends
 * with us, even when we are killed. There is never a second server on the
 * folder: one that is still there all the same is stopped first.
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

/** Only the owner of a folder can run a server on it: who that is was settled when it was made. */
async function ownerOf(data: string, { account }: ServerOptions): Promise<Account | undefined> {
  if (!account) return undefined
  const { uid, gid } = await stat(data)
  return uid === 0 ? account : { uid, gid }
}

/** The password of the superuser, made once. Only who may read the folder may read it. */
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

/** Makes the data folder under another name, so that one that is there is always whole. */
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
 * How the server itself calls its folder. Run as another user it cannot pass
 * the folders above, which are ours alone; but where it already is, it may stay.
 */
function seenFromWithin(data: string, account: Account | undefined): string {
  return account && process.platform === 'linux' && !isOpenToAll(dirname(data)) ? '/proc/self/cwd' : data
}

function isOpenToAll(folder: string): boolean {
  const passable = (statSync(folder).mode & 0o001) !== 0
  return passable && (dirname(folder) === folder || isOpenToAll(dirname(folder)))
}

/** Nothing of ours that might change what the server is (PGDATA, PGPORT and so on), or that it should not know. */
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
    // Of a session of its own: Ctrl-C is for us, who stop it when nobody needs it any more.
    detached: true,
    stdio: ['ignore', log, log],
    env: environment(),
  })
  child.on('error', () => {})
  child.unref()
  closeSync(log)
  return child
}

/** A port that is free now; the one of last time if it still is, so that connection strings stay good. */
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

/** The process that the folder says is running on it, whether it is or not. */
async function leftRunning(data: string): Promise<number | undefined> {
  const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  return pid > 0 ? pid : undefined
}

/** Is it there, and the server of this folder? Numbers of processes are used again. */
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

/** Waits until the server lets us in. Says why it will not: it ended, or does not know our password. */
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

/** Fast: sessions are ended, everything is written, nothing is to be recovered later. */
async function stop(pid: number | undefined, data: string): Promise<void> {
  if (pid === undefined || !(await isPostmaster(pid, data))) return
  process.kill(pid, 'SIGINT')
  for (const deadline = Date.now() + STOP_MS; await isPostmaster(pid, data); await pause()) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) does not stop`)
  }
}

/** A shell that waits for the end of a pipe that only we hold: it closes even when we are killed. */
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
