// Builds, checks and runs tests, and prints one line of totals. A failed test fails the run.
//   npm test                       all suites
//   npm run test:unit              one suite: see scripts/suites.mjs
//   npm test -- kube cel           only test files whose path contains one of the words
//   CROSSTIE_SEED=8 npm test       another seed for random tests
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { exitOf, runFiles, stopOnSignals } from './run-tests.mjs'
import { SUITES, suiteOf, testFiles, UNIT_FILE_CPU_SECONDS } from './suites.mjs'

/** Whole programs and servers need dedicated memory and cores. */
const AT_ONCE_MAX = { unit: 8, conformance: 2, e2e: 2 }

const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { suite: { type: 'string' } } })
const suites = values.suite === undefined ? SUITES : [values.suite]
if (!SUITES.includes(suites[0])) {
  console.error(`--suite is one of ${SUITES.join(', ')}, not '${values.suite}'`)
  process.exit(2)
}
stopOnSignals()

const everything = values.suite === undefined && words.length === 0
// The unit suite needs no bundle: `crosstie` runs the compiled modules when the bundle is older.
await run(
  ...(suites[0] === 'unit' && suites.length === 1 ? ['npx', ['tsc', '-b']] : ['npm', ['run', '--silent', 'build']]),
)
if (everything) {
  await run('npm', ['run', '--silent', 'check'])
}
// External programs take minutes to build the first time. Without them their tests are skipped with a message.
if (everything || values.suite === 'conformance' || values.suite === 'e2e') {
  await exitOf(spawn('node', ['scripts/prepare.mjs'], { stdio: 'inherit' }))
}

const begun = Date.now()
const files = testFiles().filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
const outcomes = new Map()
for (const suite of suites) {
  const atOnce = Math.min(AT_ONCE_MAX[suite], 2 * availableParallelism())
  const chosen = files.filter((file) => suiteOf(file) === suite)
  for (const [file, outcome] of await runFiles(chosen, atOnce)) outcomes.set(file, outcome)
}
report()

function report() {
  for (const [file, { cpuSeconds }] of outcomes) {
    if (suiteOf(file) !== 'unit' || cpuSeconds <= UNIT_FILE_CPU_SECONDS) continue
    console.log(
      `slow: ${file} took ${cpuSeconds.toFixed(1)} s of CPU time; the unit suite allows ${UNIT_FILE_CPU_SECONDS} s`,
    )
  }
  for (const [file, { fail }] of outcomes) if (fail > 0) console.log(`failed: ${file}`)
  const sum = (outcome) => [...outcomes.values()].reduce((total, counts) => total + counts[outcome], 0)
  const seconds = Math.round((Date.now() - begun) / 1000)
  console.log(`${outcomes.size} files in ${seconds} s, ${Math.round(sum('cpuSeconds'))} s of CPU time`)
  console.log(`${sum('pass')} passed, ${sum('fail')} failed, ${sum('skipped')} skipped`)
  process.exitCode = sum('fail') === 0 ? 0 : 1
}

async function run(command, args) {
  const code = await exitOf(spawn(command, args, { stdio: 'inherit' }))
  if (code === 0) return
  console.error(`failed: ${command} ${args.join(' ')}`)
  process.exit(1)
}
