// The whole test run: build, tidy, every suite; closes with one line over all of them.
//   npm test                 everything
//   npm test -- kube cel     only test files whose path contains one of the words
//   CROSSTIE_SEED=7 npm test with other dice
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { globSync } from './glob.mjs'

/**
 * The machine is shared with others. A failure is looked at again, alone, and
 * told at the end even when it does not come again.
 */
const LOOKS = 3
const AT_ONCE = 2
/** A file that takes longer hangs. */
const PATIENCE_MS = 15 * 60_000
/** What a file leaves running in a session of its own may hold its output open for ever. */
const LAST_WORDS_MS = 10_000

/** The same dice in every run, so that it fails only for what was changed; a test file run by itself throws new ones. */
const { CROSSTIE_SEED = '7' } = process.env
const env = { DIFFERENTIAL_SEED: CROSSTIE_SEED, ...process.env, CROSSTIE_SEED }

const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of running) endGroup(child)
    process.exit(1)
  })
}

const words = process.argv.slice(2)
const wanted = (file) => words.length === 0 || words.some((word) => file.includes(word))

await run('npm', ['run', '--silent', 'build'])
if (words.length === 0) {
  await run('npx', ['biome', 'check', '.'])
  await run('node', ['scripts/tidy.mjs'])
}

/** The compiler leaves the output of a source that was moved or removed. */
const hasSource = (file) => existsSync(file.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
const files = globSync(['test', 'providers', 'apps', 'packages'], /\/dist\/.*\.test\.js$/)
  .filter(hasSource)
  .filter(wanted)
// What takes minutes to build on a new machine must not be counted as the time of the file that asks first. Where it
// cannot be had, that file says so.
if (words.length === 0) await exitOf(spawn('node', ['scripts/prepare.mjs'], { stdio: 'inherit' }))
const outcomes = await runFiles(files, AT_ONCE)
const failing = () => files.filter((file) => outcomes.get(file).fail > 0)
const failedAtFirst = failing()
for (let look = 2; look <= LOOKS; look++) {
  const again = failing()
  if (again.length === 0) break
  console.log(`\nLook ${look} of ${LOOKS}, one at a time:`)
  for (const [file, outcome] of await runFiles(again, 1)) outcomes.set(file, outcome)
}
for (const file of failing()) console.log(`failed: ${file}`)
for (const file of failedAtFirst.filter((file) => outcomes.get(file).fail === 0)) {
  console.log(`unstable: ${file} failed, then passed: its failure is above, and is a bug to mend`)
}
const sum = (outcome) => [...outcomes.values()].reduce((total, counts) => total + counts[outcome], 0)
console.log(`${sum('pass')} passed, ${sum('fail')} failed, ${sum('skipped')} skipped`)
process.exitCode = sum('fail') === 0 ? 0 : 1

async function run(command, args) {
  const code = await exitOf(spawn(command, args, { stdio: 'inherit' }))
  if (code === 0) return
  console.error(`failed: ${command} ${args.join(' ')}`)
  process.exit(1)
}

/** Runs each file in a process of its own, some at once. */
async function runFiles(files, atOnce) {
  const outcomes = new Map()
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) outcomes.set(file, await runFile(file))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcomes
}

/** What a file prints is shown when it ends, so that those beside it do not mix with it. */
async function runFile(file) {
  const begun = Date.now()
  const dice = readFileSync(file, 'utf8').includes("from 'fast-check'") ? ['--import', './scripts/seed.mjs'] : []
  const args = ['--enable-source-maps', '--test-reporter=spec', ...dice, file]
  // A group of its own, so that what it leaves running can be ended with it.
  const child = spawn('node', args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env })
  running.add(child)
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  const hangs = setTimeout(() => endGroup(child), PATIENCE_MS)
  child.on('exit', () => {
    endGroup(child)
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, LAST_WORDS_MS).unref()
  })
  const code = await exitOf(child)
  clearTimeout(hangs)
  running.delete(child)
  const text = Buffer.concat(printed).toString()
  console.log(`\n${file} (${Math.round((Date.now() - begun) / 1000)} s)\n${text.trimEnd()}`)
  const counts = countsOf(text)
  // The exit code has the last word: a file may print the summary of another run.
  if (code === 0) return { ...counts, fail: 0 }
  if (counts.fail > 0) return counts
  console.log(child.signalCode ? `ended by ${child.signalCode}` : `ended with exit code ${code}`)
  return { ...counts, fail: 1 }
}

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}

/** From the runner's own summary: one line for each outcome. */
function countsOf(text) {
  const counts = { pass: 0, fail: 0, skipped: 0 }
  for (const [, outcome, number] of text.matchAll(/^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$/gm)) {
    if (outcome === 'pass') counts.pass += Number(number)
    else if (outcome === 'fail' || outcome === 'cancelled') counts.fail += Number(number)
    else counts.skipped += Number(number)
  }
  return counts
}

function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
