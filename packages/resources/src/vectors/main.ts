// npm run vectors -- [DIR] compares our behavior with recordings of crossplane-runtime.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runVectors } from './run.js'

const FAILURES_SHOWN = 25

const folder = process.argv[2] ?? fileURLToPath(new URL('../../testdata/vectors', import.meta.url))
if (!existsSync(folder)) {
  console.error(
    `cannot run vectors: there is no folder ${folder}. Name one that holds files of vectors, or none for our own.`,
  )
  process.exit(1)
}
const report = await runVectors(folder)
for (const failure of report.failures.slice(0, FAILURES_SHOWN)) console.log(`failed  ${failure}`)
if (report.failures.length > FAILURES_SHOWN) console.log(`… and ${report.failures.length - FAILURES_SHOWN} more`)
for (const [name, count] of report.wanted) console.log(`on purpose  ${count} × ${name}`)
for (const [reason, count] of report.skips) console.log(`skipped  ${count} × ${reason}`)
console.log(`${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`)
process.exitCode = report.failed > 0 ? 1 : 0
