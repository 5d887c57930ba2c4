import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDBClient, ListTablesCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { apiVersionOf, conditionsOf } from '@crosstie/kube'
import { managedController } from '@crosstie/resources'
import { FakeApi } from '@crosstie/resources/testing'
import { countCalls } from '../testing/calls.js'
import { connected, motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { table } from './table.js'

const region = 'eu-west-1'

const moto = await motoForFile()
if (moto) contracts(moto)

function contracts(moto: Moto): void {
  const past = moto.client(DynamoDBClient, region)
  const tables = async () => (await past.send(new ListTablesCommand({}))).TableNames!
  const index = (indexName: string, units: number) => ({
    indexName,
    keySchema: [{ attributeName: 'owner', keyType: 'HASH' }],
    projection: { projectionType: 'ALL' },
    provisionedThroughput: { readCapacityUnits: units, writeCapacityUnits: units },
  })

  motoContract(moto, table, async () => ({
    example: {
      region,
      attributeDefinitions: [
        { attributeName: 'id', attributeType: 'S' },
        { attributeName: 'owner', attributeType: 'S' },
      ],
      keySchema: [{ attributeName: 'id', keyType: 'HASH' }],
      billingMode: 'PROVISIONED',
      readCapacity: 5,
      writeCapacity: 3,
      globalSecondaryIndexes: [index('by-owner', 2)],
      streamSpecification: { streamEnabled: true, streamViewType: 'NEW_IMAGE' },
      deletionProtectionEnabled: false,
      tags: { team: 'apps' },
    },
    change: {
      readCapacity: 8,
      globalSecondaryIndexes: [index('by-owner', 4)],
      // Moto cannot enable a stream again: it can only disable one.
      streamSpecification: { streamEnabled: false },
      tags: { team: 'ops' },
    },
    meddle: async (TableName) => {
      const ProvisionedThroughput = { ReadCapacityUnits: 20, WriteCapacityUnits: 20 }
      await past.send(new UpdateTableCommand({ TableName, ProvisionedThroughput }))
    },
    exists: async (name) => (await tables()).includes(name),
    count: async () => (await tables()).length,
  }))

  /** Creates a table with one key and reconciles it like the control plane. */
  async function reconciled(name: string, forProvider: object) {
    const kind = connected(table, moto.config())
    const events: string[] = []
    const client = new FakeApi({})
    const event = (_: unknown, type: string, reason: string) => events.push(`${type} ${reason}`)
    const controller = managedController(kind, { client, events: { event } })
    const example = {
      region,
      attributeDefinitions: [{ attributeName: 'id', attributeType: 'S' }],
      keySchema: [{ attributeName: 'id', keyType: 'HASH' }],
      ...forProvider,
    }
    const spec = { managementPolicies: ['*'], forProvider: example }
    await client.create(kind.type, {
      apiVersion: apiVersionOf(kind.type),
      kind: kind.type.kind,
      metadata: { name },
      spec,
    })
    const object = () => client.peek(kind.type, { name })!
    const condition = (type: string) => conditionsOf(object()).find((each) => each.type === type)
    const reconcile = () => controller.reconcile({ name }, AbortSignal.timeout(120_000))
    for (let i = 0; i < 20 && condition('Ready')?.status !== 'True'; i++) await reconcile()
    assert.equal(condition('Ready')?.status, 'True')
    return { events, condition, reconcile, edit: (change: object) => client.update(kind.type, change as never), object }
  }

  test('an index that others added to a table causes neither updates nor events', async () => {
    const world = await reconciled('others-index', { billingMode: 'PAY_PER_REQUEST' })
    await past.send(
      new UpdateTableCommand({
        TableName: 'others-index',
        AttributeDefinitions: [
          { AttributeName: 'id', AttributeType: 'S' },
          { AttributeName: 'owner', AttributeType: 'S' },
        ],
        GlobalSecondaryIndexUpdates: [
          {
            Create: {
              IndexName: 'theirs',
              KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'ALL' },
            },
          },
        ],
      }),
    )
    world.events.length = 0
    using counted = countCalls()
    for (let i = 0; i < 5; i++) await world.reconcile()
    assert.deepEqual(world.events, [])
    assert.equal(world.condition('Drifted'), undefined)
    assert.ok(!counted.actions.includes('dynamodb:UpdateTable'), counted.actions.join())
  })

  test('an update that sends nothing is reported as drift that was not corrected', async () => {
    const world = await reconciled('on-demand', { billingMode: 'PAY_PER_REQUEST' })
    const { spec, ...rest } = world.object() as unknown as { spec: { forProvider: object } }
    await world.edit({ ...rest, spec: { ...spec, forProvider: { ...spec.forProvider, readCapacity: 5 } } })
    world.events.length = 0
    for (let i = 0; i < 5; i++) await world.reconcile()
    assert.deepEqual(world.events, ['Warning DriftDetected'])
    const drifted = world.condition('Drifted')
    assert.equal(drifted?.status, 'True')
    assert.equal(drifted?.reason, 'NotCorrected')
    assert.match(drifted?.message ?? '', /^readCapacity: wanted 5, is absent; /)
  })
}
