import { isDeepStrictEqual } from 'node:util'
import {
  CreateGlobalSecondaryIndexAction$,
  type GlobalSecondaryIndexUpdate,
  type TableDescription,
  TableDescription$,
  type UpdateTableCommandInput,
  UpdateTableInput$,
} from '@aws-sdk/client-dynamodb'
import { isObject } from '@crosstie/kube'
import type { Infer } from '@crosstie/resources/provider'

import { fromApi, toApi } from '../shapes.js'
import type { parameters } from './table-fields.js'

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }
/** A change of a table, without its name. */
export type TableUpdate = Omit<UpdateTableCommandInput, 'TableName'>

/** Fields that DynamoDB changes by separate calls, each as a whole. */
const alone = [
  'onDemandThroughput',
  'warmThroughput',
  'sseSpecification',
  'tableClass',
  'deletionProtectionEnabled',
  'globalTableSettingsReplicationMode',
  'disassociationProtectionEnabled',
] as const

/** Returns both capacities, because the API requires both. An unset one keeps its current value. */
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

/**
 * Returns the calls that change a table to its desired state. DynamoDB accepts one kind of change and one index per
 * call.
 */
export function updatesOf(changed: Changed, wanted: Wanted, is: TableDescription): readonly TableUpdate[] {
  const updates: TableUpdate[] = capacityUpdates(changed, wanted, is)
  for (const name of alone) {
    if (changed[name] !== undefined) updates.push(toApi(UpdateTableInput$, { [name]: wanted[name] }))
  }
  if (changed.streamSpecification) updates.push(...streamUpdates(wanted, is))
  if (changed.globalSecondaryIndexes) updates.push(...indexUpdates(wanted, is))
  if (changed.vectorIndexes) updates.push(...vectorUpdates(wanted, is))
  return updates
}

/** Changes the billing mode and the capacity in one call. On-demand tables have no provisioned capacity. */
function capacityUpdates(changed: Changed, wanted: Wanted, is: TableDescription): TableUpdate[] {
  if (!changed.billingMode && !changed.readCapacity && !changed.writeCapacity) return []
  const provisioned = wanted.billingMode !== 'PAY_PER_REQUEST'
  const ProvisionedThroughput = provisioned ? throughputOf(wanted, is) : undefined
  const update = {
    ...(changed.billingMode && wanted.billingMode ? { BillingMode: wanted.billingMode } : {}),
    ...(ProvisionedThroughput ? { ProvisionedThroughput } : {}),
  }
  return Object.keys(update).length > 0 ? [update] : []
}

/** The view type of a stream cannot be changed: the stream is disabled and a new one is enabled. */
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
    const existing = held.get(index.IndexName)
    const throughput = existing && changedThroughput(index, existing, wanted.billingMode)
    if (!existing) updates.push({ Create: index })
    else if (throughput) updates.push({ Update: { IndexName: index.IndexName, ...throughput } })
  }
  return updates.map((update) => ({
    ...(update.Create ? { AttributeDefinitions } : {}),
    GlobalSecondaryIndexUpdates: [update],
  }))
}

const throughputs = ['ProvisionedThroughput', 'OnDemandThroughput', 'WarmThroughput'] as const
type Throughputs = { readonly [K in (typeof throughputs)[number]]?: object | undefined }

/**
 * Returns the throughput settings of an index that differ, or undefined. On-demand tables have no provisioned
 * capacity.
 */
function changedThroughput(wanted: Throughputs, is: Throughputs, billingMode: Wanted['billingMode']) {
  const changed = throughputs.filter((name) => {
    if (name === 'ProvisionedThroughput' && billingMode === 'PAY_PER_REQUEST') return false
    const held: Readonly<Record<string, unknown>> = { ...is[name] }
    return Object.entries(wanted[name] ?? {}).some(([key, value]) => value !== undefined && value !== held[key])
  })
  return changed.length > 0 ? Object.fromEntries(changed.map((name) => [name, wanted[name]])) : undefined
}

/** Returns an error message for a change of an existing index that DynamoDB cannot apply, or undefined. */
export function fixedIndexChange(wanted: Wanted, is: TableDescription): string | undefined {
  const held = fromApi<Indexes>(TableDescription$, is)
  const fields = { globalSecondaryIndexes: ['keySchema', 'projection'], vectorIndexes: vectorFields } as const
  for (const list of ['globalSecondaryIndexes', 'vectorIndexes'] as const) {
    const indexes: readonly Index[] = wanted[list] ?? []
    for (const index of indexes) {
      const existing = held[list]?.find(({ indexName }) => indexName === index.indexName)
      const field = existing && fields[list].find((name) => differs(index[name], existing[name]))
      if (field) {
        return `spec.forProvider.${list}: DynamoDB does not change ${field} of the existing index ${JSON.stringify(index.indexName)}; restore it, or add an index with another indexName`
      }
    }
  }
  return undefined
}

interface Indexes {
  readonly globalSecondaryIndexes?: readonly Index[]
  readonly vectorIndexes?: readonly Index[]
}

interface Index {
  readonly indexName: string
  readonly [field: string]: unknown
}

const vectorFields = ['vectorAttribute', 'projection', 'dimensions', 'distanceFunction', 'searchSchema'] as const

/** Reports whether a value that the spec sets differs. Unset fields and the order of lists are ignored. */
function differs(wanted: unknown, is: unknown): boolean {
  if (wanted === undefined) return false
  if (Array.isArray(wanted)) {
    const held = Array.isArray(is) ? is : []
    return wanted.length !== held.length || wanted.some((each) => held.every((other) => differs(each, other)))
  }
  if (typeof wanted !== 'object' || wanted === null) return !isDeepStrictEqual(wanted, is)
  const held: Readonly<Record<string, unknown>> = isObject(is) ? is : {}
  return Object.entries(wanted).some(([name, value]) => differs(value, held[name]))
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
