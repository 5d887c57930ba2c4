import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oldPages, referencePages } from './kind-pages.js'

const folder = new URL('../../../../docs/reference/', import.meta.url).pathname

test('every kind has a reference page that matches its definition', async () => {
  const pages = await referencePages()
  assert.ok(pages.size > 0)
  assert.deepEqual(await oldPages(folder, pages), [], 'run: node scripts/pages.mjs')
})
