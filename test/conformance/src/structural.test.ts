import type { Case } from './harness/case.js'
import { CRDS, definition } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

/** Schemas of the field `spec.x`, to compare the responses for the CRD. Dry runs, so nothing is stored. */
const properties: Record<string, Record<string, Loose>> = {
  types: {
    'type is missing': {},
    'type is unknown': { type: 'thing' },
    'type is a list': { type: ['string', 'null'] },
    'null is no type': { type: 'null' },
    string: { type: 'string' },
    'array without items': { type: 'array' },
    'items without type': { type: 'array', items: {} },
    'items as a list': { type: 'array', items: [{ type: 'string' }] },
    'object without anything': { type: 'object' },
    'properties without type': { properties: { y: { type: 'string' } } },
    'unknown format is kept': { type: 'string', format: 'made-up' },
  },
  keywords: {
    $ref: { $ref: '#/definitions/x' },
    id: { type: 'string', id: 'x' },
    definitions: { type: 'object', definitions: { y: { type: 'string' } } },
    dependencies: { type: 'object', dependencies: { a: ['b'] } },
    deprecated: { type: 'string', deprecated: true },
    discriminator: { type: 'object', discriminator: { propertyName: 'x' } },
    readOnly: { type: 'string', readOnly: true },
    writeOnly: { type: 'string', writeOnly: true },
    xml: { type: 'string', xml: {} },
    'uniqueItems true': { type: 'array', items: { type: 'string' }, uniqueItems: true },
    'uniqueItems false': { type: 'array', items: { type: 'string' }, uniqueItems: false },
    'additionalProperties and properties': {
      type: 'object',
      properties: { y: { type: 'string' } },
      additionalProperties: { type: 'string' },
    },
    'additionalProperties false': { type: 'object', additionalProperties: false },
    'additionalProperties true': { type: 'object', additionalProperties: true },
    patternProperties: { type: 'object', patternProperties: { '^x': { type: 'string' } } },
    additionalItems: { type: 'array', items: { type: 'string' }, additionalItems: false },
    'unknown keyword': { type: 'string', nonsense: true },
    'bad pattern': { type: 'string', pattern: '([' },
    'lookahead pattern': { type: 'string', pattern: '(?=x)' },
    'minimum above maximum': { type: 'integer', minimum: 5, maximum: 3 },
    'enum empty': { type: 'string', enum: [] },
    'enum duplicates': { type: 'string', enum: ['a', 'a'] },
    'title and description': {
      type: 'string',
      title: 'T',
      description: 'D',
      example: 'E',
      externalDocs: { url: 'https://example.com' },
    },
  },
  junctors: {
    'anyOf with values only': { type: 'string', anyOf: [{ minLength: 1 }, { pattern: '^a' }] },
    'anyOf with type': { type: 'string', anyOf: [{ type: 'string' }] },
    'allOf with default': { type: 'string', allOf: [{ default: 'x' }] },
    'oneOf with nullable': { type: 'string', oneOf: [{ nullable: true }] },
    'not with description': { type: 'string', not: { description: 'x' } },
    'not with title': { type: 'string', not: { title: 'x' } },
    'anyOf with additionalProperties': { type: 'object', anyOf: [{ additionalProperties: { type: 'string' } }] },
    'anyOf of properties unknown outside': {
      type: 'object',
      properties: { y: { type: 'string' } },
      anyOf: [{ properties: { z: { minLength: 1 } } }],
    },
    'anyOf of properties known outside': {
      type: 'object',
      properties: { y: { type: 'string' } },
      anyOf: [{ properties: { y: { minLength: 1 } } }, { required: ['y'] }],
    },
    'anyOf of items': { type: 'array', items: { type: 'string' }, anyOf: [{ items: { minLength: 1 } }] },
    'anyOf of items unknown outside': { type: 'object', anyOf: [{ items: { minLength: 1 } }] },
    'anyOf with extension': { type: 'object', anyOf: [{ 'x-kubernetes-preserve-unknown-fields': true }] },
    'anyOf with validations': { type: 'object', anyOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
    'not with properties': {
      type: 'object',
      properties: { y: { type: 'string' } },
      not: { properties: { y: { enum: ['x'] } } },
    },
  },
  extensions: {
    'int-or-string alone': { 'x-kubernetes-int-or-string': true },
    'int-or-string with type': { type: 'string', 'x-kubernetes-int-or-string': true },
    'int-or-string with anyOf': {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    },
    'int-or-string with allOf': {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^1' }],
    },
    'int-or-string with other anyOf': {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'string' }, { type: 'integer' }],
    },
    'int-or-string false': { type: 'string', 'x-kubernetes-int-or-string': false },
    'preserve true': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    'preserve false': { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    'preserve without type': { 'x-kubernetes-preserve-unknown-fields': true },
    'preserve on a string': { type: 'string', 'x-kubernetes-preserve-unknown-fields': true },
    'embedded with preserve': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    'embedded alone': { type: 'object', 'x-kubernetes-embedded-resource': true },
    'embedded with properties': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object' } },
    },
    'embedded on a string': { type: 'string', 'x-kubernetes-embedded-resource': true },
    'embedded and int-or-string': { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-int-or-string': true },
    'embedded with metadata schema': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        metadata: { type: 'object', properties: { name: { type: 'string', pattern: 'x' } } },
        kind: { type: 'string' },
        apiVersion: { type: 'string' },
      },
    },
    'embedded with wrong kind type': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { kind: { type: 'integer' } },
    },
    'unknown extension': { type: 'string', 'x-kubernetes-nonsense': true },
  },
  lists: {
    atomic: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    'set of objects': { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    'set of atomic objects': {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
      'x-kubernetes-list-type': 'set',
    },
    'set of nullable': { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
    'set of atomic lists': {
      type: 'array',
      items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
      'x-kubernetes-list-type': 'set',
    },
    map: {
      type: 'array',
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map without keys': {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
    },
    'map with unknown key': {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['z'],
    },
    'map with duplicate keys': {
      type: 'array',
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'k'],
    },
    'map with object key': {
      type: 'array',
      items: { type: 'object', required: ['k'], properties: { k: { type: 'object' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map with optional key': {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map with defaulted key': {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string', default: 'x' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map with nullable key': {
      type: 'array',
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string', nullable: true } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map of nullable items': {
      type: 'array',
      items: { type: 'object', nullable: true, required: ['k'], properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'map of strings': {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    'keys without map': {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-map-keys': ['k'],
    },
    'unknown list type': { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' },
    'list type on an object': { type: 'object', 'x-kubernetes-list-type': 'atomic' },
    'map type granular': { type: 'object', 'x-kubernetes-map-type': 'granular' },
    'map type unknown': { type: 'object', 'x-kubernetes-map-type': 'loose' },
    'map type on a list': { type: 'array', items: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
  },
  defaults: {
    'of the right type': { type: 'string', default: 'x' },
    'of the wrong type': { type: 'string', default: 5 },
    'that breaks a rule': { type: 'string', maxLength: 1, default: 'xx' },
    'null, not nullable': { type: 'string', default: null },
    'null, nullable': { type: 'string', nullable: true, default: null },
    'with unknown fields': { type: 'object', properties: { y: { type: 'string' } }, default: { y: 'a', z: 'b' } },
    'missing what is required': { type: 'object', required: ['y'], properties: { y: { type: 'string' } }, default: {} },
    'filled by inner defaults': {
      type: 'object',
      required: ['y'],
      properties: { y: { type: 'string', default: 'a' } },
      default: {},
    },
    'of an embedded resource': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      default: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    },
    'of an embedded resource, broken': {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      default: { metadata: { name: 'a' } },
    },
    'of a list': { type: 'array', items: { type: 'integer' }, default: [1, 2] },
    'of int-or-string': { 'x-kubernetes-int-or-string': true, default: '50%' },
    'that breaks a CEL rule': { type: 'integer', default: 5, 'x-kubernetes-validations': [{ rule: 'self < 3' }] },
  },
}

const roots: Record<string, Loose> = {
  'not an object': { type: 'string' },
  'no type': { properties: {} },
  'nullable root': { type: 'object', nullable: true },
  'default at root': { type: 'object', default: {} },
  'preserve at root': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'additionalProperties at root': { type: 'object', additionalProperties: { type: 'string' } },
  'embedded at root': { type: 'object', 'x-kubernetes-embedded-resource': true },
  'kind of another type': { type: 'object', properties: { kind: { type: 'integer' } } },
  'apiVersion with an enum': { type: 'object', properties: { apiVersion: { type: 'string', enum: ['x'] } } },
  'metadata plain': { type: 'object', properties: { metadata: { type: 'object' } } },
  'metadata of another type': { type: 'object', properties: { metadata: { type: 'string' } } },
  'metadata.name with a pattern': {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a', maxLength: 5 } } } },
  },
  'metadata.labels': {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
  },
  'metadata required': { type: 'object', properties: { metadata: { type: 'object', required: ['labels'] } } },
  'metadata default': {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'x' } } } },
  },
  'metadata in anyOf': {
    type: 'object',
    anyOf: [{ properties: { metadata: { properties: { name: { pattern: '^a' } } } } }],
  },
  'required at root': { type: 'object', required: ['spec', 'metadata', 'none'] },
}

const cases: Record<string, (t: Case) => Promise<void>> = {}
for (const [what, schemas] of Object.entries(properties)) {
  for (const [name, x] of Object.entries(schemas)) {
    cases[`${what}: ${name}`] = async (t) => {
      const { crd } = definition(t, { properties: { spec: { type: 'object', properties: { x } } } })
      const schemaOf = (body: Loose) => body.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x
      await t.post(CRDS, crd, {
        query: { dryRun: 'All' },
        pick: (body) => (body.kind === 'Status' ? body : schemaOf(body)),
      })
    }
  }
}
for (const [name, schema] of Object.entries(roots)) {
  cases[`root: ${name}`] = async (t) => {
    const { crd } = definition(t, { schema })
    await t.post(CRDS, crd, { query: { dryRun: 'All' }, pick: (body) => (body.kind === 'Status' ? body : 'accepted') })
  }
}

conformance('structural', cases)
