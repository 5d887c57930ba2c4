import {
  CreateGlobalSecondaryIndexAction$,
  type GlobalSecondaryIndexUpdate,
  type TableDescription,
  type UpdateTableCommandInput,
  UpdateTableInput$,
} from '@aws-sdk/client-dynamodb'
import type { Infer } from '@crosstie/resources/provider'
import { toApi } from '../shapes.js'
import type { parameters } from './table-fields.js'

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }
export type TableUpdate = Omit<UpdateTableCommandInput, 'TableName'>

/** What DynamoDB takes in a call of its own, whole. */
const alone = [
  'onDemandThroughput',
  'warmThroughput',
  'sseSpecification',
  'tableClass',
  'deletionProtectionEnabled',
  'globalTableSettingsReplicationMode',
  'disassociationProtectionEnabled',
] as const

/** Both or neither: the other one is as it is. */
export function throughputOf(
  { readCapacity, writeCapacity }: Pick<Wanted, 'readCapacity' | 'writeCapacity'>,
  is: TableDescription = {},
) {
  if (readCapacity === undefined && writeCapacity === undefined) return undefined
  const { ReadCapacityUnits, WriteCapacityUnits } = is.ProvisionedThroughput ?? {}
  return {
    ReadCapacityUnits: readCapacity ?? ReadCapacityUnits,
    WriteCapacityUnits: writeCapacity ?? WriteCapacityUnits,
  }
}

/** The calls that bring a table in line: DynamoDB takes one kind of change in each, and one index. */
export function updatesOf(changed: Changed, wanted: Wanted, is: TableDescription): readonly TableUpdate[] {
  const updates: TableUpdate[] = []
  if (changed.billingMode || changed.readCapacity || changed.writeCapacity) {
    const provisioned = wanted.billingMode !== 'PAY_PER_REQUEST'
    const ProvisionedThroughput = provisioned ? throughputOf(wanted, is) : undefined
    updates.push({
      ...(changed.billingMode && wanted.billingMode ? { BillingMode: wanted.billingMode } : {}),
      ...(ProvisionedThroughput ? { ProvisionedThroughput } : {}),
    })
  }
  for (const name of alone) {
    if (changed[name] !== undefined) updates.push(toApi(UpdateTableInput$, { [name]: wanted[name] }))
  }
  if (changed.streamSpecification) updates.push(...streamUpdates(wanted, is))
  if (changed.globalSecondaryIndexes) updates.push(...indexUpdates(wanted, is))
  if (changed.vectorIndexes) updates.push(...vectorUpdates(wanted, is))
  return updates
}

/** What a stream tells cannot be changed: the old one ends, and a new one begins. */
function streamUpdates({ streamSpecification }: Wanted, { StreamSpecification: is }: TableDescription): TableUpdate[] {
  const end = { StreamSpecification: { StreamEnabled: false } }
  if (!streamSpecification?.streamEnabled) return [end]
  const begin = toApi<TableUpdate>(UpdateTableInput$, { streamSpecification })
  return is?.StreamEnabled ? [end, begin] : [begin]
}

function indexUpdates(wanted: Wanted, is: TableDescription): TableUpdate[] {
  const desired = (wanted.globalSecondaryIndexes ?? []).map((index) =>
    toApi<NonNullable<GlobalSecondaryIndexUpdate['Create']>>(CreateGlobalSecondaryIndexAction$, index),
  )
  const held = new Map((is.GlobalSecondaryIndexes ?? []).map((index) => [index.IndexName, index]))
  const { AttributeDefinitions } = toApi<TableUpdate>(UpdateTableInput$, {
    attributeDefinitions: wanted.attributeDefinitions,
  })
  const gone = [...held.keys()].filter((name) => !desired.some(({ IndexName }) => IndexName === name))
  const updates: GlobalSecondaryIndexUpdate[] = gone.map((IndexName) => ({ Delete: { IndexName } }))
  for (const index of desired) {
    const { IndexName, ProvisionedThroughput, OnDemandThroughput, WarmThroughput } = index
    if (!held.has(IndexName)) updates.push({ Create: index })
    else updates.push({ Update: { IndexName, ProvisionedThroughput, OnDemandThroughput, WarmThroughput } })
  }
  return updates
    .filter(({ Update }) => !Update || Object.values(Update).filter(Boolean).length > 1)
    .map((update) => ({ ...(update.Create ? { AttributeDefinitions } : {}), GlobalSecondaryIndexUpdates: [update] }))
}

function vectorUpdates(wanted: Wanted, is: TableDescription): TableUpdate[] {
  const desired = wanted.vectorIndexes ?? []
  const held = (is.VectorIndexes ?? []).map(({ IndexName }) => IndexName)
  const gone = held.filter((name) => !desired.some(({ indexName }) => indexName === name))
  const come = desired.filter(({ indexName }) => !held.includes(indexName))
  return [
    ...gone.map((indexName) => ({ vectorIndexUpdates: [{ delete: { indexName } }] })),
    ...come.map((index) => ({ vectorIndexUpdates: [{ create: index }] })),
  ].map((update) => toApi<TableUpdate>(UpdateTableInput$, update))
}
