import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cliReference } from './reference.js'

const page = new URL('../../../docs/reference/cli.md', import.meta.url)

/** A formatter may pad tables. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim()

test('the page about the command line is what the commands say', async () => {
  const same = unpadded(readFileSync(page, 'utf8')) === unpadded(await cliReference())
  assert.ok(same, 'docs/reference/cli.md is old: run node scripts/cli-reference.mjs')
})
