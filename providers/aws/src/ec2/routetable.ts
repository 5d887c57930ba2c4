import {
  AssociateRouteTableCommand,
  CreateRouteTableCommand,
  DeleteRouteTableCommand,
  DescribeRouteTablesCommand,
  DisableVgwRoutePropagationCommand,
  DisassociateRouteTableCommand,
  type EC2Client,
  EnableVgwRoutePropagationCommand,
  type Filter,
  paginateDescribeRouteTables,
  type RouteTable,
} from '@aws-sdk/client-ec2'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { region, tags } from '../fields.js'
import { collect } from '../pages.js'
import { partly } from '../partly.js'
import { tagsOf } from '../tags.js'
import { ec2, filtersByTags, filtersFor, tagSpecification, updateTags } from './common.js'
import { internetGateway } from './internetgateway.js'
import { complete, route, routesOf, setRoutes, type WantedRoute } from './routes.js'
import { subnet } from './subnet.js'
import { vpc } from './vpc.js'

const parameters = s.object({
  region: region(),
  vpcId: s.reference(s.string({ doc: 'The VPC that it belongs to.', immutable: true }), { to: () => vpc.type }),
  routes: s.optional(
    s.list(route, {
      set: true,
      doc: 'Routes beside those that the VPC itself has. Others are removed. One without a target leads to internetGatewayId.',
    }),
  ),
  internetGatewayId: s.optional(
    s.reference(s.string({ doc: 'Where routes lead that name no target.', lateInitialize: false }), {
      to: () => internetGateway.type,
    }),
  ),
  subnetIds: s.optional(
    s.reference(s.list(s.string(), { set: true, doc: 'Subnets that it is associated with.' }), {
      to: () => subnet.type,
    }),
  ),
  gatewayIds: s.optional(
    s.list(s.string(), { set: true, doc: 'Internet gateways and virtual private gateways whose traffic it routes.' }),
  ),
  propagatingVgws: s.optional(
    s.list(s.string(), { set: true, doc: 'Virtual private gateways whose routes it takes over.' }),
  ),
  tags: tags(),
})

const text = (doc: string) => s.string({ doc })

const observation = s.object({
  routeTableId: text('The id that AWS gave it.'),
  ownerId: text('The account that it belongs to.'),
  main: s.boolean({ doc: 'Whether it is the main route table of its VPC.' }),
  associations: s.list(
    s.object({
      routeTableAssociationId: text('Id of the association.'),
      subnetId: text('The subnet.'),
      gatewayId: text('The gateway.'),
      main: s.boolean({ doc: 'Whether it is that with the VPC itself.' }),
      associationState: text('State of the association.'),
    }),
    { doc: 'All associations.' },
  ),
  routeStates: s.map(s.string(), { doc: 'State of each route: active or blackhole, by destination.' }),
})

// The API rejects larger pages for route tables.
const PAGE = 100

/** The managed kind for route tables. */
export const routeTable = defineManaged({
  group: 'ec2.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'RouteTable',
  doc: 'Says where traffic of subnets and gateways of a VPC goes.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'provider-assigned',
  token: true,
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['ec2:DescribeRouteTables'],
    Create: [
      'ec2:CreateRouteTable',
      'ec2:CreateTags',
      'ec2:CreateRoute',
      'ec2:AssociateRouteTable',
      'ec2:EnableVgwRoutePropagation',
    ],
    Update: [
      'ec2:CreateRoute',
      'ec2:ReplaceRoute',
      'ec2:DeleteRoute',
      'ec2:AssociateRouteTable',
      'ec2:DisassociateRouteTable',
      'ec2:EnableVgwRoutePropagation',
      'ec2:DisableVgwRoutePropagation',
      'ec2:CreateTags',
      'ec2:DeleteTags',
    ],
    Delete: ['ec2:DisassociateRouteTable', 'ec2:DeleteRouteTable'],
    LateInitialize: [],
  },

  connect: ec2,

  async observe({ client, externalName, forProvider, tags, signal }) {
    const Filters = filtersFor('route-table-id', externalName, tags)
    const found = Filters && (await find(client, Filters, signal))
    return found ? observed(forProvider.region, found) : absent
  },

  async list({ client, forProvider, tags, signal: abortSignal }) {
    const pages = paginateDescribeRouteTables({ client, pageSize: PAGE }, filtersByTags(tags), { abortSignal })
    const all = await collect(pages, ({ RouteTables }) => RouteTables)
    return all.map((found) => observed(forProvider.region, found))
  },

  async create({ client, forProvider, token, tags, signal: abortSignal }) {
    // Validates the routes before the creation, so that an invalid route does not leave an incomplete table behind.
    complete(forProvider.routes ?? [], forProvider.internetGatewayId)
    const made = await client.send(
      new CreateRouteTableCommand({
        VpcId: forProvider.vpcId,
        ClientToken: token,
        TagSpecifications: tagSpecification('route-table', tags),
      }),
      { abortSignal },
    )
    const externalName = made.RouteTable!.RouteTableId!
    await partly(externalName, () => configure(client, externalName, forProvider, abortSignal))
    return { externalName }
  },

  async update({ client, externalName, forProvider, changed, removed, signal }) {
    await configure(client, externalName, forProvider, signal)
    await updateTags(client, externalName, { changed, removed }, signal)
  },

  async delete({ client, externalName: RouteTableId, signal: abortSignal }) {
    const found = await findById(client, RouteTableId, abortSignal)
    const { Associations = [] } = found ?? {}
    for (const { RouteTableAssociationId: AssociationId } of Associations.filter(({ Main }) => !Main)) {
      await unlessNotFound(client.send(new DisassociateRouteTableCommand({ AssociationId }), { abortSignal }))
    }
    await unlessNotFound(client.send(new DeleteRouteTableCommand({ RouteTableId }), { abortSignal }))
  },
})

