import { type TableDescription, TableDescription$ } from '@aws-sdk/client-dynamodb'
import { fromApi } from '../shapes.js'

type Values = Readonly<Record<string, unknown>>

/** A table under the names that it is configured by. */
export function atProviderOf(found: TableDescription): Values {
  const { ProvisionedThroughput, BillingModeSummary, SSEDescription, TableClassSummary } = found
  const reported = fromApi(TableDescription$, found)
  // A table that was never on demand has no billing mode to tell.
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
    // Of what is off the API says nothing at all.
    streamSpecification: reported['streamSpecification'] ?? { streamEnabled: false },
    sseSpecification: defined({
      enabled: SSEDescription?.Status === 'ENABLED' || SSEDescription?.Status === 'ENABLING',
      sseType: SSEDescription?.SSEType,
      kmsMasterKeyId: SSEDescription?.KMSMasterKeyArn,
    }),
    tableClass: TableClassSummary?.TableClass ?? 'STANDARD',
  })
}

/** On demand there are no provisioned units, although the API tells zeros. */
function indexOf({ provisionedThroughput, ...index }: Values, billingMode: string): Values {
  return billingMode === 'PROVISIONED' ? { ...index, provisionedThroughput } : index
}

const defined = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
