import {
  type Binding,
  type ClaimKind,
  type Configuring,
  defineBinding,
  mysqlInstance,
  postgresqlInstance,
} from '@crosstie/resources/provider'
import { networkFor } from '../ec2/claims.js'
import { agreedVersion } from '../versions.js'
import { dbInstance } from './dbinstance.js'
import { dbSubnetGroup } from './dbsubnetgroup.js'

interface Offer {
  readonly claim: ClaimKind
  /** The engines of the claim. The first one is the default of the class. */
  readonly engines: readonly [string, ...string[]]
}

const offers: readonly Offer[] = [
  { claim: mysqlInstance, engines: ['mysql', 'mariadb', 'aurora-mysql'] },
  { claim: postgresqlInstance, engines: ['postgres', 'aurora-postgresql'] },
]

/** Bindings for a database instance alone, or for an aggregate of an instance and its network. */
export const databaseBindings: readonly Binding[] = offers.flatMap(({ claim, engines }) => [
  defineBinding({ claim, managed: dbInstance, configure: (given) => databaseOf(claim, engines, given) }),
  defineBinding({ claim, managed: dbSubnetGroup, role: 'supporting' }),
  ...networkFor(claim),
])

function databaseOf(claim: ClaimKind, engines: Offer['engines'], { asked, forProvider, class: given }: Configuring) {
  const { kind } = claim.type
  const engine = (forProvider['engine'] as string | undefined) ?? engines[0]
  const named = `${given.kind} ${given.metadata.name}`
  if (!engines.includes(engine)) {
    throw new Error(`${named} makes databases of engine ${engine}, not of ${engines.join(' or ')} as a ${kind} is`)
  }
  const engineVersion = agreedVersion(named, asked['engineVersion'], forProvider['engineVersion'])
  return { ...forProvider, engine, ...(engineVersion ? { engineVersion } : {}) }
}
