import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chartFiles, oldFiles } from './chart.js'

const folder = fileURLToPath(new URL('../../../../../deploy/chart', import.meta.url))

test('the chart in deploy/ is what crosstie manifests prints', async () => {
  assert.deepEqual(await oldFiles(folder, await chartFiles()), [], 'run node scripts/chart.mjs')
})
