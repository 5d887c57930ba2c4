import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreLockedError } from './failures.js'

/** A lock that is held until it is released or the process ends. */
export interface Lock {
  release(): Promise<void>
}

const OWNER = 'owner.json'

/**
 * Makes this process the only one that has the directory open. Throws StoreLockedError. The kernel holds the lock,
 * so a killed process leaves none behind, and process ids, which are ambiguous between containers, are not needed.
 */
export async function lockDirectory(directory: string): Promise<Lock> {
  const lock = process.platform === 'linux' ? await lockOnLinux(directory) : await lockByFile(directory)
  const owner = `${JSON.stringify({ pid: process.pid })}\n`
  // For the message of a refused process only. A full disk must not prevent opening.
  await fs.promises.writeFile(join(directory, OWNER), owner, { mode: 0o600 }).catch(() => {})
  return lock
}

async function lockedBy(directory: string): Promise<StoreLockedError> {
  let pid: number | undefined
  try {
    pid = (JSON.parse(await fs.promises.readFile(join(directory, OWNER), 'utf8')) as { pid?: number }).pid
  } catch {
    // The owner is about to write its id, or the file is not readable. The lock decides.
  }
  return new StoreLockedError(directory, pid)
}

// open(2) of macOS and the BSDs can lock the file. libuv has a flag that denies sharing on Windows. Node exports
// neither constant.
const O_EXLOCK = 0x20
const UV_FS_O_EXLOCK = 0x10000000

async function lockByFile(directory: string): Promise<Lock> {
  const { O_RDWR, O_CREAT, O_NONBLOCK } = fs.constants
  const exclusive = process.platform === 'win32' ? UV_FS_O_EXLOCK : O_EXLOCK | O_NONBLOCK
  let handle: fs.promises.FileHandle
  try {
    handle = await fs.promises.open(join(directory, 'lock'), O_RDWR | O_CREAT | exclusive, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EAGAIN' || code === 'EWOULDBLOCK' || code === 'EBUSY') throw await lockedBy(directory)
    throw error
  }
  return { release: () => handle.close() }
}

const SOCKET = /^lock-[0-9a-f]{24}$/
const UNFINISHED = /^\.lock-[0-9a-f]{24}$/
const UNFINISHED_MS = 60_000
const SOCKET_PATH_MAX = 107
const ATTEMPTS = 5
const NO_SOCKETS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EINVAL', 'ENOSPC', 'EDQUOT'])

/**
 * Linux has no lock that Node can take, but the kernel closes a listening socket with its process. There are two:
 * one with an abstract name, which is visible within a network namespace only, and one in the directory, for
 * containers that share it. Not every file system supports the second.
 */
async function lockOnLinux(directory: string): Promise<Lock> {
  const byName = await lockByName(directory)
  try {
    const bySocket = await lockBySocket(directory)
    return {
      release: async () => {
        await bySocket.release()
        await byName.release()
      },
    }
  } catch (error) {
    if (NO_SOCKETS.has((error as NodeJS.ErrnoException).code ?? '')) return byName
    await byName.release()
    throw error
  }
}

/**
 * A connection to a socket shows whether its process is alive. Each process first creates a socket under a new
 * name, then looks for others. Of two that do so at once, the later sees the earlier. When both see each other,
 * both back off and retry.
 */
export async function lockBySocket(directory: string): Promise<Lock> {
  for (let attempt = 1; ; attempt++) {
    const lock = await announce(directory)
    try {
      if (!(await othersAlive(directory, lock.name))) return lock
    } catch (error) {
      await lock.release()
      throw error
    }
    await lock.release()
    if (attempt === ATTEMPTS) throw await lockedBy(directory)
    await sleep(10 + Math.random() * 40 * attempt)
  }
}

async function announce(directory: string): Promise<Lock & { readonly name: string }> {
  const id = randomBytes(12).toString('hex')
  const name = `lock-${id}`
  const server = net.createServer((socket) => socket.destroy())
  server.unref()
  await inDirectory(directory, async (short) => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: join(short, `.lock-${id}`), exclusive: true }, resolve)
    })
    // Under its final name the socket accepts connections from the start, so it never appears dead.
    await fs.promises.rename(join(directory, `.lock-${id}`), join(directory, name))
  })
  const release = async () => {
    await fs.promises.unlink(join(directory, name)).catch(() => {})
    await new Promise((resolve) => server.close(resolve))
  }
  return { name, release }
}

async function othersAlive(directory: string, own: string): Promise<boolean> {
  for (const name of await fs.promises.readdir(directory)) {
    if (UNFINISHED.test(name)) await removeIfOld(join(directory, name))
    if (!SOCKET.test(name) || name === own) continue
    const answer = await inDirectory(directory, (short) => connect(join(short, name)))
    if (answer === 'alive') return true
    // Names of dead sockets are never reused, so this cannot remove a new one.
    if (answer === 'dead') await fs.promises.unlink(join(directory, name)).catch(() => {})
  }
  return false
}

/**
 * Removes the file of a process that died between two steps. A recent file may belong to a process that is still
 * starting.
 */
async function removeIfOld(path: string): Promise<void> {
  const age = await fs.promises.stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )
  if (age > UNFINISHED_MS) await fs.promises.unlink(path).catch(() => {})
}

function connect(path: string): Promise<'alive' | 'dead' | 'gone'> {
  return new Promise((resolve) => {
    const socket = net.connect(path, () => {
      socket.destroy()
      resolve('alive')
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      // For any other error (permission denied, full backlog) a process may be listening.
      resolve(code === 'ECONNREFUSED' ? 'dead' : code === 'ENOENT' ? 'gone' : 'alive')
    })
  })
}

/** The path of a socket has at most 107 bytes. Through an open directory every path is short. */
async function inDirectory<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(directory) < SOCKET_PATH_MAX - 40) return use(directory)
  const handle = await fs.promises.open(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY)
  try {
    return await use(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle.close()
  }
}

/** The name is derived from the device and inode of the directory, so all paths to it are equal. */
async function lockByName(directory: string): Promise<Lock> {
  const { dev, ino } = await fs.promises.stat(directory, { bigint: true })
  const server = net.createServer((socket) => socket.destroy())
  server.unref()
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: `\0crosstie-store-${dev}-${ino}`, exclusive: true }, resolve)
  })
  try {
    await listening
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw await lockedBy(directory)
    throw error
  }
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}
