import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runGuide, scriptOf } from './guide.js'

test('a page is read as its reader would', () => {
  const page = '```sh\na # => yes\nb \\\n  c\n```\n\n```yaml\nnot: this\n```\n\n```sh background\nup\n```\n'
  const script = scriptOf(page)
  assert.match(script, /\{ a\n\} \| tee said\.log\ngrep -qF -- 'yes' said\.log/)
  assert.match(script, /\nb \\\n {2}c\n/)
  assert.match(script, /\{ up; \} >background\.log 2>&1 &\nfor /)
  assert.doesNotMatch(script, /not: this/)
})

test('the guide to operating it', { timeout: 600_000 }, async () => {
  const instead = { '/var/lib/crosstie': 'data', '127.0.0.1:6443': '127.0.0.1:0' }
  const printed = await runGuide('docs/guides/operate.md', { instead })
  assert.match(printed, /ready:/)
})

test('the first claim', { timeout: 600_000 }, async () => {
  const printed = await runGuide('docs/guides/first-claim.md', { instead: { '127.0.0.1:6443': '127.0.0.1:0' } })
  assert.match(printed, /current_database/)
})
