// The programs that benchmarks start.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Builds the load program if it is out of date, and returns its path. */
export function buildLoadgen() {
  const cache = process.env.CROSSTIE_CACHE ?? join(homedir(), '.cache', 'crosstie')
  mkdirSync(cache, { recursive: true })
  const program = join(cache, 'loadgen')
  const env = { ...process.env, CGO_ENABLED: '0' }
  const cwd = new URL('loadgen', import.meta.url).pathname
  execFileSync('go', ['build', '-o', program, '.'], { cwd, env, stdio: 'inherit' })
  return program
}

/**
 * Starts a Node program. Resolves with the process once it has printed the words, and rejects if it ends before.
 * `begun` receives the process immediately, so that the caller can always stop it. `profile` is a folder for a CPU
 * profile.
 */
export function startProgram(args, words, { profile, begun } = {}) {
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  const child = spawn(process.execPath, [...profiling, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  begun?.(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      for (const line of chunk.split('\n')) if (/WARN|ERROR/.test(line)) console.error(line)
    })
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (words.test(text)) resolve(child)
    })
    child.on('exit', (code) => reject(new Error(`${args.slice(0, 2).join(' ')} ended with ${code}: ${text}`)))
  })
}

/** Stops a program, and waits until it has ended. */
export async function stopProgram(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
