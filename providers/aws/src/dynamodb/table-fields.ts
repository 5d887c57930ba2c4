import { s } from '@crosstie/resources/provider'
import { policyDocument, region, tags } from '../fields.js'

const units = (doc: string) => s.optional(s.integer({ doc, minimum: 1 }))

interface Attribute {
  readonly attributeName?: string
  readonly attributeType?: string
}

/**
 * Compares attribute definitions. DynamoDB accepts definitions only together with an index, and reports those that
 * keys and indexes use. Therefore an attribute of an index that others added is not a difference, and neither is
 * one whose index does not exist yet. Only a different type is.
 */
const sameAttributes = (desired: unknown, observed: unknown): boolean =>
  (desired as readonly Attribute[]).every(({ attributeName, attributeType }) => {
    const held = (observed as readonly Attribute[]).find((each) => each.attributeName === attributeName)
    return !held || held.attributeType === attributeType
  })

const keySchema = (more: { readonly immutable?: boolean; readonly requiredUnless?: readonly string[] } = {}) =>
  s.list(
    s.object({
      attributeName: s.string({ doc: 'One of attributeDefinitions.' }),
      keyType: s.string({ doc: 'HASH for the partition key, RANGE for the sort key.', enum: ['HASH', 'RANGE'] }),
    }),
    { doc: 'The primary key: the partition key and, perhaps, the sort key.', ...more },
  )

const projection = () =>
  s.object(
    {
      projectionType: s.optional(s.string({ doc: 'What the index holds.', enum: ['ALL', 'KEYS_ONLY', 'INCLUDE'] })),
      nonKeyAttributes: s.optional(s.list(s.string(), { doc: 'What it holds beside keys, for INCLUDE.', set: true })),
    },
    { doc: 'What is copied into the index.' },
  )

const onDemandThroughput = () =>
  s.object(
    {
      maxReadRequestUnits: s.optional(s.integer({ doc: 'The most reads; -1 for no limit.' })),
      maxWriteRequestUnits: s.optional(s.integer({ doc: 'The most writes; -1 for no limit.' })),
    },
    { doc: 'Limits in PAY_PER_REQUEST mode.' },
  )

const warmThroughput = () =>
  s.object(
    {
      readUnitsPerSecond: units('Reads that can be served at once.'),
      writeUnitsPerSecond: units('Writes that can be served at once.'),
    },
    { doc: 'What can be served without warming up. It can only grow.' },
  )

const index = {
  indexName: s.string({ doc: 'Name of the index.' }),
  keySchema: keySchema(),
  projection: projection(),
}

