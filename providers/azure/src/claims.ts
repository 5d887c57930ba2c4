import {
  type Binding,
  type Configuring,
  defineBinding,
  mysqlInstance,
  redisCluster,
} from '@crosstie/resources/provider'
import { redis } from './cache.js'
import { flexibleServer, flexibleServerDatabase, flexibleServerFirewallRule } from './dbformysql.js'
import { privateDNSZone, privateDNSZoneLink, subnet, virtualNetwork } from './network.js'
import { resourceGroup } from './resources.js'

const network = [resourceGroup, virtualNetwork, subnet, privateDNSZone, privateDNSZoneLink]

/** The claims that Azure meets, alone or with a network as an aggregate. */
export const bindings: readonly Binding[] = [
  defineBinding({ claim: mysqlInstance, managed: flexibleServer, configure: serverOf }),
  ...[...network, flexibleServerDatabase, flexibleServerFirewallRule].map((managed) =>
    defineBinding({ claim: mysqlInstance, managed, role: 'supporting' }),
  ),
  defineBinding({ claim: redisCluster, managed: redis, configure: cacheOf }),
  ...network.map((managed) => defineBinding({ claim: redisCluster, managed, role: 'supporting' })),
]

/** Azure names the versions of MySQL more exactly than people do. */
const mysqlVersions: Readonly<Record<string, string>> = { '5.7': '5.7', '8.0': '8.0.21', '8': '8.0.21', '8.4': '8.4' }

function serverOf({ asked, forProvider, class: given }: Configuring) {
  return { ...forProvider, ...agreed('version', asked['engineVersion'], forProvider['version'], given, mysqlVersions) }
}

function cacheOf({ asked, forProvider, class: given }: Configuring) {
  return { ...forProvider, ...agreed('redisVersion', asked['engineVersion'], forProvider['redisVersion'], given, {}) }
}

/** The version of the claim, if the class does not say another one. Throws when the two differ. */
function agreed(
  field: string,
  asked: unknown,
  offered: unknown,
  given: Configuring['class'],
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (typeof asked !== 'string') return {}
  const wanted = names[asked] ?? asked
  if (typeof offered !== 'string' || offered === wanted || `${offered}.`.startsWith(`${asked}.`)) {
    return { [field]: typeof offered === 'string' ? offered : wanted }
  }
  throw new Error(
    `the claim asks for version ${asked}, but ${given.kind} ${given.metadata.name} is for version ${offered}`,
  )
}
