import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DefinitionNames, DefinitionSpec } from '@crosstie/kube/schema'
import { acceptNames, setCondition } from './accept.js'
import { type CustomResourceDefinition, isEstablished } from './crd.js'

const noon = Date.UTC(2026, 0, 1, 12)
const foos: DefinitionNames = { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' }
const bars: DefinitionNames = { plural: 'bars', singular: 'bar', kind: 'Bar', listKind: 'BarList' }

function crd(
  names: DefinitionNames,
  spec: Partial<DefinitionSpec> = {},
  annotations?: Record<string, string>,
): CustomResourceDefinition {
  const group = spec.group ?? 'example.com'
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}`, ...(annotations ? { annotations } : {}) },
    spec: {
      group,
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      ...spec,
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }
}

const accepted = (given: CustomResourceDefinition) => acceptNames(given, [], noon)
const condition = ({ status }: CustomResourceDefinition, type: string) => {
  const found = status?.conditions?.find((one) => one.type === type)
  return found && `${found.status} ${found.reason}: ${found.message}`
}

test('free names are accepted, and the kind is established at once', () => {
  assert.deepEqual(accepted(crd({ ...foos, shortNames: ['f'], categories: ['all'] })).status, {
    conditions: [
      {
        lastTransitionTime: '2026-01-01T12:00:00Z',
        message: 'no conflicts found',
        reason: 'NoConflicts',
        status: 'True',
        type: 'NamesAccepted',
      },
      {
        lastTransitionTime: '2026-01-01T12:00:00Z',
        message: 'the initial names have been accepted',
        reason: 'InitialNamesAccepted',
        status: 'True',
        type: 'Established',
      },
    ],
    acceptedNames: { ...foos, shortNames: ['f'], categories: ['all'] },
    storedVersions: ['v1'],
  })
})

test('an accepted CRD is not changed', () => {
  const unchanged = accepted(crd(foos))
  assert.equal(acceptNames(unchanged, [accepted(crd(bars))], noon + 1000), unchanged)
})

interface ConflictCase {
  readonly because: string
  readonly names: DefinitionNames
  readonly want: string
  readonly got: DefinitionNames
}

const conflicts: Record<string, ConflictCase> = {
  Plural: {
    because: 'the plural is the short name of another',
    names: { ...bars, plural: 'f' },
    want: 'False PluralConflict: "f" is already in use',
    got: { plural: '', singular: 'bar', kind: 'Bar', listKind: 'BarList' },
  },
  Singular: {
    because: 'the singular is taken',
    names: { ...bars, singular: 'foo' },
    want: 'False SingularConflict: "foo" is already in use',
    got: { plural: 'bars', kind: 'Bar', listKind: 'BarList' },
  },
  ShortNames: {
    because: 'one taken short name costs all',
    names: { ...bars, shortNames: ['b', 'f', 'foos'] },
    want: 'False ShortNamesConflict: ["f" is already in use, "foos" is already in use]',
    got: { plural: 'bars', singular: 'bar', kind: 'Bar', listKind: 'BarList' },
  },
  Kind: {
    because: 'kinds and list kinds are one space of names',
    names: { ...bars, kind: 'FooList' },
    want: 'False KindConflict: "FooList" is already in use',
    got: { plural: 'bars', singular: 'bar', kind: '', listKind: 'BarList' },
  },
  ListKind: {
    because: 'the last conflict is reported',
    names: { plural: 'foos', singular: 'foo', kind: 'Bar', listKind: 'Foo' },
    want: 'False ListKindConflict: "Foo" is already in use',
    got: { plural: '', kind: 'Bar' },
  },
}

for (const [name, { because, names, want, got }] of Object.entries(conflicts)) {
  test(`conflict: ${name}`, () => {
    const other = accepted(crd({ ...foos, shortNames: ['f'] }))
    const refused = acceptNames(crd(names), [other], noon)
    assert.equal(condition(refused, 'NamesAccepted'), want, because)
    assert.equal(condition(refused, 'Established'), 'False NotAccepted: not all names are accepted')
    assert.deepEqual(refused.status?.acceptedNames, got)
    assert.ok(isEstablished(acceptNames(refused, [], noon)), 'it is accepted after the other CRD was deleted')
  })
}

test('names of another group do not conflict', () => {
  assert.ok(isEstablished(acceptNames(crd(foos, { group: 'other.com' }), [accepted(crd(foos))], noon)))
})

test('a served kind stays established when it requests a name that is taken', () => {
  const served = accepted(crd(foos))
  const asking = { ...served, spec: { ...served.spec, names: { ...foos, shortNames: ['b'] } } }
  const refused = acceptNames(asking, [accepted(crd({ ...bars, shortNames: ['b'] }))], noon + 5000)
  assert.ok(isEstablished(refused))
  assert.equal(condition(refused, 'NamesAccepted'), 'False ShortNamesConflict: "b" is already in use')
  assert.deepEqual(refused.status?.acceptedNames, foos)
  const times = refused.status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)
  assert.deepEqual(times, ['2026-01-01T12:00:05Z', '2026-01-01T12:00:00Z'], 'only changed conditions have a new time')
})

test('a bundle without a certificate prevents a kind from being established', () => {
  const clientConfig = { url: 'https://a', caBundle: 'AAAA' }
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  const refused = accepted(crd(foos, { conversion }))
  assert.equal(condition(refused, 'Established'), 'False InvalidCABundle: The conversion webhook CABundle is invalid')
})

test('CRDs in groups of Kubernetes report whether they were approved', () => {
  const approved = (text: string) =>
    condition(
      accepted(crd(foos, { group: 'x.k8s.io' }, { 'api-approved.kubernetes.io': text })),
      'KubernetesAPIApprovalPolicyConformant',
    )
  assert.equal(approved('https://github.com/x'), 'True ApprovedAnnotation: approved in https://github.com/x')
  assert.equal(approved('unapproved, test'), 'False UnapprovedAnnotation: not approved: "unapproved, test"')
})

test('schemas that are not structural are reported until they are', () => {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties: { a: {} } } } }]
  const old = accepted(crd(foos, { versions }))
  assert.equal(
    condition(old, 'NonStructuralSchema'),
    'True Violations: [spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields, spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]',
  )
  const fixed = acceptNames({ ...old, spec: crd(foos).spec }, [], noon)
  assert.equal(condition(fixed, 'NonStructuralSchema'), undefined)
})

test('a condition keeps its time while its status stays', () => {
  const given = { type: 'Terminating', status: 'True', reason: 'A', message: 'a' } as const
  const once = setCondition(accepted(crd(foos)), given, noon)
  const twice = setCondition(once, { ...given, reason: 'B' }, noon + 9000)
  const last = twice.status?.conditions?.at(-1)
  assert.deepEqual([last?.reason, last?.lastTransitionTime], ['B', '2026-01-01T12:00:00Z'])
})
