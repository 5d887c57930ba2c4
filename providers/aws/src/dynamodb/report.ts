import { type TableDescription, TableDescription$ } from '@aws-sdk/client-dynamodb'
import { fromApi } from '../shapes.js'

type Values = Readonly<Record<string, unknown>>

/** Converts a table to the field names of its configuration. */
export function atProviderOf(found: TableDescription): Values {
  const { ProvisionedThroughput, BillingModeSummary, SSEDescription, TableClassSummary } = found
  const reported = fromApi(TableDescription$, found)
  // The API reports no billing mode for a table that was never on demand.
  const billingMode = BillingModeSummary?.BillingMode ?? 'PROVISIONED'
  const indexes = reported['globalSecondaryIndexes'] as readonly Values[] | undefined
  return defined({
    ...reported,
    billingMode,
    ...(billingMode === 'PROVISIONED'
      ? {
          readCapacity: ProvisionedThroughput?.ReadCapacityUnits,
          writeCapacity: ProvisionedThroughput?.WriteCapacityUnits,
        }
      : {}),
    globalSecondaryIndexes: indexes?.map((index) => indexOf(index, billingMode)),
    // The API omits disabled features.
    streamSpecification: reported['streamSpecification'] ?? { streamEnabled: false },
    sseSpecification: defined({
      enabled: SSEDescription?.Status === 'ENABLED' || SSEDescription?.Status === 'ENABLING',
      sseType: SSEDescription?.SSEType,
      kmsMasterKeyId: SSEDescription?.KMSMasterKeyArn,
    }),
    tableClass: TableClassSummary?.TableClass ?? 'STANDARD',
  })
}

/** Converts an index. The API reports zero provisioned units for on-demand tables. They are left out. */
function indexOf({ provisionedThroughput, ...index }: Values, billingMode: string): Values {
  return billingMode === 'PROVISIONED' ? { ...index, provisionedThroughput } : index
}

const defined = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
