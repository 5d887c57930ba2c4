import { type ChildProcess, spawn } from 'node:child_process'
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

/** Starts a process whose output goes to a file; it is killed when this process ends, however it ends. */
export function start(command: string, args: readonly string[], logFile: string, env = process.env): Running {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const log = createWriteStream(logFile)
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  child.on('error', (error) => log.write(`${error.message}\n`))
  return supervise(child)
}

/** Makes sure that a child does not outlive us. */
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

/** Some ports of loopback that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Runs a command to its end. */
export async function capture(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string; timeoutMs?: number } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, timeout: options.timeoutMs })
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
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, stdout, stderr }))
  })
}
