import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crosstie, fileOf, type Program } from './program.js'

/** Options of a transcript. */
export interface TranscriptOptions {
  /** The working directory of the commands. */
  readonly folder: string
  /** The program whose kubeconfig the commands use. */
  readonly program: Program
  readonly env?: NodeJS.ProcessEnv
}

/** Runs the `console` blocks of a page. Every command must print the output on the page and exit with its code. */
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

/** A command of a guide, and its expected result. */
interface Step {
  readonly line: number
  readonly command: string
  /** The expected output. `…` matches any text. */
  readonly output: string
  /** The expected exit code: `[6]` on a separate line. */
  readonly code: number
}

/** Returns the commands in the `console` blocks of a page, in order. */
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

/** Reports whether the output matches the output in the guide. */
function looksLike(shown: string, printed: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    // The width of a column depends on its content.
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/ +/g, ' +'))
    .join('[^]*')
  return new RegExp(`^${pattern}$`).test(printed.trim())
}

/** Runs lines in a shell with the program on its PATH. */
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
