import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { builtinDefinitions, type Helpers } from '../builtin/index.js'
import { customConventions } from '../definitions/custom-conventions.js'
import type { Definition } from '../definitions/definition.js'
import { openApiV2, openApiV3, openApiV3Index } from './document.js'

const definitions = builtinDefinitions({
  answers: {},
  validateCrd: () => [],
  checkExpression: () => undefined,
} as unknown as Helpers)

const schema: JSONSchemaProps = {
  type: 'object',
  description: 'A thing.',
  properties: {
    spec: {
      type: 'object',
      required: ['size', 'maybe'],
      properties: {
        size: { type: 'integer', default: 1 },
        maybe: { type: 'string', nullable: true },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} },
      },
    },
  },
}

function custom(generation: number, own: JSONSchemaProps | undefined = schema): Definition {
  return {
    group: 'stable.example.com',
    names: {
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      shortNames: [],
      categories: [],
    },
    namespaced: true,
    versions: [
      {
        name: 'v1',
        ...(own ? { schema: own } : {}),
        subresources: { status: true },
        columns: [],
        selectableFields: ['.spec.size'],
      },
    ],
    storage: 'v1',
    verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    strategy: {
      ...customConventions,
      generation: 'onChange',
      unconditionalUpdate: false,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
    },
    identity: `x/${generation}`,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of any shape.
const parse = (json: Buffer): any => JSON.parse(json.toString())

/** Returns everything that a document references. */
function references(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const one of value) references(one, found)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      if (key === '$ref' && typeof one === 'string') found.add(one.slice(one.lastIndexOf('/') + 1))
      else references(one, found)
    }
  }
  return found
}

test('every reference of every document resolves', () => {
  const all = [...definitions, custom(1)]
  const v2 = parse(openApiV2(all).json)
  for (const name of references(v2)) assert.ok(name in v2.definitions, name)
  for (const { serverRelativeURL } of Object.values(parse(openApiV3Index(all).json).paths) as {
    serverRelativeURL: string
  }[]) {
    const [, , , root, ...rest] = serverRelativeURL.split('?')[0]!.split('/')
    if (root !== 'api' && root !== 'apis') continue
    const [group, version] = root === 'api' ? ['', rest[0]!] : [rest[0]!, rest[1]!]
    const v3 = parse(openApiV3(all, group, version)!.json)
    for (const name of references(v3)) assert.ok(name in v3.components.schemas, `${serverRelativeURL}: ${name}`)
  }
})

test('built-in kinds carry the extensions for apply and patch', () => {
  const { components, paths } = parse(openApiV3(definitions, '', 'v1')!.json)
  const meta = components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'].properties
  assert.deepEqual(meta.ownerReferences['x-kubernetes-list-map-keys'], ['uid'])
  assert.equal(meta.ownerReferences['x-kubernetes-patch-merge-key'], 'uid')
  assert.equal(meta.finalizers['x-kubernetes-list-type'], 'set')
  const secret = components.schemas['io.k8s.api.core.v1.Secret']
  assert.deepEqual(secret['x-kubernetes-group-version-kind'], [{ group: '', kind: 'Secret', version: 'v1' }])
  const { patch } = paths['/api/v1/namespaces/{namespace}/secrets/{name}']
  assert.equal(patch.operationId, 'patchCoreV1NamespacedSecret')
  assert.ok(patch.parameters.some(({ name }: { name: string }) => name === 'fieldValidation'))
})

test('custom kinds are published with their own descriptions', () => {
  const { components } = parse(openApiV3([custom(1)], 'stable.example.com', 'v1')!.json)
  const thing = components.schemas['com.example.stable.v1.Thing']
  assert.equal(thing.description, 'A thing.')
  assert.deepEqual(thing['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.size' }])
  const { size, maybe, any, inner } = thing.properties.spec.properties
  assert.deepEqual(size, { type: 'integer', default: 1 })
  assert.equal(maybe.nullable, true)
  assert.ok('a' in any.properties)
  assert.deepEqual(inner.required, ['kind', 'apiVersion'])
})

test('OpenAPI 2 leaves out what kubectl would take too literally', () => {
  const thing = parse(openApiV2([custom(1)]).json).definitions['com.example.stable.v1.Thing']
  const { spec } = thing.properties
  assert.deepEqual(spec.required, ['size'], 'a nullable field cannot be required')
  assert.equal(spec.properties.maybe.type, undefined)
  assert.equal(spec.properties.any.properties, undefined)
  assert.equal(spec.properties.port.anyOf, undefined)
  assert.equal(spec.properties.size.default, undefined)
})

test('a kind without a schema accepts any object', () => {
  const thing = parse(
    openApiV3(
      [{ ...custom(1), versions: [{ ...custom(1).versions[0]!, schema: undefined }] }],
      'stable.example.com',
      'v1',
    )!.json,
  )
  assert.equal(thing.components.schemas['com.example.stable.v1.Thing'].properties, undefined)
})

test('documents are rendered again if and only if a definition changed', () => {
  const one = custom(1)
  const first = openApiV3([one], 'stable.example.com', 'v1')
  assert.equal(openApiV3([...[one]], 'stable.example.com', 'v1'), first)
  const changed = openApiV3([custom(2, { ...schema, description: 'Another.' })], 'stable.example.com', 'v1')
  assert.notEqual(changed!.hash, first!.hash)
  assert.equal(openApiV3([one], 'stable.example.com', 'v2'), undefined)
})

test('the protobuf form has every model', () => {
  const { protobuf } = openApiV2(definitions)
  for (const name of ['io.k8s.api.core.v1.Secret', '/api/v1/namespaces/{name}/finalize']) {
    assert.ok(protobuf.includes(Buffer.from(name)), name)
  }
})
