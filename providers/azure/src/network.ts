import { s } from '@crosstie/resources/provider'
import { defineArmKind } from './arm-kind.js'
import {
  choice,
  count,
  flag,
  location,
  operation,
  resourceGroupName,
  resourceId,
  sameId,
  subResource,
  tags,
  text,
} from './fields.js'
import { types } from './types.js'
import { at } from './values.js'

const pools = () =>
  s.optional(
    s.list(
      s.object({
        numberOfIpAddresses: text('How many addresses are taken from the pool.'),
        pool: subResource('The pool of an IP address manager.'),
      }),
      { doc: 'Ranges that an IP address manager assigns.', lateInitialize: false },
    ),
  )

export const virtualNetwork = defineArmKind({
  service: 'network',
  kind: 'VirtualNetwork',
  alsoServed: ['v1alpha3'],
  doc: 'A virtual network. Its subnets are objects of the kind Subnet, and its peerings are not managed: updates keep both as they are.',
  type: 'Microsoft.Network/virtualNetworks',
  apiVersion: '2025-03-01',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    location: location(),
    properties: s.object(
      {
        addressSpace: s.object(
          {
            addressPrefixes: s.optional(
              s.list(s.string(), { set: true, doc: 'Ranges of addresses, such as 10.0.0.0/16.' }),
            ),
            ipamPoolPrefixAllocations: pools(),
          },
          { doc: 'The addresses of the network.' },
        ),
        dhcpOptions: s.optional(
          s.object(
            { dnsServers: s.list(s.string(), { doc: 'Addresses of DNS servers.' }) },
            { doc: 'DNS of the network.' },
          ),
        ),
        flowTimeoutInMinutes: count('Minutes after which an idle flow ends: 4 to 30.'),
        enableDdosProtection: flag('Protect public addresses with ddosProtectionPlan.'),
        enableVmProtection: flag('Protect all virtual machines of the network.'),
        ddosProtectionPlan: subResource('The DDoS protection plan.'),
        bgpCommunities: s.optional(
          s.object(
            { virtualNetworkCommunity: s.string({ doc: 'BGP community of the network.' }) },
            { doc: 'BGP communities.' },
          ),
        ),
        encryption: s.optional(
          s.object(
            {
              enabled: s.boolean({ doc: 'Encrypt traffic between virtual machines.' }),
              enforcement: choice('Whether unencrypted traffic is dropped.', ['DropUnencrypted', 'AllowUnencrypted']),
            },
            { doc: 'Encryption inside the network.' },
          ),
        ),
        ipAllocations: s.optional(
          s.list(s.object({ id: s.string({ doc: 'Id of the allocation.', same: sameId }) }), {
            doc: 'IP allocations.',
            lateInitialize: false,
          }),
        ),
        privateEndpointVNetPolicies: choice('Policies for private endpoints.', ['Disabled', 'Basic']),
      },
      { doc: 'The network as Azure describes it.' },
    ),
    extendedLocation: s.optional(
      s.object(
        { name: s.string({ doc: 'Name of the edge zone.' }), type: text('EdgeZone.') },
        { doc: 'An edge zone.' },
      ),
    ),
    tags: tags(),
  }),
  observation: s.object({ id: s.string({ doc: 'Id of the network.' }), operation: operation() }),
  layout: 'nested',
  hasTags: true,
  // Azure removes subnets and peerings that a PUT does not name.
  kept: (current) => ({
    properties: {
      subnets: at(current, 'properties.subnets') ?? [],
      virtualNetworkPeerings: at(current, 'properties.virtualNetworkPeerings') ?? [],
    },
  }),
})

