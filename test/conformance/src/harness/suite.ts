import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Program, program, Unavailable } from '../oracle/binaries.js'
import { Case, type CaseOptions, type Step } from './case.js'
import { differences } from './normalize.js'
import { openTarget, type Target } from './target.js'

/** The cases of an area by title. */
export type Cases = Readonly<Record<string, (t: Case) => Promise<void>>>

const recordings = join(dirname(fileURLToPath(import.meta.url)), '../../testdata')
const recording = process.env['CONFORMANCE_RECORD'] === '1'

/** Options of an area. */
export interface SuiteOptions extends CaseOptions {
  readonly concurrency?: number
  /** Programs without which the area is skipped. */
  readonly needs?: readonly Program[]
}

/**
 * Runs the cases of one area on the chosen server and compares every response with the recorded response of the
 * real kube-apiserver (CONFORMANCE_RECORD=1 with CONFORMANCE_TARGET=oracle records).
 */
export function conformance(area: string, cases: Cases, options: SuiteOptions = {}): void {
  const file = join(recordings, `${area}.json`)
  const recorded: Record<string, Step[]> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const fresh: Record<string, Step[]> = {}
  let target: Target
  let missing = ''

  describe(area, { concurrency: options.concurrency ?? 4 }, () => {
    before(async () => {
      missing = await whatIsMissing(options.needs ?? [])
      if (!missing) target = await openTarget()
    })
    after(async () => {
      if (recording && !missing) save(file, cases, recorded, fresh)
      await target?.stop()
    })
    for (const [name, run] of Object.entries(cases)) {
      test(name, async (context) => {
        if (missing) return context.skip(missing)
        const steps = await stepsOf(new Case(target, options), run, recording ? undefined : (recorded[name] ?? []))
        fresh[name] = steps
      })
    }
  })
}

async function whatIsMissing(programs: readonly Program[]): Promise<string> {
  try {
    for (const each of programs) await program(each)
    return ''
  } catch (error) {
    if (error instanceof Unavailable) return error.message
    throw error
  }
}

async function stepsOf(
  t: Case,
  run: (t: Case) => Promise<void>,
  expected: readonly Step[] | undefined,
): Promise<Step[]> {
  let failure: unknown
  try {
    await run(t)
  } catch (error) {
    failure = error
  }
  await t.end()
  // Converted through JSON like the recording, so that undefined values are not a difference.
  const steps = JSON.parse(JSON.stringify(t.steps)) as Step[]
  const complaints = expected ? compareSteps(expected, steps, failure !== undefined) : []
  if (complaints.length > 0) throw new Error(`${complaints.join('\n')}${failure ? `\nthen: ${failure}` : ''}`)
  if (failure) throw failure
  return steps
}

function compareSteps(expected: readonly Step[], actual: readonly Step[], partial: boolean): string[] {
  const complaints: string[] = []
  const length = partial ? actual.length : Math.max(expected.length, actual.length)
  for (let index = 0; index < length; index++) {
    const found = differences(expected[index], actual[index])
    if (found.length === 0) continue
    const step = actual[index]?.step ?? expected[index]?.step
    complaints.push(`step ${index + 1}, ${step}:\n  ${found.join('\n  ')}`)
  }
  return complaints
}

function save(file: string, cases: Cases, recorded: Record<string, Step[]>, fresh: Record<string, Step[]>): void {
  const all: Record<string, Step[]> = {}
  for (const name of Object.keys(cases)) {
    const steps = fresh[name] ?? recorded[name]
    if (steps) all[name] = steps
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(all, null, 1)}\n`)
}
