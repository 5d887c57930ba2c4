import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { StatusError } from '../errors.js'
import { clone } from '../json.js'
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from './index.js'

/** The results of the libraries of kube-apiserver 1.34 for generated inputs. */
interface Vectors {
  readonly schema?: JSONSchemaProps
  readonly cases: readonly { doc: unknown; patch: unknown; want?: unknown; err?: string }[]
}

function vectors(name: string): Vectors {
  return JSON.parse(readFileSync(new URL(`../../src/patch/testdata/${name}.json`, import.meta.url), 'utf8'))
}

function compare(name: string, apply: (doc: unknown, patch: unknown, schema: JSONSchemaProps) => unknown): void {
  const { schema = {}, cases } = vectors(name)
  const wrong: unknown[] = []
  for (const given of cases) {
    const doc = clone(given.doc)
    const patch = clone(given.patch)
    let got: unknown
    try {
      got = { want: apply(doc, patch, schema) }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      got = { err: error.cause instanceof Error ? error.cause.message : error.message }
    }
    const want = given.err === undefined ? { want: given.want } : { err: given.err }
    try {
      assert.deepEqual(got, want)
    } catch {
      wrong.push({ ...given, got })
    }
    assert.deepEqual([doc, patch], [given.doc, given.patch], 'inputs are not changed')
  }
  assert.equal(
    wrong.length,
    0,
    `${wrong.length} of ${cases.length} differ: ${JSON.stringify(wrong.slice(0, 3), null, 1)}`,
  )
}

test('JSON patches give the same result as in Kubernetes', () => compare('json', applyJsonPatch))
test('merge patches give the same result as in Kubernetes', () => compare('merge', applyMergePatch))
test('strategic merge patches give the same result as in Kubernetes', () =>
  compare('strategic', applyStrategicMergePatch))

test('a JSON patch shares untouched parts', () => {
  const document = { a: { b: [1, 2] }, c: { d: 1 } }
  const patched = applyJsonPatch(document, [{ op: 'add', path: '/a/b/-', value: 3 }]) as typeof document
  assert.deepEqual(patched, { a: { b: [1, 2, 3] }, c: { d: 1 } })
  assert.equal(patched.c, document.c)
  assert.deepEqual(document.a.b, [1, 2])
})

test('invalid patches are rejected', () => {
  const cases: Record<string, { run: () => unknown; code: number; message: RegExp }> = {
    'a JSON patch that is not a list': {
      run: () => applyJsonPatch({}, {}),
      code: 400,
      message: /^error decoding patch: json: cannot unmarshal object into Go value of type \[\]handlers\.jsonPatchOp$/,
    },
    'too many operations': {
      run: () => applyJsonPatch({}, Array(10_001).fill({ op: 'add', path: '/a', value: 1 })),
      code: 413,
      message: /^Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001$/,
    },
    'a failed test': {
      run: () => applyJsonPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }]),
      code: 422,
      message: /^the server rejected our request due to an error in our request$/,
    },
    'copies that double the document repeatedly': {
      run: () => {
        const copies = Array(40)
          .fill([{ op: 'copy', from: '/a', path: '/a/-' }])
          .flat()
        return applyJsonPatch({ a: ['x'.repeat(1000)] }, copies)
      },
      code: 422,
      message: /rejected/,
    },
    'a merge patch that is not an object': {
      run: () => applyMergePatch({}, []),
      code: 400,
      message: /^error decoding patch: json: cannot unmarshal array into Go value of type map\[string\]interface \{\}$/,
    },
    'a merge patch that is null': { run: () => applyMergePatch({}, null), code: 400, message: /^Invalid JSON Patch$/ },
  }
  for (const [name, { run, code, message }] of Object.entries(cases)) {
    assert.throws(run, (error: unknown) => {
      assert.ok(error instanceof StatusError, name)
      assert.equal(error.code, code, name)
      assert.match(error.message, message, name)
      return true
    })
  }
})

test('__proto__ is an ordinary key', () => {
  const evil = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
  const text = JSON.stringify(evil)
  assert.equal(JSON.stringify(applyMergePatch({}, evil)), text)
  assert.equal(JSON.stringify(applyStrategicMergePatch({}, evil, {})), text)
  const patched = applyJsonPatch({}, [
    { op: 'add', path: '/__proto__', value: {} },
    { op: 'add', path: '/__proto__/polluted', value: true },
  ])
  assert.equal(JSON.stringify(patched), '{"__proto__":{"polluted":true}}')
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})
