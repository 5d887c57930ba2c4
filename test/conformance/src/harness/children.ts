import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:net'

/** A server process that a test run started, and must stop. */
export interface Running {
  readonly pid: number
  /** Resolves when the process is gone. Never rejects. */
  readonly exited: Promise<unknown>
  stop(): Promise<void>
}

/** Starts a process whose output goes to a file. The process is killed when this process ends for any reason. */
export function start(command: string, args: readonly string[], logFile: string, env = process.env): Running {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const log = createWriteStream(logFile)
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  child.on('error', (error) => log.write(`${error.message}\n`))
  return supervise(child)
}

/** Ensures that a child does not outlive this process. */
export function supervise(child: ChildProcess): Running {
  const exited = once(child, 'exit').catch(() => undefined)
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  void exited.then(() => process.off('exit', kill))
  return {
    pid: child.pid ?? 0,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const timer = setTimeout(kill, 10_000)
      await exited
      clearTimeout(timer)
    },
  }
}

/**
 * Returns free ports on loopback. They are below the ephemeral range, so that no client gets one before the server
 * starts.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(12_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Runs a command until it exits. On timeout the command is killed, and the result reports this. */
export async function capture(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string; timeoutMs?: number } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const enough = () => {
    stderr += `\nkilled after ${options.timeoutMs} ms`
    child.kill('SIGKILL')
    // Descendants of the command may live on and hold these streams open.
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(enough, options.timeoutMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, stdout, stderr }))
    child.on('close', () => clearTimeout(timer))
  })
}
