import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as names from '@crosstie/cel/kubernetes'
import { printJson } from '@crosstie/cel/kubernetes'
import { type FieldError, fieldErrorBody } from './errors.js'
import { decodeMeta } from './metadata/decode.js'
import { finalizerWarnings, validateObjectMeta, validateObjectMetaUpdate } from './metadata.js'
import type { ObjectMeta } from './object.js'

// The results of the Go packages of Kubernetes 1.34.4 for the same inputs.
interface Recorded {
  readonly names: { readonly texts: string[]; readonly want: Record<string, Record<string, string[]>> }
  readonly meta: readonly {
    readonly op: string
    readonly object: ObjectMeta
    readonly old?: ObjectMeta
    readonly args?: readonly [names.NameRule]
    readonly root?: boolean
    readonly want: readonly unknown[]
  }[]
  readonly decode: readonly {
    readonly metadata: unknown
    readonly drop: boolean
    readonly want: { readonly error?: string; readonly meta?: unknown; readonly unknown: readonly string[] }
  }[]
}

const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../src/metadata/testdata/recorded.json', import.meta.url), 'utf8'),
)

test('names agree with kube-apiserver', () => {
  for (const [rule, want] of Object.entries(recorded.names.want)) {
    const check = Object.entries(names).find(([name]) => name === rule)![1] as names.NameCheck
    for (const text of recorded.names.texts) assert.deepEqual(check(text), want[text] ?? [], `${rule} ${text}`)
  }
})

test('errors about metadata agree with kube-apiserver', () => {
  for (const { op, object, old, args, root = false, want } of recorded.meta) {
    const errors =
      op === 'objectmeta'
        ? validateObjectMeta(object, { namespaced: root, nameRule: args![0] })
        : validateObjectMetaUpdate(object, old!)
    assert.deepEqual(bodies(errors), want.map(printJson).sort(), JSON.stringify({ op, object, old, args, root }))
  }
})

const bodies = (errors: readonly FieldError[]) =>
  errors.map((error) => printJson({ type: error.type, field: error.field, body: fieldErrorBody(error) })).sort()

test('decoding of metadata agrees with kube-apiserver', () => {
  for (const { metadata, drop, want } of recorded.decode) {
    const unknown: string[] = []
    const { meta, error } = decodeMeta(metadata, { drop, unknown })
    const got = { error, meta, unknown: error === undefined ? unknown : [] }
    assert.equal(printJson(got), printJson(want), JSON.stringify({ metadata, drop }))
  }
})

test('metadata that needs no change is returned as the same object', () => {
  const metadata = {
    name: 'a',
    labels: { a: 'b' },
    creationTimestamp: '2020-01-01T00:00:00Z',
    ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'b', uid: 'c', controller: true }],
    managedFields: [{ manager: 'm', operation: 'Apply', fieldsV1: { 'f:a': {} } }],
  }
  assert.equal(decodeMeta(metadata).meta, metadata)
})

test('added finalizers without a domain cause warnings', () => {
  const warnings = finalizerWarnings({ finalizers: ['mine', 'a.b', 'a.b/c', 'orphan', 'old'] }, { finalizers: ['old'] })
  assert.deepEqual(warnings, [
    'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
  ])
})
