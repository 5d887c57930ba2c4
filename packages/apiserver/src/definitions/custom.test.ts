import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText, type KubeObject } from '@crosstie/kube'
import type { DefinitionSpec, DefinitionVersion } from '@crosstie/kube/schema'
import { authenticated } from '../access/user.js'
import { ageColumn, nameColumn } from './columns.js'
import type { CustomResourceDefinition } from './crd.js'
import { definitionOf } from './custom.js'
import type { WriteContext } from './definition.js'
import { byPriority } from './versions.js'

const schema = { openAPIV3Schema: { type: 'object' } }

function crd(versions: readonly DefinitionVersion[], spec: Partial<DefinitionSpec> = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com', uid: 'u', generation: 3 },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'foos', kind: 'Foo' }, versions, ...spec },
  }
}

test('versions are sorted by maturity', () => {
  const names = ['foo1', 'v1beta1', 'v10', 'v1alpha1', 'foo10', 'v2', 'v1', 'v11beta2', 'v3beta1', 'v11alpha2']
  const want = ['v10', 'v2', 'v1', 'v11beta2', 'v3beta1', 'v1beta1', 'v11alpha2', 'v1alpha1', 'foo1', 'foo10']
  assert.deepEqual(names.sort(byPriority), want)
})

test('a CRD becomes a definition', () => {
  const column = { name: 'Color', type: 'string', jsonPath: '.spec.color' }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const definition = definitionOf(
    crd([
      { name: 'v1beta1', served: true, storage: false, schema, deprecated: true },
      { name: 'v1alpha1', served: false, storage: true, schema },
      {
        name: 'v1',
        served: true,
        storage: false,
        schema,
        subresources: { status: {}, scale },
        additionalPrinterColumns: [column],
        selectableFields: [{ jsonPath: '.spec.color' }],
      },
    ]),
  )
  const { strategy: _, ...plain } = definition
  assert.deepEqual(plain, {
    group: 'example.com',
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList', shortNames: [], categories: [] },
    namespaced: true,
    versions: [
      {
        name: 'v1',
        schema: { type: 'object' },
        subresources: { status: true, scale },
        columns: [nameColumn, column],
        selectableFields: ['.spec.color'],
      },
      {
        name: 'v1beta1',
        schema: { type: 'object' },
        subresources: {},
        columns: [nameColumn, ageColumn],
        selectableFields: [],
        deprecated: true,
        deprecationWarning: 'example.com/v1beta1 Foo is deprecated; use example.com/v1 Foo',
      },
    ],
    storage: 'v1alpha1',
    storageVersion: {
      name: 'v1alpha1',
      schema: { type: 'object' },
      subresources: {},
      columns: [nameColumn, ageColumn],
      selectableFields: [],
    },
    verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    convert: undefined,
    identity: 'u/3',
    crdUid: 'u',
  })
})

interface ScaleCase {
  readonly because: string
  readonly object: Record<string, unknown>
  readonly want: readonly string[]
  readonly subresource?: string
}

const scales: Record<string, ScaleCase> = {
  Sound: { because: 'both are small integers', object: { spec: { replicas: 1 }, status: { replicas: 2 } }, want: [] },
  Absent: { because: 'nothing is zero', object: {}, want: [] },
  Negative: {
    because: 'replicas cannot be negative',
    object: { spec: { replicas: -1 } },
    want: ['.spec.replicas: Invalid value: -1: should be a non-negative integer'],
  },
  Huge: {
    because: 'a Scale holds 32 bits',
    object: { status: { replicas: 2147483648 } },
    want: ['.status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647'],
  },
  WrongType: {
    because: 'a string is not a number',
    object: { spec: { replicas: 'x' }, status: 5 },
    want: [
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64',
      '.status.replicas: Invalid value: 0: .status.replicas accessor error: 5 is of the type int64, expected map[string]interface{}',
      '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected map[string]interface{}',
    ],
  },
  StatusOnly: {
    because: 'a write of the status is not refused because of the spec',
    object: { spec: { replicas: -1 }, status: { replicas: -2, selector: 5 } },
    subresource: 'status',
    want: [
      '.status.replicas: Invalid value: -2: should be a non-negative integer',
      '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
    ],
  },
}

for (const [name, { because, object, want, subresource = '' }] of Object.entries(scales)) {
  test(`scale: ${name}`, () => {
    const scale = {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    }
    const { strategy } = definitionOf(
      crd([{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }]),
    )
    const given = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' }, ...object } as KubeObject
    assert.deepEqual(strategy.validate!(given, undefined, context(subresource)).map(fieldErrorText), want, because)
  })
}

function context(subresource: string): WriteContext {
  const type = { group: 'example.com', version: 'v1', kind: 'Foo', resource: 'foos', namespaced: true }
  return { type, subresource, user: authenticated({ name: 'a', groups: [] }), now: 0, warnings: [] }
}
