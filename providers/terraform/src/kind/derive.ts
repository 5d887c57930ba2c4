import {
  type ConnectContext,
  defineManaged,
  type ManagedKind,
  type ProviderConfigKind,
} from '@crosstie/resources/provider'
import type { ProviderPool, ProviderSetup } from '../process/pool.js'
import type { Schema } from '../protocol/schema.js'
import { TerraformExternal } from './external.js'
import { fieldsOfKind } from './fields.js'
import { groupOf, kindName, VERSION } from './names.js'
import { shapeOfBlock } from './shape.js'

export interface DerivedOptions {
  /** The first part of the API group. Absent: the provider's name in type names. */
  readonly name?: string
  /** The provider's name in type names: `random`. */
  readonly provider: string
  /** The Terraform type: `random_pet`. */
  readonly type: string
  readonly schema: Schema
  readonly pool: ProviderPool
  readonly providerConfig?: ProviderConfigKind
  /** Where state is kept. */
  readonly namespace?: string
  setup(context: ConnectContext): ProviderSetup | Promise<ProviderSetup>
}

/** Where controllers run by default. */
export const STATE_NAMESPACE = 'crosstie-system'

/**
 * Providers whose resources exist only in their state. A create of which the result was lost left nothing behind, so it is
 * repeated without harm.
 */
const logical = new Set(['random', 'time', 'tls', 'null'])

/** The managed kind of a resource type of a Terraform provider. */
export function deriveKind(options: DerivedOptions): ManagedKind {
  const { provider, type, schema, pool, namespace = STATE_NAMESPACE } = options
  const shape = shapeOfBlock(schema.block)
  const external = new TerraformExternal({ pool, type, shape, namespace, setup: options.setup })
  const text = schema.block.description.replace(/\s+/g, ' ').trim()
  return defineManaged({
    group: groupOf(options.name ?? provider),
    version: VERSION,
    kind: kindName(provider, type),
    doc: `${text === '' ? '' : `${text.replace(/\.?$/, '.')} `}Terraform: ${type}.`,
    categories: ['crossplane', 'managed', 'terraform'],
    derived: true,
    ...fieldsOfKind(shape),
    naming: 'provider-assigned',
    token: logical.has(provider),
    // Two resources that exist only in their state do not collide, though their ids may be equal.
    shared: logical.has(provider),
    // The state says whether the resource exists; reads are not lists that lag behind.
    consistencySeconds: 0,
    ...(options.providerConfig ? { providerConfig: options.providerConfig } : {}),
    unmetered: true,
    connect: (context) => external.connect(context),
    observe: (call) => external.observe(call) as never,
    create: (call) => external.create(call) as never,
    update: (call) => external.update(call),
    delete: (call) => external.delete(call),
  })
}
