import { DynamoDBClient, ListTablesCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { motoContract, motoForFile } from '../testing/contract.js'
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
      // Moto never lets a stream begin again: it can only be turned off.
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
}
