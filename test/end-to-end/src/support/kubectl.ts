import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the path of kubectl: on the PATH, or the build of `node scripts/oracle.mjs build`. */
export function findKubectl(): string | undefined {
  const cache = join(process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache/crosstie'), 'kube/bin')
  const folders = [cache, ...(process.env['PATH'] ?? '').split(delimiter)]
  return folders.map((folder) => join(folder, 'kubectl')).find((path) => existsSync(path))
}

/** Returns a function that runs kubectl and returns its output. */
export function kubectlWith(path: string, kubeconfig: string): (...args: readonly string[]) => Promise<string> {
  return async (...args) => {
    const { stdout } = await run(path, [...args], { env: { ...process.env, KUBECONFIG: kubeconfig } })
    return stdout
  }
}

/** Waits until a condition holds. On timeout the error names the condition. */
export async function eventually<T>(
  look: () => Promise<T>,
  good: (value: T) => boolean,
  withinMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const value = await look()
    if (good(value)) return value
    if (Date.now() > deadline) throw new Error(`it never came to be: ${String(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
