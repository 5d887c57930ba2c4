import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crosstie, fileOf, type Program } from './program.js'

export interface TranscriptOptions {
  /** Where the commands are run. */
  readonly folder: string
  /** Whose kubeconfig they use. */
  readonly program: Program
  readonly env?: NodeJS.ProcessEnv
}

/** Runs the `console` blocks of a page: every command must print what the page shows, and end as it says. */
export async function followTranscript(page: string, { folder, program, env }: TranscriptOptions): Promise<void> {
  const shell = await shellIn(folder, join(program.folder, 'bin'), {
    ...process.env,
    ...env,
    NO_COLOR: '1',
    KUBECONFIG: program.kubeconfig,
  })
  for (const { line, command, output, code } of stepsOf(fileOf(page))) {
    const ran = await shell(command)
    const where = `${page}:${line}: ${command}`
    assert.ok(looksLike(output, ran.printed), `${where} printed:\n${ran.printed}instead of:\n${output}`)
    assert.equal(ran.code, code, where)
  }
}

/** One command of a guide, and what it says that is printed. */
interface Step {
  readonly line: number
  readonly command: string
  /** `…` stands for anything. */
  readonly output: string
  /** The code that it ends with: `[6]` on a line of its own. */
  readonly code: number
}

/** The commands in the `console` blocks of a page, in order. */
function stepsOf(page: string): readonly Step[] {
  const steps: { line: number; command: string; output: string; code: number }[] = []
  let within = false
  readFileSync(page, 'utf8')
    .split('\n')
    .forEach((text, i) => {
      if (text.startsWith('```')) within = text === '```console'
      else if (!within) return
      else if (text.startsWith('$ ')) steps.push({ line: i + 1, command: text.slice(2), output: '', code: 0 })
      else if (/^\[\d+\]$/.test(text)) steps.at(-1)!.code = Number(text.slice(1, -1))
      else steps.at(-1)!.output += `${text}\n`
    })
  return steps
}

/** Does what was printed look like what the guide shows? */
function looksLike(shown: string, printed: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    // Columns are as wide as what stands in them.
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/ +/g, ' +'))
    .join('[^]*')
  return new RegExp(`^${pattern}$`).test(printed.trim())
}

/** Runs lines as a shell does, with our program on the path. */
async function shellIn(folder: string, bin: string, env: NodeJS.ProcessEnv) {
  await mkdir(bin, { recursive: true })
  const script = `#!/bin/sh\nexec '${process.execPath}' '${crosstie}' "$@"\n`
  await writeFile(join(bin, 'crosstie'), script, { mode: 0o755 })
  const PATH = `${bin}:${process.env['PATH']}`
  return (command: string) =>
    new Promise<{ readonly code: number; readonly printed: string }>((resolve, reject) => {
      const child = spawn('sh', ['-c', command], {
        cwd: folder,
        env: { ...env, PATH },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let printed = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
      }
      child.on('error', reject)
      child.on('close', (code) => resolve({ code: code ?? -1, printed }))
    })
}