/** The `spec.forProvider` fields of a Table. */
export const parameters = s.object({
  region: region(),
  attributeDefinitions: s.optional(
    s.list(
      s.object({
        attributeName: s.string({ doc: 'Name of the attribute.' }),
        attributeType: s.string({ doc: 'String, number or binary.', enum: ['S', 'N', 'B'] }),
      }),
      {
        doc: 'The attributes that keys and indexes use.',
        keys: ['attributeName'],
        requiredUnless: ['globalTableSourceArn'],
        same: sameAttributes,
      },
    ),
  ),
  keySchema: s.optional(keySchema({ immutable: true, requiredUnless: ['globalTableSourceArn'] })),
  billingMode: s.optional(
    s.string({ doc: 'Pay for what is provisioned, or for what is used.', enum: ['PROVISIONED', 'PAY_PER_REQUEST'] }),
  ),
  readCapacity: units(
    'Reads per second that are provisioned. Where an autoscaler sets it, leave it to initProvider and leave out the policy LateInitialize.',
  ),
  writeCapacity: units(
    'Writes per second that are provisioned. Where an autoscaler sets it, leave it to initProvider and leave out the policy LateInitialize.',
  ),
  localSecondaryIndexes: s.optional(
    s.list(s.object(index), { doc: 'Other sort keys.', keys: ['indexName'], immutable: true }),
  ),
  globalSecondaryIndexes: s.optional(
    s.list(
      s.object({
        ...index,
        provisionedThroughput: s.optional(
          s.object({
            readCapacityUnits: s.integer({ doc: 'Reads per second.' }),
            writeCapacityUnits: s.integer({ doc: 'Writes per second.' }),
          }),
        ),
        onDemandThroughput: s.optional(onDemandThroughput()),
        warmThroughput: s.optional(warmThroughput()),
      }),
      { doc: 'Other keys. One is made or removed at a time.', keys: ['indexName'] },
    ),
  ),
  onDemandThroughput: s.optional(onDemandThroughput()),
  warmThroughput: s.optional(warmThroughput()),
  streamSpecification: s.optional(
    s.object(
      {
        streamEnabled: s.boolean({ doc: 'Keep a stream of changes.' }),
        streamViewType: s.optional(
          s.string({
            doc: 'What the stream tells of an item.',
            lateInitialize: false,
            enum: ['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES'],
          }),
        ),
      },
      { doc: 'A stream of changes.' },
    ),
  ),
  sseSpecification: s.optional(
    s.object(
      {
        enabled: s.optional(s.boolean({ doc: 'Encrypt with a key of KMS, not with one of DynamoDB.' })),
        sseType: s.optional(s.string({ doc: 'How it is encrypted.', enum: ['AES256', 'KMS'], lateInitialize: false })),
        kmsMasterKeyId: s.optional(
          s.string({
            doc: 'The key: ARN, id or alias. That of the account when absent.',
            lateInitialize: false,
            same: (desired, observed) =>
              observed === desired || observed.endsWith(`/${desired}`) || desired.includes('alias/'),
          }),
        ),
      },
      { doc: 'Encryption at rest.' },
    ),
  ),
  tableClass: s.optional(
    s.string({ doc: 'How storage is paid for.', enum: ['STANDARD', 'STANDARD_INFREQUENT_ACCESS'] }),
  ),
  deletionProtectionEnabled: s.optional(
    s.boolean({ doc: 'Refuse to delete the table. Set it to false to delete a protected one.' }),
  ),
  resourcePolicy: s.optional(policyDocument('Who else may use the table, as a policy in JSON.')),
  vectorIndexes: s.optional(
    s.list(
      s.object({
        indexName: s.string({ doc: 'Name of the index.' }),
        vectorAttribute: s.object({ attributeName: s.string({ doc: 'The attribute that holds the vector.' }) }),
        projection: projection(),
        dimensions: s.integer({ doc: 'How many numbers a vector has.' }),
        distanceFunction: s.string({ doc: 'How near two vectors are.' }),
        searchSchema: s.optional(
          s.list(
            s.object({
              attributeName: s.string({ doc: 'Name of the attribute.' }),
              searchSchemaElementType: s.string({ doc: 'What it is used for.' }),
            }),
            { doc: 'What can be filtered by.' },
          ),
        ),
      }),
      { doc: 'Indexes to find similar items by. One is made or removed at a time.', keys: ['indexName'] },
    ),
  ),
  globalTableSourceArn: s.optional(
    s.string({ doc: 'The table of another account that this one is a replica of.', immutable: true, unreported: true }),
  ),
  globalTableSettingsReplicationMode: s.optional(
    s.string({ doc: 'Whether settings are replicated with a global table.' }),
  ),
  disassociationProtectionEnabled: s.optional(s.boolean({ doc: 'Refuse to take the replica out of a global table.' })),
  tags: tags(),
})

/** The `status.atProvider` fields of a Table. */
export const observation = s.object({
  tableArn: s.string({ doc: 'ARN of the table.' }),
  tableId: s.string({ doc: 'Id of the table.' }),
  tableStatus: s.string({ doc: 'Such as CREATING, ACTIVE, UPDATING.' }),
  creationDateTime: s.string({ doc: 'When it was made.' }),
  itemCount: s.integer({ doc: 'How many items it has, told every six hours.' }),
  tableSizeBytes: s.integer({ doc: 'How large it is, told every six hours.' }),
  latestStreamArn: s.string({ doc: 'ARN of the stream.' }),
  latestStreamLabel: s.string({ doc: 'When the stream began.' }),
  globalTableVersion: s.string({ doc: 'Version of global tables.' }),
  multiRegionConsistency: s.string({ doc: 'Of a global table.' }),
  replicas: s.list(
    s.object({ regionName: s.string({ doc: 'Where.' }), replicaStatus: s.string({ doc: 'State of the replica.' }) }),
    { doc: 'Replicas in other regions.' },
  ),
})
