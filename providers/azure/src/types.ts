import type { ResourceType } from '@crosstie/kube'

const typeOf = (service: string, kind: string, resource: string): ResourceType => ({
  group: `${service}.azure.crossplane.io`,
  version: 'v1beta1',
  kind,
  resource,
  namespaced: false,
})

/** The kinds that others refer to. */
export const types = {
  resourceGroup: typeOf('resources', 'ResourceGroup', 'resourcegroups'),
  virtualNetwork: typeOf('network', 'VirtualNetwork', 'virtualnetworks'),
  subnet: typeOf('network', 'Subnet', 'subnets'),
  privateDNSZone: typeOf('network', 'PrivateDNSZone', 'privatednszones'),
  flexibleServer: typeOf('dbformysql', 'FlexibleServer', 'flexibleservers'),
  sqlServer: typeOf('sql', 'Server', 'servers'),
} as const
