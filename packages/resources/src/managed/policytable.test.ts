import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { policyTable } from './policytable.js'

const page = new URL('../../../../docs/reference/management-policies.md', import.meta.url)

test('POL9 the page of all 64 subsets is what the code does', () => {
  const table = policyTable()
  assert.equal(table.split('\n').length, 66)
  assert.ok(readFileSync(page, 'utf8').includes(table), `write this into ${page.pathname}:\n${table}`)
})
