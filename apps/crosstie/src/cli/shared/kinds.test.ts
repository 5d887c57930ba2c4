import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UsageError } from '../command.js'
import { Kinds, type ServedKind } from './kinds.js'

const kind = (group: string, version: string, name: string, more: Partial<ServedKind> = {}): ServedKind => ({
  group,
  version,
  kind: name,
  resource: `${name.toLowerCase()}s`,
  singular: name.toLowerCase(),
  namespaced: false,
  shortNames: [],
  categories: [],
  verbs: ['get'],
  ...more,
})

const kinds = new Kinds([
  kind('', 'v1', 'Event', { namespaced: true, shortNames: ['ev'] }),
  kind('', 'v1', 'Secret', { namespaced: true }),
  kind('events.k8s.io', 'v1', 'Event', { namespaced: true, shortNames: ['ev'] }),
  kind('eks.aws.crossplane.io', 'v1beta1', 'Cluster', { categories: ['managed'] }),
  kind('eks.aws.crossplane.io', 'v1alpha1', 'Cluster', { categories: ['managed'] }),
  kind('rds.aws.crossplane.io', 'v1', 'Cluster', { categories: ['managed'] }),
  kind('ec2.aws.crossplane.io', 'v1', 'VPC', { categories: ['managed'] }),
  kind('example.org', 'v1', 'Secret'),
])

interface Case {
  readonly because: string
  readonly word: string
  readonly group: string
  readonly kind: string
  readonly version?: string
}

const cases: readonly Case[] = [
  { because: 'plural', word: 'secrets', group: '', kind: 'Secret' },
  { because: 'Kubernetes own kind wins over one with its name', word: 'secret', group: '', kind: 'Secret' },
  { because: 'kind, in any case', word: 'VPC', group: 'ec2.aws.crossplane.io', kind: 'VPC' },
  { because: 'short name; core wins over other groups of Kubernetes', word: 'ev', group: '', kind: 'Event' },
  { because: 'with the group', word: 'event.events.k8s.io', group: 'events.k8s.io', kind: 'Event' },
  {
    because: 'with the group',
    word: 'clusters.rds.aws.crossplane.io',
    group: 'rds.aws.crossplane.io',
    kind: 'Cluster',
  },
  {
    because: 'the version that is preferred',
    word: 'cluster.eks.aws.crossplane.io',
    group: 'eks.aws.crossplane.io',
    kind: 'Cluster',
    version: 'v1beta1',
  },
  {
    because: 'with version and group',
    word: 'clusters.v1alpha1.eks.aws.crossplane.io',
    group: 'eks.aws.crossplane.io',
    kind: 'Cluster',
    version: 'v1alpha1',
  },
]

describe('finding a kind by its word', () => {
  for (const { because, word, group, kind: name, version } of cases) {
    test(`${word}: ${because}`, () => {
      const found = kinds.one(word)
      assert.deepEqual([found.group, found.kind, version ?? found.version], [group, name, found.version])
    })
  }

  test('a word for several kinds lists them', () => {
    const complaint = /'cluster' is ambiguous; use one of.*\n {2}clusters\.eks\.aws\.crossplane\.io\n {2}clusters\.rds/
    assert.throws(() => kinds.one('cluster'), complaint)
  })

  test('a word for none says which was meant', () => {
    assert.throws(() => kinds.one('secrte'), /no kind 'secrte'\. Did you mean 'secret'\?/)
    assert.throws(
      () => kinds.one('somethingelse'),
      (error: Error) => !error.message.includes('mean'),
    )
  })

  test('a category is several kinds, and not one', () => {
    assert.deepEqual(
      kinds.some('managed').map(({ group }) => group),
      ['eks.aws.crossplane.io', 'rds.aws.crossplane.io', 'ec2.aws.crossplane.io'],
    )
    assert.throws(() => kinds.one('managed'), /'managed' means 3 kinds/)
  })

  test('commas between kinds', () => {
    assert.deepEqual(
      kinds.some('vpc,secret').map((each) => each.kind),
      ['VPC', 'Secret'],
    )
  })

  test('objects say what they are of', () => {
    assert.equal(kinds.of({ apiVersion: 'v1', kind: 'Secret' })?.group, '')
    assert.equal(kinds.of({ apiVersion: 'example.org/v2', kind: 'Secret' }), undefined)
    assert.equal(kinds.ofAnyVersion({ apiVersion: 'example.org/v2', kind: 'Secret' })?.group, 'example.org')
  })
})

describe('naming objects', () => {
  const shown = (words: readonly string[]) =>
    kinds.targets(words).map(({ kind: { resource }, name }) => [resource, name])
  test('KIND, KIND NAME NAME, KIND/NAME KIND/NAME', () => {
    assert.deepEqual(shown(['vpc']), [['vpcs', undefined]])
    assert.deepEqual(shown(['vpc', 'a', 'b']), [
      ['vpcs', 'a'],
      ['vpcs', 'b'],
    ])
    assert.deepEqual(shown(['vpc/a', 'secret/b']), [
      ['vpcs', 'a'],
      ['secrets', 'b'],
    ])
  })

  test('what cannot be meant is refused', () => {
    for (const words of [[], ['vpc/a', 'b'], ['vpc/'], ['/a'], ['vpc/a/b'], [',']]) {
      assert.throws(() => kinds.targets(words), UsageError, words.join(' '))
    }
    assert.throws(() => kinds.target(['vpc']), /KIND\/NAME/)
  })
})

test('what is not there may be of a kind with the same name', () => {
  assert.equal(kinds.namesakes(kinds.one('secret'), 'a'), '. Did you mean secret.example.org/a?')
  assert.equal(kinds.namesakes(kinds.one('vpc'), 'a'), '')
  assert.equal(kinds.namesakes(kinds.one('event'), 'a'), '', 'two names of one kind are not a suggestion')
})
