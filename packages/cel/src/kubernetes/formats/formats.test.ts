import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatCheck } from './index.js'

const file = new URL('../../../src/kubernetes/formats/testdata/formats.json', import.meta.url)
/** The texts that Kubernetes 1.34.4 accepts (true) and rejects (false), by format. */
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, boolean>>

test('formats agree with kube-apiserver', () => {
  for (const [format, texts] of Object.entries(recorded)) {
    for (const [text, want] of Object.entries(texts)) {
      assert.equal(formatCheck(format)!(text), want, `${format} ${JSON.stringify(text)}`)
    }
  }
})
