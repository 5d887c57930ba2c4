import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { capture } from './harness/children.js'
import { Unavailable } from './oracle/binaries.js'
import { type Oracle, startOracle } from './oracle/oracle.js'

/**
 * Runs the whole suite on a real kube-apiserver with etcd, to verify that the recordings are current. All areas
 * share one server. Its programs are built if Go is available, else every area is skipped with a reason.
 */
const here = dirname(fileURLToPath(import.meta.url))
const areas = readdirSync(here)
  .filter((name) => name.endsWith('.test.js') && name !== 'oracle.test.js')
  .map((name) => name.replace('.test.js', ''))

describe('on the real kube-apiserver', { skip: process.env['CONFORMANCE_TARGET'] !== undefined }, () => {
  let oracle: Oracle | undefined
  let missing = ''

  before(async () => {
    try {
      oracle = await startOracle()
      await oracle.settled()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      missing = `no real Kubernetes API here: ${error.message}`
    }
  })
  after(() => oracle?.stop())

  for (const area of areas) {
    test(area, async (context) => {
      if (!oracle) return context.skip(missing)
      const { NODE_TEST_CONTEXT: _, ...env } = process.env
      const args = ['--enable-source-maps', '--test', '--test-reporter=tap', join(here, `${area}.test.js`)]
      const { code, stdout } = await capture(process.execPath, args, {
        env: { ...env, CONFORMANCE_TARGET: oracle.kubeconfig },
      })
      assert.equal(code, 0, failures(stdout))
    })
  }
})

/** Returns the failed cases of a TAP report with their reasons. */
function failures(report: string): string {
  const blocks = report.split(/^(?= {4}(?:not ok|ok|# Subtest))/m)
  return blocks
    .filter((block) => block.startsWith('    not ok'))
    .map((block) => block.slice(0, 2_000))
    .join('\n')
}