function observed(region: string, found: RouteTable) {
  const { Associations = [], Routes = [] } = found
  const routes = routesOf(Routes)
  return present({
    externalName: found.RouteTableId!,
    ready: true,
    atProvider: {
      region,
      vpcId: found.VpcId,
      routes,
      internetGatewayId: routes.find(({ gatewayId }) => gatewayId?.startsWith('igw-'))?.gatewayId,
      subnetIds: associatedWith(found, 'SubnetId'),
      gatewayIds: associatedWith(found, 'GatewayId'),
      propagatingVgws: (found.PropagatingVgws ?? []).map(({ GatewayId }) => GatewayId ?? ''),
      tags: tagsOf(found.Tags),
      routeTableId: found.RouteTableId,
      ownerId: found.OwnerId,
      main: Associations.some(({ Main }) => Main),
      associations: Associations.map((each) => ({
        routeTableAssociationId: each.RouteTableAssociationId ?? '',
        subnetId: each.SubnetId ?? '',
        gatewayId: each.GatewayId ?? '',
        main: each.Main ?? false,
        associationState: each.AssociationState?.State ?? '',
      })),
      routeStates: Object.fromEntries(
        Routes.map((each) => [
          each.DestinationCidrBlock ?? each.DestinationIpv6CidrBlock ?? each.DestinationPrefixListId ?? '',
          each.State ?? '',
        ]),
      ),
    },
  })
}

function associatedWith({ Associations = [] }: RouteTable, what: 'SubnetId' | 'GatewayId'): readonly string[] {
  return Associations.filter(({ AssociationState }) => !/^disassociat/.test(AssociationState?.State ?? ''))
    .flatMap((each) => each[what] ?? [])
    .sort()
}

const findById = (client: EC2Client, id: string, signal: AbortSignal) =>
  find(client, [{ Name: 'route-table-id', Values: [id] }], signal)

async function find(client: EC2Client, Filters: Filter[], abortSignal: AbortSignal): Promise<RouteTable | undefined> {
  const { RouteTables: [found] = [] } = await client.send(new DescribeRouteTablesCommand({ Filters }), { abortSignal })
  return found
}

interface Wanted {
  readonly routes?: readonly WantedRoute[] | undefined
  readonly internetGatewayId?: string | undefined
  readonly subnetIds?: readonly string[] | undefined
  readonly gatewayIds?: readonly string[] | undefined
  readonly propagatingVgws?: readonly string[] | undefined
}

/** Changes routes and associations to their desired state. */
async function configure(client: EC2Client, RouteTableId: string, wanted: Wanted, abortSignal: AbortSignal) {
  const found = await findById(client, RouteTableId, abortSignal)
  if (!found) return
  if (wanted.routes) {
    const routes = complete(wanted.routes, wanted.internetGatewayId)
    await setRoutes(client, RouteTableId, routes, routesOf(found.Routes), abortSignal)
  }
  for (const [input, ids] of [
    ['SubnetId', wanted.subnetIds],
    ['GatewayId', wanted.gatewayIds],
  ] as const) {
    if (!ids) continue
    for (const each of found.Associations ?? []) {
      const id = each[input]
      if (!id || ids.includes(id)) continue
      const AssociationId = each.RouteTableAssociationId
      await client.send(new DisassociateRouteTableCommand({ AssociationId }), { abortSignal })
    }
    const held = associatedWith(found, input)
    for (const id of ids.filter((each) => !held.includes(each))) {
      await client.send(new AssociateRouteTableCommand({ RouteTableId, [input]: id }), { abortSignal })
    }
  }
  if (wanted.propagatingVgws) await propagate(client, found, wanted.propagatingVgws, abortSignal)
}

async function propagate(client: EC2Client, found: RouteTable, wanted: readonly string[], abortSignal: AbortSignal) {
  const held = (found.PropagatingVgws ?? []).map(({ GatewayId }) => GatewayId ?? '')
  const { RouteTableId } = found
  for (const GatewayId of wanted.filter((id) => !held.includes(id))) {
    await client.send(new EnableVgwRoutePropagationCommand({ RouteTableId, GatewayId }), { abortSignal })
  }
  for (const GatewayId of held.filter((id) => !wanted.includes(id))) {
    await client.send(new DisableVgwRoutePropagationCommand({ RouteTableId, GatewayId }), { abortSignal })
  }
}
