import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parameters } from './table-fields.js'
import { fixedIndexChange, updatesOf } from './updates.js'

type Wanted = Parameters<typeof updatesOf>[1]
type Is = Parameters<typeof updatesOf>[2]

interface Case {
  readonly because: string
  readonly wanted: Omit<Wanted, 'region'>
  readonly changed: readonly (keyof Wanted)[]
  readonly is?: Is
  readonly calls: readonly object[]
}

const index = (indexName: string) => ({
  indexName,
  keySchema: [{ attributeName: 'owner', keyType: 'HASH' as const }],
  projection: { projectionType: 'ALL' as const },
})
const IndexOf = (IndexName: string) => ({
  IndexName,
  KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' as const }],
  Projection: { ProjectionType: 'ALL' as const },
})

const cases: Readonly<Record<string, Case>> = {
  OneCapacity: {
    because: 'an autoscaler keeps the other one',
    wanted: { readCapacity: 5 },
    changed: ['readCapacity'],
    is: { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 7 } },
    calls: [{ ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 7 } }],
  },
  OnDemand: {
    because: 'on demand nothing is provisioned',
    wanted: { billingMode: 'PAY_PER_REQUEST', readCapacity: 5, writeCapacity: 5 },
    changed: ['billingMode'],
    calls: [{ BillingMode: 'PAY_PER_REQUEST' }],
  },
  CapacityOnDemand: {
    because: 'on demand nothing is provisioned, and an empty request would be refused',
    wanted: { billingMode: 'PAY_PER_REQUEST', readCapacity: 5 },
    changed: ['readCapacity'],
    calls: [],
  },
  IndexThroughput: {
    because: 'only the throughput that differs is sent',
    wanted: {
      globalSecondaryIndexes: [
        { ...index('same'), provisionedThroughput: { readCapacityUnits: 1, writeCapacityUnits: 2 } },
        { ...index('other'), provisionedThroughput: { readCapacityUnits: 3, writeCapacityUnits: 2 } },
      ],
    },
    changed: ['globalSecondaryIndexes'],
    is: {
      GlobalSecondaryIndexes: ['same', 'other'].map((name) => ({
        ...IndexOf(name),
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2, NumberOfDecreasesToday: 0 },
      })),
    },
    calls: [
      {
        GlobalSecondaryIndexUpdates: [
          { Update: { IndexName: 'other', ProvisionedThroughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 2 } } },
        ],
      },
    ],
  },
  OtherStream: {
    because: 'what a stream tells cannot be changed',
    wanted: { streamSpecification: { streamEnabled: true, streamViewType: 'OLD_IMAGE' } },
    changed: ['streamSpecification'],
    is: { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } },
    calls: [
      { StreamSpecification: { StreamEnabled: false } },
      { StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' } },
    ],
  },
  Indexes: {
    because: 'one at a time, those that go before those that come',
    wanted: {
      attributeDefinitions: [{ attributeName: 'owner', attributeType: 'S' }],
      globalSecondaryIndexes: [index('stays'), index('comes')],
    },
    changed: ['globalSecondaryIndexes'],
    is: { GlobalSecondaryIndexes: [IndexOf('stays'), IndexOf('goes')] },
    calls: [
      { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'goes' } }] },
      {
        AttributeDefinitions: [{ AttributeName: 'owner', AttributeType: 'S' }],
        GlobalSecondaryIndexUpdates: [{ Create: IndexOf('comes') }],
      },
    ],
  },
  Several: {
    because: 'each takes a call',
    wanted: { tableClass: 'STANDARD', deletionProtectionEnabled: false, sseSpecification: { enabled: true } },
    changed: ['tableClass', 'deletionProtectionEnabled', 'sseSpecification'],
    calls: [{ SSESpecification: { Enabled: true } }, { TableClass: 'STANDARD' }, { DeletionProtectionEnabled: false }],
  },
}

for (const [name, { because, wanted, changed, is, calls }] of Object.entries(cases)) {
  test(`a table is updated one kind of change at a time: ${name}`, () => {
    const all: Wanted = { region: 'r', ...wanted }
    const differing = Object.fromEntries(changed.map((field) => [field, all[field]]))
    assert.deepEqual(updatesOf(differing, all, is ?? {}), calls, because)
  })
}

test('an attribute of an index that others added does not differ, another type of one does', () => {
  const { same } = parameters.node.fields!['attributeDefinitions']!
  const id = { attributeName: 'id', attributeType: 'S' }
  assert.equal(same!([id], [id, { attributeName: 'owner', attributeType: 'S' }]), true)
  assert.equal(same!([id, { attributeName: 'later', attributeType: 'N' }], [id]), true)
  assert.equal(same!([id], [{ ...id, attributeType: 'N' }]), false)
})

test('a change of an existing index that DynamoDB cannot apply is an error that names the index', () => {
  const is = { GlobalSecondaryIndexes: [IndexOf('by-owner')] }
  const wanted = (more: object): Wanted => ({
    region: 'r',
    globalSecondaryIndexes: [{ ...index('by-owner'), ...more }, index('new')],
  })
  assert.equal(fixedIndexChange(wanted({}), is), undefined)
  assert.match(fixedIndexChange(wanted({ projection: { projectionType: 'KEYS_ONLY' } }), is)!, /projection.*"by-owner"/)
  const keySchema = [{ attributeName: 'team', keyType: 'HASH' }]
  assert.match(fixedIndexChange(wanted({ keySchema }), is)!, /keySchema.*"by-owner"/)
  const vector = {
    indexName: 'near',
    vectorAttribute: { attributeName: 'v' },
    projection: {},
    dimensions: 4,
    distanceFunction: 'COSINE',
  }
  const held = { VectorIndexes: [{ IndexName: 'near', Dimensions: 3 }] } as Is
  assert.match(fixedIndexChange({ region: 'r', vectorIndexes: [vector] }, held)!, /vectorIndexes.*"near"/)
})
