import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTarget } from '@crosstie/test-conformance'
import { readSpecs, runSpecs } from './e2e.js'
import { obtain, targets } from './session.js'

// The complete run takes minutes: `node scripts/e2e.mjs`.
const QUICK_SECONDS = 2

const found = await Promise.all([obtain('e2e.test'), obtain('kubectl')])
const skip = found.flatMap((one) => ('missing' in one ? [one.missing] : []))[0]

// The list contains the specs that passed on the real server, so that another run there is unnecessary.
for (const choice of targets().filter((choice) => choice !== 'oracle' || process.env['CONFORMANCE_TARGET'])) {
  describe(`Kubernetes' own specs on ${choice}`, () => {
    test('those that are quick pass', { skip }, async () => {
      const target = await openTarget(choice)
      try {
        const served = readSpecs().filter(({ needs }) => choice !== 'embedded' || !needs)
        const quick = served.filter(({ seconds }) => seconds <= QUICK_SECONDS)
        const outcomes = await runSpecs(target.kubeconfig, quick, 2)
        const failed = outcomes.filter(({ state }) => state !== 'passed')
        assert.deepEqual(failed, [])
      } finally {
        await target.stop()
      }
    })
  })
}
