import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runVectors } from './run.js'

const recorded = [
  { folder: 'vectors', atLeast: 7_700 },
  { folder: 'vectors-combined', atLeast: 3_000 },
]

for (const { folder, atLeast } of recorded) {
  test(`we do what the recorded crossplane-runtime did, except where we mean not to: ${folder}`, async () => {
    const report = await runVectors(fileURLToPath(new URL(`../../testdata/${folder}`, import.meta.url)))
    assert.deepEqual(report.failures.slice(0, 5), [])
    assert.equal(report.failed, 0)
    assert.ok(report.passed > atLeast, `${report.passed} vectors ran`)
  })
}

const pass = { resolver: 'modern', gate: true, policies: ['Observe'], onlyObserve: true, valid: true, paused: false }
const policy = { ...pass, create: false, update: false, delete: false, lateInitialize: false }

const layouts: Record<string, { because: string; files: Record<string, string>; want: string }> = {
  Empty: { because: 'there is nothing to run', files: {}, want: '0 passed, 0 failed, 0 skipped' },
  NotJson: { because: 'a broken file is a failure', files: { 'a.json': '{' }, want: '0 passed, 1 failed, 0 skipped' },
  NoVectors: {
    because: 'nobody knows what it is for',
    files: { 'index.json': '{"version":1}', 'list.json': '[]', 'notes.md': 'text' },
    want: '0 passed, 0 failed, 2 skipped',
  },
  OneList: {
    because: 'a file need not hold every list, nor have its usual name',
    files: { 'some.json': JSON.stringify({ paused: [{ value: 'true', paused: true }] }) },
    want: '1 passed, 0 failed, 0 skipped',
  },
  UnknownList: {
    because: 'what is unknown is skipped, the rest runs',
    files: { 'policies.json': JSON.stringify({ cases: [{ ...policy, note: 'more than we ask for' }], novel: [1, 2] }) },
    want: '1 passed, 0 failed, 2 skipped',
  },
  NotUnderstood: {
    because: 'a vector that we cannot run is not passed over',
    files: { 'reconcile.json': JSON.stringify({ cases: [{ id: 'x', kind: 'alien', outcome: 7 }], outcomes: [] }) },
    want: '0 passed, 1 failed, 0 skipped',
  },
}

for (const [name, { because, files, want }] of Object.entries(layouts)) {
  test(`vectors of another layout are counted honestly: ${name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
    t.after(() => rmSync(folder, { recursive: true }))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    const { passed, failed, skipped } = await runVectors(folder)
    assert.equal(`${passed} passed, ${failed} failed, ${skipped} skipped`, want, because)
  })
}
