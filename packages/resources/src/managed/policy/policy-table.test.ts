import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { policyTable } from './policy-table.js'

const page = new URL('../../../../../docs/reference/management-policies.md', import.meta.url)

/** Removes the padding that the formatter adds to tables. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')

test('POL9 the page of all 64 subsets is what the code does', () => {
  const table = policyTable()
  assert.equal(table.split('\n').length, 66)
  assert.ok(unpadded(readFileSync(page, 'utf8')).includes(table), `write this into ${page.pathname}:\n${table}`)
})
