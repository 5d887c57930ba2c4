import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventReasons } from './event-reasons.js'
import { conditionReasons } from './reasons.js'
import { reasonsPage } from './reasons-page.js'

const root = new URL('../../../', import.meta.url)

test('every reason that the code gives is explained, and none that it does not', () => {
  execFileSync(process.execPath, ['scripts/reasons.mjs'], { cwd: fileURLToPath(root), stdio: 'pipe' })
})

test('each is explained once', () => {
  const conditions = conditionReasons.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
  assert.equal(new Set(conditions).size, conditions.length)
  const events = eventReasons.map(({ reason }) => reason)
  assert.equal(new Set(events).size, events.length)
})

test('the page is what the list says', () => {
  const page = readFileSync(new URL('docs/reference/conditions-and-events.md', root), 'utf8')
  assert.equal(page, reasonsPage(), 'write it with node scripts/reasons.mjs --write')
})