export const subnet = defineArmKind({
  service: 'network',
  kind: 'Subnet',
  alsoServed: ['v1alpha3'],
  doc: 'A range of addresses of a virtual network.',
  type: 'Microsoft.Network/virtualNetworks/subnets',
  apiVersion: '2025-03-01',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    virtualNetworkName: s.reference(s.identifier(s.string({ doc: 'Name of the virtual network.' })), {
      to: () => types.virtualNetwork,
    }),
    properties: s.object(
      {
        addressPrefix: s.optional(
          s.string({
            doc: 'The range of addresses, such as 10.0.1.0/24.',
            requiredUnless: ['addressPrefixes', 'ipamPoolPrefixAllocations'],
          }),
        ),
        addressPrefixes: s.optional(
          s.list(s.string(), { set: true, lateInitialize: false, doc: 'More than one range: IPv4 and IPv6.' }),
        ),
        ipamPoolPrefixAllocations: pools(),
        serviceEndpoints: s.optional(
          s.list(
            s.object({
              service: s.string({ doc: 'The service, such as Microsoft.Sql.' }),
              locations: s.optional(
                s.list(s.string(), { set: true, lateInitialize: false, doc: 'The regions of the service.' }),
              ),
              networkIdentifier: subResource('A public address that traffic comes from.'),
            }),
            { keys: ['service'], doc: 'Services that are reached directly from the subnet.' },
          ),
        ),
        serviceEndpointPolicies: s.optional(
          s.list(s.object({ id: s.string({ doc: 'Id of the policy.', same: sameId }) }), {
            doc: 'Policies for service endpoints.',
            lateInitialize: false,
          }),
        ),
        delegations: s.optional(
          s.list(
            s.object({
              name: s.string({ doc: 'Name of the delegation.' }),
              properties: s.object(
                { serviceName: s.string({ doc: 'The service, such as Microsoft.DBforMySQL/flexibleServers.' }) },
                { doc: 'The delegation.' },
              ),
            }),
            { keys: ['name'], doc: 'Services that may use the subnet for themselves.' },
          ),
        ),
        networkSecurityGroup: subResource('The network security group.'),
        routeTable: subResource('The route table.'),
        natGateway: subResource('The NAT gateway.'),
        ipAllocations: s.optional(
          s.list(s.object({ id: s.string({ doc: 'Id of the allocation.', same: sameId }) }), {
            doc: 'IP allocations.',
            lateInitialize: false,
          }),
        ),
        applicationGatewayIPConfigurations: s.optional(
          s.list(s.json(), {
            doc: 'IP configurations of application gateways, as Azure describes them.',
            lateInitialize: false,
          }),
        ),
        privateEndpointNetworkPolicies: choice('Policies for private endpoints.', [
          'Enabled',
          'Disabled',
          'NetworkSecurityGroupEnabled',
          'RouteTableEnabled',
        ]),
        privateLinkServiceNetworkPolicies: choice('Policies for private link services.', ['Enabled', 'Disabled']),
        sharingScope: choice('Who else may use the subnet.', ['Tenant', 'DelegatedServices']),
        defaultOutboundAccess: flag('Let virtual machines reach the internet without an address of their own.'),
        serviceGateway: subResource('The service gateway.'),
      },
      { doc: 'The subnet as Azure describes it.' },
    ),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the subnet.' }),
    operation: operation(),
  }),
  parents: ['virtualNetworkName'],
  layout: 'nested',
})

export const privateDNSZone = defineArmKind({
  service: 'network',
  kind: 'PrivateDNSZone',
  doc: 'A DNS zone that only linked virtual networks see.',
  type: 'Microsoft.Network/privateDnsZones',
  apiVersion: '2020-06-01',
  parameters: s.object({ resourceGroupName: resourceGroupName(), tags: tags() }),
  observation: s.object({
    id: s.string({ doc: 'Id of the zone.' }),
    location: s.string({ doc: 'Always global.' }),
    provisioningState: s.string({ doc: 'Such as Succeeded.' }),
    numberOfRecordSets: s.integer({ doc: 'How many record sets the zone has.' }),
    numberOfVirtualNetworkLinks: s.integer({ doc: 'How many networks are linked.' }),
    operation: operation(),
  }),
  layout: ['location', 'tags'],
  hasTags: true,
  fixed: { location: 'global' },
})

export const privateDNSZoneLink = defineArmKind({
  service: 'network',
  kind: 'PrivateDNSZoneVirtualNetworkLink',
  doc: 'Lets a virtual network see a private DNS zone.',
  type: 'Microsoft.Network/privateDnsZones/virtualNetworkLinks',
  apiVersion: '2020-06-01',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    privateZoneName: s.reference(s.identifier(s.string({ doc: 'Name of the zone.' })), {
      to: () => types.privateDNSZone,
    }),
    virtualNetworkId: s.reference(resourceId('Id of the virtual network.', { immutable: true }), {
      to: () => types.virtualNetwork,
      value: 'status.atProvider.id',
    }),
    registrationEnabled: flag('Create records for the virtual machines of the network.'),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the link.' }),
    location: s.string({ doc: 'Always global.' }),
    provisioningState: s.string({ doc: 'Such as Succeeded.' }),
    virtualNetworkLinkState: s.string({ doc: 'InProgress or Completed.' }),
    operation: operation(),
  }),
  parents: ['privateZoneName'],
  layout: ['location', 'tags'],
  moved: { virtualNetworkId: 'properties.virtualNetwork.id' },
  hasTags: true,
  fixed: { location: 'global' },
})
