import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { type FieldError, fieldErrorBody, fieldErrorText } from '../../errors.js'
import { defaultCustomResourceDefinition } from './defaults.js'
import type { CustomResourceDefinition, DefinitionVersion } from './types.js'
import { type DefinitionChecks, validateCustomResourceDefinition } from './validate.js'
import { definitionWarnings } from './warnings.js'

// Valid and invalid definitions, with the results of the Go packages of Kubernetes 1.34.4.
interface Recorded {
  readonly object: CustomResourceDefinition
  readonly old?: CustomResourceDefinition
  readonly want: readonly { readonly type: string; readonly field: string; readonly body: string }[]
}

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('../../../src/schema/definition/testdata/recorded.json', import.meta.url), 'utf8'),
)

// All recorded bundles are invalid PEM.
const caBundleError = () => 'unable to load root certificates: unable to parse bytes as PEM block'

test('errors of definitions agree with kube-apiserver', () => {
  for (const { object, old, want } of recorded) {
    const before = old && defaultCustomResourceDefinition(old)
    const errors = validateCustomResourceDefinition(defaultCustomResourceDefinition(object), before, { caBundleError })
    const wanted = [...new Set(want.map(({ type, field, body }) => `${type} ${field}: ${body}`))].sort()
    assert.deepEqual(errors.map(describe).sort(), wanted, JSON.stringify({ object, old }))
  }
})

const describe = (error: FieldError) => `${error.type} ${error.field}: ${fieldErrorBody(error)}`

function definition(schema: JSONSchemaProps, version: Partial<DefinitionVersion> = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'foos', kind: 'Foo' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  }
}

test('defaults: names, conversion and the stored version', () => {
  const crd = defaultCustomResourceDefinition(definition({ type: 'object' }))
  assert.deepEqual(crd.spec.names, { plural: 'foos', kind: 'Foo', singular: 'foo', listKind: 'FooList' })
  assert.deepEqual(crd.spec.conversion, { strategy: 'None' })
  assert.deepEqual(crd.status, { storedVersions: ['v1'] })
})

test('rules are compiled if the schema is valid, together with the old schema', () => {
  const ruled: JSONSchemaProps = { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.x' }] }
  const crd = defaultCustomResourceDefinition(definition(ruled))
  const asked: unknown[] = []
  const checkRules: DefinitionChecks['checkRules'] = (schema, path, { oldSchemas, unchanged }) => {
    asked.push([schema, path, oldSchemas, unchanged])
    return [{ type: 'Invalid', field: `${path}.x`, value: 1, detail: 'no' } as const]
  }
  const errors = validateCustomResourceDefinition(crd, undefined, { checkRules })
  assert.deepEqual(errors.map(fieldErrorText), ['spec.validation.openAPIV3Schema.x: Invalid value: 1: no'])
  const stored = { ...crd, metadata: { ...crd.metadata, resourceVersion: '1' } }
  validateCustomResourceDefinition(stored, stored, { checkRules })
  const path = 'spec.validation.openAPIV3Schema'
  assert.deepEqual(asked, [
    [ruled, path, undefined, false],
    [ruled, path, [ruled], true],
  ])
  const unsound = defaultCustomResourceDefinition(definition({ ...ruled, properties: { a: {} } }))
  validateCustomResourceDefinition(unsound, undefined, { checkRules })
  assert.equal(asked.length, 2, 'rules of an invalid schema are not compiled')
})

test('formats that are not validated cause one warning', () => {
  const crd = definition({
    type: 'object',
    properties: {
      a: { type: 'string', format: 'color' },
      b: { type: 'string', format: 'date-time' },
      c: { type: 'integer', format: 'int32' },
    },
  })
  assert.deepEqual(definitionWarnings(crd), ['unrecognized format "color"'])
  assert.deepEqual(definitionWarnings(crd, crd), [])
})
