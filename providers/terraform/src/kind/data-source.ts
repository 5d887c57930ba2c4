import {
  absent,
  type ConnectContext,
  defineManaged,
  type ExternalCall,
  type ManagedKind,
  present,
} from '@crosstie/resources/provider'
import type { ProviderSetup } from '../process/pool.js'
import { throwErrors } from '../protocol/diagnostics.js'
import { decodeValue, encodeValue } from '../protocol/encoded.js'
import { configFrom, connectionFrom, fieldPath, reportFrom } from './codec.js'
import type { DerivedOptions } from './derive.js'
import { fieldsOfKind } from './fields.js'
import { dataKindName, groupOf, VERSION } from './names.js'
import { shapeOfBlock } from './shape.js'

interface DataClient {
  readonly setup: ProviderSetup
}

const refusal = 'a data source is only read: set spec.managementPolicies to ["Observe"]'

/** The observe-only kind of a data source. Each reconcile reads it with the arguments of spec.forProvider. */
export function deriveDataKind(options: DerivedOptions): ManagedKind {
  const { provider, type, schema, pool } = options
  const shape = shapeOfBlock(schema.block)
  const text = schema.block.description.replace(/\s+/g, ' ').trim()
  const refuse = async (): Promise<never> => {
    throw new Error(refusal)
  }
  return defineManaged({
    group: groupOf(options.name ?? provider),
    version: VERSION,
    kind: dataKindName(provider, type),
    doc: `${text === '' ? '' : `${text.replace(/\.?$/, '.')} `}Terraform: data ${type}.`,
    categories: ['crossplane', 'managed', 'terraform'],
    derived: true,
    ...fieldsOfKind(shape),
    naming: 'user-chosen',
    // Several objects may read the same.
    shared: true,
    nameless: true,
    unmetered: true,
    refusePolicies: (policies) => (policies.some((policy) => policy !== 'Observe') ? refusal : undefined),
    ...(options.providerConfig ? { providerConfig: options.providerConfig } : {}),
    connect: async (context: ConnectContext): Promise<DataClient> => ({ setup: await options.setup(context) }),
    async observe({ client, managed, forProvider, signal }: ExternalCall<object, DataClient>) {
      if (managed.metadata.deletionTimestamp !== undefined) return absent
      const config = encodeValue(schema.type, configFrom(shape, forProvider))
      const field = (path: Parameters<typeof fieldPath>[1]) => `spec.forProvider.${fieldPath(shape, path).text}`
      const state = await pool.use(
        client.setup,
        async (session) => {
          throwErrors(await session.client.validate('data source', type, config, { signal }), field)
          const answer = await session.client.readData(type, config, { signal })
          throwErrors(answer.diagnostics, field)
          return decodeValue(schema.type, answer.state)
        },
        signal,
      )
      if (state === null) return absent
      return present({
        ready: true,
        upToDate: true,
        connection: connectionFrom(shape, state),
        atProvider: reportFrom(shape, state) as never,
      })
    },
    create: refuse,
    update: refuse,
    delete: async () => {},
  })
}
