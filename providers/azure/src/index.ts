import { defineProvider } from '@crosstie/resources/provider'
import { redis } from './cache.js'
import { bindings } from './claims.js'
import { flexibleServer, flexibleServerDatabase, flexibleServerFirewallRule } from './dbformysql.js'
import { group } from './graph.js'
import { privateDNSZone, privateDNSZoneLink, subnet, virtualNetwork } from './network.js'
import { resourceGroup } from './resources.js'
import { sqlDatabase, sqlServer, virtualNetworkRule } from './sql.js'
import { start } from './start.js'

export const provider = defineProvider({
  name: 'azure',
  summary: 'Resource groups, networks, databases, caches and directory groups of Azure.',
  kinds: [
    resourceGroup,
    virtualNetwork,
    subnet,
    privateDNSZone,
    privateDNSZoneLink,
    flexibleServer,
    flexibleServerDatabase,
    flexibleServerFirewallRule,
    sqlServer,
    sqlDatabase,
    virtualNetworkRule,
    redis,
    group,
  ],
  bindings,
  start,
})
