import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  capture,
  isBuilt,
  openTarget,
  type Program,
  program,
  type Target,
  Unavailable,
} from '@crosstie/test-conformance'
import { normalize } from './normalize.js'

/** Shell commands in order. The output of each is compared. */
export type Session = readonly string[]

/** The recorded result of a command. */
interface Deed {
  readonly command: string
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const home = join(dirname(fileURLToPath(import.meta.url)), '..')
const recording = process.env['CONFORMANCE_RECORD'] === '1'

/**
 * Returns the servers on which clients are tested: the embedded one and, if its programs are available, the real
 * one. CONFORMANCE_TARGET selects one.
 */
export function targets(): string[] {
  const chosen = process.env['CONFORMANCE_TARGET']
  if (chosen) return [chosen]
  const real: readonly Program[] = ['etcd', 'kube-apiserver', 'kube-controller-manager']
  return real.every(isBuilt) ? ['embedded', 'oracle'] : ['embedded']
}

/** Returns the path of a program, or the reason why it is unavailable. In that case the test is skipped. */
export async function obtain(name: Program): Promise<{ path: string } | { missing: string }> {
  try {
    return { path: await program(name) }
  } catch (error) {
    if (error instanceof Unavailable) return { missing: error.message }
    throw error
  }
}

/** Options of sessions. */
export interface SessionsOptions {
  /** The folder of fixtures in which commands run. Each session gets a copy. */
  readonly fixtures: string
  /** The client, and other programs that the commands call. */
  readonly programs: readonly Program[]
  /** Setup commands for all sessions. */
  readonly scene?: Session
  /** The number of concurrent sessions. */
  readonly concurrency?: number
}

/**
 * Runs sessions on every server and compares the output of the commands with that on the real kube-apiserver
 * (CONFORMANCE_RECORD=1 with CONFORMANCE_TARGET=oracle records). `$NS` is the namespace of the session.
 */
export async function sessions(
  area: string,
  all: Readonly<Record<string, Session>>,
  options: SessionsOptions,
): Promise<void> {
  const file = join(home, 'testdata', `${area}.json`)
  const recorded: Record<string, Deed[]> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const found = await Promise.all(options.programs.map(obtain))
  const missing = found.flatMap((one) => ('missing' in one ? [one.missing] : []))[0]
  const path = found.flatMap((one) => ('path' in one ? [dirname(one.path)] : []))
  if (missing) {
    test(area, { skip: missing })
    return
  }
  for (const choice of targets()) {
    describe(`${area} on ${choice}`, { concurrency: options.concurrency ?? 2 }, () => {
      let target: Target
      before(async () => {
        target = await openTarget(choice)
        if (options.scene) await play(target, 'scene', options.scene.map(again), options.fixtures, path)
      })
      after(async () => {
        if (recording) writeFileSync(file, `${JSON.stringify(sorted(recorded), null, 1)}\n`)
        await target?.stop()
      })
      for (const [name, session] of Object.entries(all)) {
        test(name, async () => {
          const deeds = await play(target, name, session, options.fixtures, path)
          if (recording) recorded[name] = deeds
          else compare(recorded[name] ?? [], deeds)
        })
      }
    })
  }
}

// The server creates an account and a certificate in every namespace with a delay. An early list would miss them.
const MAKES_NAMESPACE = /^(?!.*--dry-run).*create.namespace/
const FURNISHED = 'kubectl get -n $NS configmap/kube-root-ca.crt serviceaccount/default'

/** Returns a command that repeats until it succeeds. */
const again = (command: string): string => `until ${command}; do sleep 0.2; done >/dev/null 2>&1`

/** Runs the commands of a session in order, in a separate folder. */
async function play(
  target: Target,
  name: string,
  session: Session,
  fixtures: string,
  path: readonly string[],
): Promise<Deed[]> {
  const dir = mkdtempSync(join(tmpdir(), 'crosstie-session-'))
  const work = join(dir, 'work')
  try {
    cpSync(join(home, fixtures), work, { recursive: true })
    mkdirSync(join(dir, 'home'))
    const env = {
      ...process.env,
      PATH: [...path, process.env['PATH']].join(delimiter),
      HOME: join(dir, 'home'),
      KUBECONFIG: target.kubeconfig,
      NS: `clients-${name.replaceAll(/[^a-z0-9]+/g, '-')}`,
      SERVER: target.url,
    }
    const deeds: Deed[] = []
    for (const command of session) {
      const run = (line: string) => capture('bash', ['-c', line], { cwd: work, env, timeoutMs: 180_000 })
      const { code, stdout, stderr } = await run(command)
      if (code === 0 && MAKES_NAMESPACE.test(command)) await run(again(FURNISHED))
      const clean = (text: string) => normalize(text, { [target.url]: 'https://SERVER', [dir]: 'DIR' })
      deeds.push({ command, code, stdout: clean(stdout), stderr: clean(stderr) })
    }
    return deeds
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function compare(expected: readonly Deed[], actual: readonly Deed[]): void {
  const complaints = actual.flatMap((deed, index) => {
    const want = expected[index]
    if (want?.command !== deed.command) return [`$ ${deed.command}\n(not recorded)`]
    const lines = [
      ...(want.code === deed.code ? [] : [`- exit ${want.code}`, `+ exit ${deed.code}`]),
      ...lineDifferences(want.stdout, deed.stdout),
      ...lineDifferences(want.stderr, deed.stderr),
    ]
    return lines.length > 0 ? [`$ ${deed.command}\n${lines.join('\n')}`] : []
  })
  if (complaints.length > 0) throw new Error(`not as on the real server:\n${complaints.join('\n')}`)
}

/** Returns the removed and added lines, without the common lines at the start and the end. */
function lineDifferences(expected: string, actual: string): string[] {
  if (expected === actual) return []
  const [a, b] = [expected.split('\n'), actual.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const show = (sign: string, lines: string[]) =>
    lines.slice(start, lines.length - end).map((line) => `${sign} ${line}`)
  return [...show('-', a), ...show('+', b)].slice(0, 60)
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
