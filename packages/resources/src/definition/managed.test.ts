import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { absent } from './external.js'
import { defineManaged, type ManagedDefinition } from './managed.js'
import { checkTogether, DefinitionError } from './patterns.js'
import { type Fields, type Infer, type ObjectSchema, s } from './schema.js'

const vpcType = {
  group: 'ec2.test.crossplane.io',
  version: 'v1beta1',
  kind: 'VPC',
  resource: 'vpcs',
  namespaced: false,
}

const parameters = s.object({
  region: s.identifier(s.string({ doc: 'Where it is.' })),
  clusterName: s.reference(s.string({ immutable: true }), { to: () => vpcType }),
  subnetIds: s.optional(s.reference(s.list(s.string(), { set: true }), { to: () => vpcType })),
  version: s.optional(s.string({ enum: ['1.33', '1.34'] })),
  adminPassword: s.sensitive({ doc: 'Password of the administrator.' }),
  scalingConfig: s.object({
    desiredSize: s.integer(),
    maxSize: s.integer({ minimum: 1 }),
    minSize: s.optional(s.integer()),
  }),
  tags: s.optional(s.map(s.string(), { shared: true })),
  taints: s.optional(s.list(s.object({ key: s.string(), effect: s.optional(s.string()) }), { keys: ['key'] })),
})
const observation = s.object({ arn: s.string(), scalingConfig: s.object({ status: s.string() }) })

function define<F extends Fields, O extends Fields>(
  given: ObjectSchema<F>,
  more: Partial<ManagedDefinition<F, O, null>> = {},
) {
  return defineManaged({
    group: 'eks.test.crossplane.io',
    version: 'v1alpha1',
    kind: 'NodeGroup',
    parameters: given,
    observation: s.object({}) as unknown as ObjectSchema<O>,
    naming: 'user-chosen',
    connect: () => null,
    observe: async () => absent,
    create: async () => ({}),
    update: async () => {},
    delete: async () => {},
    ...more,
  })
}

const kind = define(parameters, { observation, tags: { field: 'tags' } })
const schema = (kind.crd()['spec'] as { versions: { schema: { openAPIV3Schema: JSONSchemaProps } }[] }).versions[0]!
  .schema.openAPIV3Schema
const spec = schema.properties!['spec']!
const status = schema.properties!['status']!
const forProvider = spec.properties!['forProvider']!

test('MR1 the CRD is cluster-scoped, with provider fields in forProvider and atProvider', () => {
  assert.equal((kind.crd()['spec'] as { scope: string }).scope, 'Cluster')
  assert.deepEqual(spec.required, ['forProvider'])
  assert.ok(status.properties!['atProvider'])
  assert.deepEqual(kind.type.resource, 'nodegroups')
})

test('MR4 atProvider covers forProvider by construction, sensitive fields and references aside', () => {
  const at = status.properties!['atProvider']!
  assert.deepEqual(Object.keys(at.properties!).sort(), [
    'arn',
    'clusterName',
    'region',
    'scalingConfig',
    'subnetIds',
    'tags',
    'taints',
    'version',
  ])
  assert.deepEqual(Object.keys(at.properties!['scalingConfig']!.properties!), [
    'desiredSize',
    'maxSize',
    'minSize',
    'status',
  ])
  assert.equal(at.required, undefined)
})

test('MR9 a sensitive field is a secret key selector, and says that it is made up', () => {
  assert.equal(forProvider.properties!['adminPassword'], undefined)
  const ref = forProvider.properties!['adminPasswordSecretRef']!
  assert.deepEqual(ref.required, ['name', 'namespace', 'key'])
  assert.match(ref.description!, /random value is generated/)
})

test('INI1 initProvider has the fields of forProvider and requires none', () => {
  const init = spec.properties!['initProvider']!
  assert.deepEqual(Object.keys(init.properties!), Object.keys(forProvider.properties!))
  assert.equal(init.required, undefined)
})

test('POL10 identifiers are always required, others by rules that know policies and initProvider', () => {
  assert.deepEqual(forProvider.required, ['region'])
  const messages = spec['x-kubernetes-validations']!.map(({ message }) => message)
  assert.deepEqual(messages.slice(1), [
    'spec.forProvider.clusterName is a required parameter',
    'spec.forProvider.scalingConfig is a required parameter',
    'spec.forProvider.scalingConfig.desiredSize is a required parameter',
    'spec.forProvider.scalingConfig.maxSize is a required parameter',
  ])
  const byReference = spec['x-kubernetes-validations']![1]!.rule
  assert.match(byReference, /has\(self\.forProvider\.clusterNameRef\)/)
  assert.match(byReference, /has\(self\.initProvider\) && has\(self\.initProvider\.clusterNameSelector\)/)
})

test('MR11 value and Ref are immutable, the Selector is not', () => {
  const rules = schema['x-kubernetes-validations']!
  assert.deepEqual(
    rules.map(({ message }) => message),
    [
      'spec.forProvider.region is immutable: the external resource exists or is being created',
      'spec.forProvider.clusterName is immutable: the external resource exists or is being created',
      'spec.forProvider.clusterNameRef is immutable: the external resource exists or is being created',
    ],
  )
})

test('AGG6 references add Ref and Selector, in the singular for lists', () => {
  assert.ok(forProvider.properties!['subnetIdRefs'])
  const selector = forProvider.properties!['subnetIdSelector']!
  assert.deepEqual(Object.keys(selector.properties!).slice(0, 4), [
    'matchLabels',
    'matchControllerRef',
    'matchAggregate',
    'matchClassRef',
  ])
})

test('CLM1 every managed kind has its class kind', () => {
  const names = (kind.classCrd()['spec'] as { names: { kind: string; plural: string } }).names
  assert.equal(names.kind, 'NodeGroupClass')
  assert.equal(names.plural, 'nodegroupclasses')
})

