// Runs compiled test files, each in a separate process, and prints the output of a file when it ends.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A file that takes longer is killed and counts as failed. */
const FILE_TIMEOUT_MS = 15 * 60_000
/** The time to read the output after the exit of a file. A descendant process may hold the pipe open. */
const OUTPUT_GRACE_MS = 10_000

/** The seed of every run. A test file that is run without this script uses a random one. */
const { CROSSTIE_SEED = '7' } = process.env
const env = { DIFFERENTIAL_SEED: CROSSTIE_SEED, ...process.env, CROSSTIE_SEED }

const running = new Set()

/** Kills all test processes and ends this one. */
export function stopOnSignals() {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      for (const child of running) killGroup(child)
      process.exit(1)
    })
  }
}

/** Returns the outcome of each file: numbers of passed, failed and skipped tests, CPU seconds. */
export async function runFiles(files, atOnce) {
  const outcomes = new Map()
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) outcomes.set(file, await runFile(file))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcomes
}

async function runFile(file) {
  const begun = Date.now()
  const seeded = readFileSync(file, 'utf8').includes("from 'fast-check'") ? ['--import', './scripts/seed.mjs'] : []
  const args = ['--enable-source-maps', '--test-reporter=spec', '--import', './scripts/cpu-time.mjs', ...seeded, file]
  // The file gets a process group, so that its descendants end with it.
  const child = spawn('node', args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true, env })
  running.add(child)
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  let cpu = ''
  child.stdio[3].setEncoding('utf8').on('data', (chunk) => {
    cpu += chunk
  })
  const timeout = setTimeout(() => killGroup(child), FILE_TIMEOUT_MS)
  child.on('exit', () => {
    killGroup(child)
    setTimeout(() => {
      for (const stream of child.stdio.slice(1)) stream.destroy()
    }, OUTPUT_GRACE_MS).unref()
  })
  const code = await exitOf(child)
  clearTimeout(timeout)
  running.delete(child)
  const text = Buffer.concat(printed).toString()
  console.log(`\n${file} (${Math.round((Date.now() - begun) / 1000)} s)\n${text.trimEnd()}`)
  return { ...outcomeOf(child, code, text), cpuSeconds: Number(cpu) || 0 }
}

function outcomeOf(child, code, text) {
  const counts = countsOf(text)
  // The exit code decides: a file may print the summary of another run.
  if (code === 0) return { ...counts, fail: 0 }
  if (counts.fail > 0) return counts
  console.log(child.signalCode ? `ended by ${child.signalCode}` : `ended with exit code ${code}`)
  return { ...counts, fail: 1 }
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

/** Reads the summary of Node's test runner: one line per outcome. */
function countsOf(text) {
  const counts = { pass: 0, fail: 0, skipped: 0 }
  for (const [, outcome, number] of text.matchAll(/^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$/gm)) {
    if (outcome === 'pass') counts.pass += Number(number)
    else if (outcome === 'fail' || outcome === 'cancelled') counts.fail += Number(number)
    else counts.skipped += Number(number)
  }
  return counts
}

/** Resolves with the exit code of a child process. */
export function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
