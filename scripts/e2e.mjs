// Runs the end-to-end specs of Kubernetes that need no nodes, on a server of your choice.
//   node scripts/e2e.mjs [--target embedded|oracle|KUBECONFIG] [--specs FILE] [--save FILE] [--processes N] [WORD...]
// Words select the specs whose names contain one of them.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const root = new URL('..', import.meta.url)
const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', default: 'embedded' },
    specs: { type: 'string' },
    save: { type: 'string' },
    processes: { type: 'string', default: '3' },
  },
})
const build = values.target === 'embedded' ? ['npm', ['run', '--silent', 'build']] : ['npx', ['tsc', '-b']]
if (spawnSync(...build, { cwd: root, stdio: ['ignore', 2, 2] }).status !== 0) process.exit(1)
const { openTarget, Unavailable } = await import('../test/conformance/dist/index.js')
const { readSpecs, runSpecs } = await import('../test/clients/dist/index.js')

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  console.log(`skipped: ${error.message}`)
  console.log('0 passed, 0 failed, 1 skipped')
}

async function main() {
  const specs = readSpecs(values.specs).filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  const target = await openTarget(values.target)
  try {
    const served = (spec) => target.name !== 'embedded' || !spec.needs
    const outcomes = await runSpecs(target.kubeconfig, specs.filter(served), Number(values.processes))
    for (const spec of specs.filter((spec) => !served(spec))) {
      outcomes.push({ name: spec.name, state: 'skipped', seconds: 0, message: `needs ${spec.needs}` })
    }
    return print(outcomes)
  } finally {
    await target.stop()
  }
}

function print(outcomes) {
  const sorted = outcomes.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const { name, state, seconds, message } of sorted) {
    console.log(`${state.padEnd(8)}${`${seconds.toFixed(1)} s`.padStart(8)}  ${name}`)
    if (state !== 'passed' && message)
      console.log(`${' '.repeat(18)}${message.replaceAll('\n', `\n${' '.repeat(18)}`)}`)
  }
  if (values.save) writeFileSync(values.save, `${JSON.stringify(sorted, null, 1)}\n`)
  const count = (state) => outcomes.filter((outcome) => outcome.state === state).length
  console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
  return count('failed') > 0 ? 1 : 0
}