test('the page names every field', () => {
  const page = kind.page()
  for (const field of ['scalingConfig.desiredSize', 'adminPasswordSecretRef', 'subnetIdRefs', 'arn']) {
    assert.ok(page.includes(`\`${field}\``), field)
  }
})

test('parameter types are inferred', () => {
  const value: Infer<typeof parameters> = {
    region: 'r',
    clusterName: 'c',
    adminPassword: 'p',
    scalingConfig: { desiredSize: 1, maxSize: 2 },
    version: '1.34',
  }
  // @ts-expect-error: not one of the versions.
  value.version = '1.2'
  assert.ok(value)
})

const refused: Record<string, { readonly because: RegExp; readonly given: () => unknown }> = {
  EmptyObject: {
    because: /MR8: logging is optional and has one field/,
    given: () => define(s.object({ logging: s.optional(s.object({ level: s.optional(s.string()) })) })),
  },
  PlainPassword: {
    because: /MR9: masterPassword looks sensitive/,
    given: () => define(s.object({ masterPassword: s.string() })),
  },
  EmbeddedKind: {
    because: /MR12: subnets repeats the kind Subnet/,
    given: () => define(s.object({ subnets: s.list(s.object({ cidr: s.string() })) }), { ownKinds: ['Subnet'] }),
  },
  ObservedParameter: {
    because: /MR4: size is a parameter/,
    given: () =>
      define(s.object({ size: s.integer() }), { observation: s.object({ size: s.integer() }) as ObjectSchema<Fields> }),
  },
  ReferenceInList: {
    because: /MR10: routes.gatewayId is a reference inside a list/,
    given: () =>
      define(s.object({ routes: s.list(s.object({ gatewayId: s.reference(s.string(), { to: () => vpcType }) })) })),
  },
  OptionalKey: {
    because: /INI1: items of taints are known by key/,
    given: () =>
      define(s.object({ taints: s.list(s.object({ key: s.optional(s.string()), v: s.string() }), { keys: ['key'] }) })),
  },
  PrivateTags: {
    because: /MR13: tags.field tags must be/,
    given: () => define(s.object({ tags: s.map(s.string()) }), { tags: { field: 'tags' } }),
  },
  NestedIdentifier: {
    because: /POL10: identifier place.region is nested/,
    given: () => define(s.object({ place: s.object({ region: s.identifier(s.string()), zone: s.string() }) })),
  },
  AssignedAndIdempotent: {
    because: /XN2: only a create under a chosen name/,
    given: () => define(s.object({}), { naming: 'provider-assigned', idempotentCreate: true }),
  },
  ImmutableInList: {
    because: /MR11: rules.port is immutable inside a list/,
    given: () => define(s.object({ rules: s.list(s.object({ port: s.integer({ immutable: true }) })) })),
  },
  SensitiveInList: {
    because: /MR10: users.password is a reference inside a list/,
    given: () => define(s.object({ users: s.list(s.object({ name: s.string(), password: s.sensitive() })) })),
  },
  DeclaredReference: {
    because: /MR10: vpcId adds a field vpcIdRef that is declared too/,
    given: () =>
      define(s.object({ vpcId: s.reference(s.string(), { to: () => vpcType }), vpcIdRef: s.optional(s.string()) })),
  },
  DeclaredSecretRef: {
    because: /MR10: key adds a field keySecretRef that is declared too/,
    given: () => define(s.object({ key: s.sensitive(), keySecretRef: s.string() })),
  },
  ObservedSecret: {
    because: /MR9: key is sensitive and must not be observed/,
    given: () =>
      define(s.object({ key: s.sensitive() }), { observation: s.object({ key: s.string() }) as ObjectSchema<Fields> }),
  },
  UnknownTags: {
    because: /MR13: tags.field labels must be/,
    given: () => define(s.object({}), { tags: { field: 'labels' as never } }),
  },
  UnknownNaming: {
    because: /XN1: naming must be 'user-chosen' or 'provider-assigned', not "chosen"/,
    given: () => define(s.object({}), { naming: JSON.parse('"chosen"') }),
  },
  BadVersion: { because: /MR2: version "1.0"/, given: () => define(s.object({}), { version: '1.0' }) },
  BadKind: { because: /MR2: kind "node_group"/, given: () => define(s.object({}), { kind: 'node_group' }) },
  BadGroup: { because: /MR2: group "aws"/, given: () => define(s.object({}), { group: 'aws' }) },
}

for (const [name, { because, given }] of Object.entries(refused)) {
  test(`MR8 a definition that breaks a pattern is refused: ${name}`, () => {
    assert.throws(given, (error: Error) => error instanceof DefinitionError && because.test(error.message))
  })
}

test('MR8 all that is wrong is told at once', () => {
  const given = () => define(s.object({ masterPassword: s.string() }), { group: 'aws', version: '1.0' })
  assert.throws(given, (error: Error) => error instanceof DefinitionError && error.complaints.length === 3)
})

test('MR9 a choice of a few words is no secret, whatever it is called', () => {
  define(s.object({ httpTokens: s.string({ enum: ['optional', 'required'] }) }))
})

test('MR12 kinds of one provider do not embed each other, those of different ones may share words', () => {
  const network = define(s.object({ subnets: s.list(s.object({ cidr: s.string() })) }), {
    group: 'net.azure.test.io',
    kind: 'Network',
  })
  const subnet = (group: string) => define(s.object({ cidr: s.string() }), { group, kind: 'Subnet' })
  assert.throws(() => checkTogether([network, subnet('net.azure.test.io')]), /MR12: subnets repeats the kind Subnet/)
  checkTogether([network, subnet('ec2.aws.test.io')])
})
