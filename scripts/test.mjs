// The whole test run: build, tidy, every suite; closes with one line over all of them.
//   npm test                 everything
//   npm test -- kube cel     only test files whose path contains one of the words
import { spawn } from 'node:child_process'
import { globSync } from './glob.mjs'

const words = process.argv.slice(2)
const wanted = (file) => words.length === 0 || words.some((word) => file.includes(word))

await run('npm', ['run', '--silent', 'build'])
if (words.length === 0) {
  await run('npx', ['biome', 'check', '.'])
  await run('node', ['scripts/tidy.mjs'])
}

const files = globSync(['packages', 'providers', 'apps', 'test'], /\/dist\/.*\.test\.js$/).filter(wanted)
const totals = { pass: 0, fail: 0, skipped: 0 }
const status = files.length > 0 ? await runTests(files) : 0
console.log(`${totals.pass} passed, ${totals.fail} failed, ${totals.skipped} skipped`)
process.exitCode = status === 0 && totals.fail === 0 ? 0 : 1

async function run(command, args) {
  const code = await exitOf(spawn(command, args, { stdio: 'inherit' }))
  if (code === 0) return
  console.error(`failed: ${command} ${args.join(' ')}`)
  process.exit(1)
}

async function runTests(files) {
  const args = ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-reporter=spec', ...files]
  const child = spawn('node', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) count(line)
  })
  return await exitOf(child)
}

/** The runner's own summary: one line for each outcome. */
function count(line) {
  const [, outcome, number] = /^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$/.exec(line) ?? []
  if (outcome === 'pass') totals.pass += Number(number)
  else if (outcome === 'fail' || outcome === 'cancelled') totals.fail += Number(number)
  else if (outcome) totals.skipped += Number(number)
}

function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
