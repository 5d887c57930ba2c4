import {
  CreateTableCommand,
  type CreateTableCommandInput,
  CreateTableInput$,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetResourcePolicyCommand,
  ListTagsOfResourceCommand,
  PutResourcePolicyCommand,
  paginateListTables,
  type TableDescription,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { absent, defineManaged, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { troubleOf, unlessNotFound } from '../errors.js'
import { collect } from '../pages.js'
import { toApi } from '../shapes.js'
import { eachOf, oneAfterAnother, readiness } from '../steps.js'
import { type Tag, type Tags, tagChanges, tagList, tagsOf } from '../tags.js'
import { atProviderOf } from './report.js'
import { observation, parameters } from './table-fields.js'
import { fixedIndexChange, throughputOf, updatesOf } from './updates.js'

const connect = connectTo(DynamoDBClient)
const TYPE_IS_FIXED =
  'spec.forProvider.attributeDefinitions: DynamoDB does not change the type of an attribute that a key or index uses; restore the type, or recreate the index'
const usable = new Set(['ACTIVE', 'UPDATING'])

/** The managed kind for DynamoDB tables. */
export const table = defineManaged({
  group: 'dynamodb.aws.crossplane.io',
  version: 'v1alpha1',
  kind: 'Table',
  doc: 'A table of DynamoDB.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: [
      'dynamodb:DescribeTable',
      'dynamodb:ListTables',
      'dynamodb:ListTagsOfResource',
      'dynamodb:GetResourcePolicy',
    ],
    Create: ['dynamodb:CreateTable', 'dynamodb:TagResource', 'dynamodb:PutResourcePolicy'],
    Update: [
      'dynamodb:DescribeTable',
      'dynamodb:UpdateTable',
      'dynamodb:PutResourcePolicy',
      'dynamodb:TagResource',
      'dynamodb:UntagResource',
    ],
    Delete: ['dynamodb:DeleteTable', 'dynamodb:DescribeTable', 'dynamodb:UpdateTable'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region, resourcePolicy }, signal: abortSignal }) {
    if (externalName === '') return absent
    const found = await describe(client, externalName, abortSignal)
    if (!found) return absent
    const observed = await sightOf(client, found, region, abortSignal)
    // The policy is only read if the spec has one.
    if (!resourcePolicy || !observed.exists) return observed
    const ResourceArn = found.TableArn
    const policy = await unlessNotFound(client.send(new GetResourcePolicyCommand({ ResourceArn }), { abortSignal }))
    return {
      ...observed,
      atProvider: { ...observed.atProvider, ...(policy?.Policy ? { resourcePolicy: policy.Policy } : {}) },
    }
  },

  async create({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const given = { ...forProvider, tableName: externalName, tags: undefined }
    const input = toApi<CreateTableCommandInput>(CreateTableInput$, given)
    const ProvisionedThroughput = throughputOf(forProvider)
    const command = new CreateTableCommand({
      ...input,
      ...(ProvisionedThroughput ? { ProvisionedThroughput } : {}),
      Tags: tagList(tags),
    })
    await client.send(command, { abortSignal })
    return {}
  },

  async update(call) {
    const { client, externalName: TableName, forProvider, changed, signal: abortSignal } = call
    const found = await describe(client, TableName, abortSignal)
    const ResourceArn = found?.TableArn
    const tags = tagChanges(call)
    if (tags && Object.keys(tags.set).length > 0) {
      await client.send(new TagResourceCommand({ ResourceArn, Tags: tagList(tags.set) }), { abortSignal })
    }
    if (tags && tags.unset.length > 0) {
      await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: [...tags.unset] }), { abortSignal })
    }
    if (changed.resourcePolicy) {
      const command = new PutResourcePolicyCommand({ ResourceArn, Policy: changed.resourcePolicy })
      await client.send(command, { abortSignal })
    }
    const updates = updatesOf(changed, forProvider, found ?? {})
    await oneAfterAnother(
      updates.map((update) => () => client.send(new UpdateTableCommand({ TableName, ...update }), { abortSignal })),
    )
    if (changed.attributeDefinitions) throw new Error(TYPE_IS_FIXED)
    const fixed = fixedIndexChange(forProvider, found ?? {})
    if (fixed) throw new Error(fixed)
  },

  async delete({ client, externalName: TableName, forProvider, signal: abortSignal }) {
    const found = await describe(client, TableName, abortSignal)
    if (!found || found.TableStatus === 'DELETING') return
    if (found.DeletionProtectionEnabled && forProvider.deletionProtectionEnabled === false) {
      const unprotect = new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false })
      await client.send(unprotect, { abortSignal })
    }
    try {
      await unlessNotFound(client.send(new DeleteTableCommand({ TableName }), { abortSignal }))
    } catch (error) {
      // The table is being created or changed. The policy is read again afterwards.
      if (troubleOf(error) !== 'inUse') throw error
    }
  },

  // ListTables returns names only.
  async list({ client, forProvider: { region }, signal: abortSignal }) {
    const names = await collect(paginateListTables({ client }, {}, { abortSignal }), (page) => page.TableNames)
    const observed = await eachOf(names, async (name) => {
      const found = await describe(client, name, abortSignal)
      return found ? [await sightOf(client, found, region, abortSignal)] : []
    })
    return observed.flat()
  },
})

async function describe(client: DynamoDBClient, TableName: string, abortSignal: AbortSignal) {
  return (await unlessNotFound(client.send(new DescribeTableCommand({ TableName }), { abortSignal })))?.Table
}

async function sightOf(client: DynamoDBClient, found: TableDescription, region: string, abortSignal: AbortSignal) {
  const { TableName = '', TableStatus } = found
  return present({
    externalName: TableName,
    ready: readiness(usable.has(TableStatus ?? ''), TableStatus),
    atProvider: { ...atProviderOf(found), region, tags: await readTags(client, found.TableArn, abortSignal) },
  })
}

async function readTags(client: DynamoDBClient, arn: string | undefined, abortSignal: AbortSignal): Promise<Tags> {
  const tags: Tag[] = []
  let NextToken: string | undefined
  do {
    const command = new ListTagsOfResourceCommand({ ResourceArn: arn, NextToken })
    const page = await unlessNotFound(client.send(command, { abortSignal }))
    tags.push(...(page?.Tags ?? []))
    NextToken = page?.NextToken
  } while (NextToken)
  return tagsOf(tags)
}
