import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const root = new URL('../../../../', import.meta.url).pathname

/** Options of a guide run. */
export interface GuideOptions {
  /** Replacements for text that cannot work in a test, such as a folder that only root may write. */
  readonly instead?: Readonly<Record<string, string>>
  readonly env?: NodeJS.ProcessEnv
  readonly timeoutMs?: number
}

/**
 * Runs the commands of a page like a reader: every block marked `sh`, in order, in one shell, in a new folder that
 * contains the examples and the program. A block marked `sh background` keeps running, and the next block starts
 * when it has printed `ready:`. The output of a command must contain the TEXT of a line `# => TEXT` after it.
 * Returns the whole output.
 */
export async function runGuide(page: string, options: GuideOptions = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-guide-'))
  try {
    await Promise.all([
      cp(join(root, 'examples'), join(folder, 'examples'), { recursive: true }),
      cp(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true }),
      cp(join(root, 'providers'), join(folder, 'providers'), {
        recursive: true,
        filter: (path) => !/\/(node_modules|dist|src)$/.test(path),
      }),
      symlink(join(root, 'node_modules'), join(folder, 'node_modules')),
    ])
    let script = scriptOf(readFileSync(join(root, page), 'utf8'))
    for (const [text, other] of Object.entries(options.instead ?? {})) {
      if (!script.includes(text)) throw new Error(`${page} does not say '${text}' any more`)
      script = script.replaceAll(text, other)
    }
    return await shell(page, script, folder, options)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

const WAIT_READY =
  'for _ in $(seq 1500); do grep -q "^ready:" background.log && break; sleep 0.2; done; grep "^ready:" background.log'

/** Returns the shell script of a Markdown page. */
export function scriptOf(markdown: string): string {
  const lines = ['set -euo pipefail', "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"]
  for (const [, kind, block] of markdown.matchAll(/^```(sh(?: background)?)\n(.*?)^```$/gms)) {
    if (kind === 'sh background') lines.push(`{ ${block!.trim()}; } >background.log 2>&1 &`, WAIT_READY)
    else lines.push(...commandsOf(block!).map(checked))
  }
  return `${lines.join('\n')}\n`
}

/** Splits a block into commands. A command includes continuation lines and here-documents. */
function commandsOf(block: string): readonly string[] {
  const commands: string[] = []
  let open: string[] = []
  let ending: string | undefined
  for (const line of block.split('\n')) {
    open.push(line)
    ending ??= /<<-?\s*['"]?(\w+)/.exec(line)?.[1]
    if (ending ? line.trim() === ending : !line.endsWith('\\')) {
      commands.push(open.join('\n'))
      open = []
      ending = undefined
    }
  }
  return commands.filter((command) => command.trim() !== '')
}

function checked(command: string): string {
  const [, before, wanted] = /^(.*?)\s+# => (.*)$/s.exec(command) ?? []
  const told = `echo ${quoted(`$ ${command}`)}`
  if (!wanted) return `${told}\n${command}`
  const complaint = `the command above did not print: ${wanted}`
  return `${told}\n{ ${before}\n} | tee said.log\ngrep -qF -- ${quoted(wanted)} said.log || { echo ${quoted(complaint)}; exit 1; }`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function shell(page: string, script: string, cwd: string, options: GuideOptions): Promise<string> {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${options.env?.['PATH'] ?? process.env['PATH']}`
  const env = { ...inherited, ...options.env, PATH: path }
  return new Promise((resolve, reject) => {
    // A separate process group, so that no process outlives the test.
    const child = spawn('bash', ['-c', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const end = (signal: NodeJS.Signals) => {
      try {
        process.kill(-child.pid!, signal)
      } catch {
        // The group has no processes left.
      }
    }
    const late = setTimeout(() => end('SIGKILL'), options.timeoutMs ?? 600_000)
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    }
    child.on('close', (code) => {
      clearTimeout(late)
      end('SIGKILL')
      if (code === 0) resolve(printed)
      else reject(new Error(`the commands of ${page} ended with ${code}:\n${printed}`))
    })
  })
}
