import {
  AssociateSubnetCidrBlockCommand,
  CreateSubnetCommand,
  DeleteSubnetCommand,
  DescribeSubnetsCommand,
  DisassociateSubnetCidrBlockCommand,
  type EC2Client,
  ModifySubnetAttributeCommand,
  type ModifySubnetAttributeRequest,
  paginateDescribeSubnets,
  type Subnet,
} from '@aws-sdk/client-ec2'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { region, tags } from '../fields.js'
import { collect } from '../pages.js'
import { partly } from '../partly.js'
import { capitalized } from '../shapes.js'
import { tagsOf } from '../tags.js'
import { ec2, filtersByTags, filtersFor, PAGE, tagSpecification, updateTags } from './common.js'
import { vpc } from './vpc.js'

/** Attributes that can be changed after the creation. */
const attributes = {
  mapPublicIpOnLaunch: s.optional(s.boolean({ doc: 'Give instances a public IPv4 address.' })),
  assignIpv6AddressOnCreation: s.optional(s.boolean({ doc: 'Give network interfaces an IPv6 address.' })),
  enableDns64: s.optional(s.boolean({ doc: 'Answer with IPv6 addresses for hosts that have only IPv4 ones.' })),
  privateDnsHostnameTypeOnLaunch: s.optional(
    s.string({ doc: 'What private host names of instances are made from.', enum: ['ip-name', 'resource-name'] }),
  ),
  enableResourceNameDnsARecordOnLaunch: s.optional(s.boolean({ doc: 'Answer A queries for resource names.' })),
  enableResourceNameDnsAAAARecordOnLaunch: s.optional(s.boolean({ doc: 'Answer AAAA queries for resource names.' })),
  mapCustomerOwnedIpOnLaunch: s.optional(
    s.boolean({ doc: 'Give network interfaces an address of customerOwnedIpv4Pool. On Outposts.' }),
  ),
  customerOwnedIpv4Pool: s.optional(s.string({ doc: 'Pool of own IPv4 addresses. On Outposts.' })),
  enableLniAtDeviceIndex: s.optional(s.integer({ doc: 'Device index of local network interfaces. On Outposts.' })),
}

const parameters = s.object({
  region: region(),
  vpcId: s.reference(s.string({ doc: 'The VPC that it is in.', immutable: true }), { to: () => vpc.type }),
  cidrBlock: s.optional(
    s.string({
      doc: 'Range of IPv4 addresses, within that of the VPC. Required to create, unless ipv4IpamPoolId or ipv6Native is set.',
      immutable: true,
      requiredUnless: ['ipv4IpamPoolId', 'ipv6Native'],
    }),
  ),
  ipv4IpamPoolId: s.optional(
    s.string({ doc: 'IPAM pool that cidrBlock is taken from.', immutable: true, unreported: true }),
  ),
  ipv4NetmaskLength: s.optional(
    s.integer({ doc: 'Size of what is taken from the IPAM pool.', immutable: true, unreported: true }),
  ),
  ipv6CidrBlock: s.optional(s.string({ doc: 'Range of IPv6 addresses, within that of the VPC.' })),
  ipv6IpamPoolId: s.optional(
    s.string({ doc: 'IPAM pool that IPv6 addresses are taken from.', immutable: true, unreported: true }),
  ),
  ipv6NetmaskLength: s.optional(
    s.integer({ doc: 'Size of what is taken from the IPv6 IPAM pool.', immutable: true, unreported: true }),
  ),
  ipv6Native: s.optional(s.boolean({ doc: 'Have IPv6 addresses only.', immutable: true })),
  availabilityZone: s.optional(s.string({ doc: 'Zone that it is in, such as eu-west-1a.', immutable: true })),
  availabilityZoneId: s.optional(s.string({ doc: 'Id of the zone, such as euw1-az1.', immutable: true })),
  outpostArn: s.optional(s.string({ doc: 'The Outpost that it is on.', immutable: true })),
  ...attributes,
  tags: tags(),
})

const observation = s.object({
  subnetId: s.string({ doc: 'The id that AWS gave it.' }),
  subnetArn: s.string({ doc: 'Its ARN.' }),
  subnetState: s.string({ doc: 'pending, available or unavailable.' }),
  ownerId: s.string({ doc: 'The account that it belongs to.' }),
  availableIpAddressCount: s.integer({ doc: 'How many IPv4 addresses are free.' }),
  defaultForAz: s.boolean({ doc: 'Whether it is the default subnet of its zone.' }),
  ipv6CidrBlockAssociationId: s.string({ doc: 'Id of the association with ipv6CidrBlock.' }),
})

/** The managed kind for subnets. */
export const subnet = defineManaged({
  group: 'ec2.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'Subnet',
  doc: 'A range of addresses of a VPC, in one availability zone.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'provider-assigned',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['ec2:DescribeSubnets'],
    Create: ['ec2:CreateSubnet', 'ec2:CreateTags', 'ec2:ModifySubnetAttribute'],
    Update: [
      'ec2:ModifySubnetAttribute',
      'ec2:AssociateSubnetCidrBlock',
      'ec2:DisassociateSubnetCidrBlock',
      'ec2:CreateTags',
      'ec2:DeleteTags',
    ],
    Delete: ['ec2:DeleteSubnet'],
    LateInitialize: [],
  },

  connect: ec2,

  async observe({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const Filters = filtersFor('subnet-id', externalName, tags)
    if (!Filters) return absent
    const { Subnets: [found] = [] } = await client.send(new DescribeSubnetsCommand({ Filters }), { abortSignal })
    return found ? observed(forProvider.region, found) : absent
  },

  async list({ client, forProvider, tags, signal: abortSignal }) {
    const pages = paginateDescribeSubnets({ client, pageSize: PAGE }, filtersByTags(tags), { abortSignal })
    return (await collect(pages, ({ Subnets }) => Subnets)).map((found) => observed(forProvider.region, found))
  },

  async create({ client, forProvider, tags, signal: abortSignal }) {
    const made = await client.send(
      new CreateSubnetCommand({
        VpcId: forProvider.vpcId,
        CidrBlock: forProvider.cidrBlock,
        Ipv4IpamPoolId: forProvider.ipv4IpamPoolId,
        Ipv4NetmaskLength: forProvider.ipv4NetmaskLength,
        Ipv6CidrBlock: forProvider.ipv6CidrBlock,
        Ipv6IpamPoolId: forProvider.ipv6IpamPoolId,
        Ipv6NetmaskLength: forProvider.ipv6NetmaskLength,
        Ipv6Native: forProvider.ipv6Native,
        AvailabilityZone: forProvider.availabilityZone,
        AvailabilityZoneId: forProvider.availabilityZoneId,
        OutpostArn: forProvider.outpostArn,
        TagSpecifications: tagSpecification('subnet', tags),
      }),
      { abortSignal },
    )
    const externalName = made.Subnet!.SubnetId!
    await partly(externalName, () => setAttributes(client, externalName, forProvider, abortSignal))
    return { externalName }
  },

  async update({ client, externalName, changed, removed, signal: abortSignal }) {
    if (changed.ipv6CidrBlock) await replaceIpv6(client, externalName, changed.ipv6CidrBlock, abortSignal)
    await setAttributes(client, externalName, changed, abortSignal)
    await updateTags(client, externalName, { changed, removed }, abortSignal)
  },

  async delete({ client, externalName: SubnetId, signal: abortSignal }) {
    await unlessNotFound(client.send(new DeleteSubnetCommand({ SubnetId }), { abortSignal }))
  },
})

function observed(region: string, found: Subnet) {
  const ipv6 = ipv6Of(found)
  const names = found.PrivateDnsNameOptionsOnLaunch
  return present({
    externalName: found.SubnetId!,
    ready: found.State === 'available',
    atProvider: {
      region,
      vpcId: found.VpcId,
      cidrBlock: found.CidrBlock,
      ipv6CidrBlock: ipv6?.Ipv6CidrBlock,
      ipv6Native: found.Ipv6Native,
      availabilityZone: found.AvailabilityZone,
      availabilityZoneId: found.AvailabilityZoneId,
      outpostArn: found.OutpostArn,
      mapPublicIpOnLaunch: found.MapPublicIpOnLaunch,
      assignIpv6AddressOnCreation: found.AssignIpv6AddressOnCreation,
      enableDns64: found.EnableDns64,
      privateDnsHostnameTypeOnLaunch: names?.HostnameType,
      enableResourceNameDnsARecordOnLaunch: names?.EnableResourceNameDnsARecord,
      enableResourceNameDnsAAAARecordOnLaunch: names?.EnableResourceNameDnsAAAARecord,
      mapCustomerOwnedIpOnLaunch: found.MapCustomerOwnedIpOnLaunch,
      customerOwnedIpv4Pool: found.CustomerOwnedIpv4Pool,
      enableLniAtDeviceIndex: found.EnableLniAtDeviceIndex,
      tags: tagsOf(found.Tags),
      subnetId: found.SubnetId,
      subnetArn: found.SubnetArn,
      subnetState: found.State,
      ownerId: found.OwnerId,
      availableIpAddressCount: found.AvailableIpAddressCount,
      defaultForAz: found.DefaultForAz,
      ipv6CidrBlockAssociationId: ipv6?.AssociationId,
    },
  })
}

/** Returns the current IPv6 range. AWS lists former ranges for a while. */
function ipv6Of({ Ipv6CidrBlockAssociationSet = [] }: Subnet) {
  return Ipv6CidrBlockAssociationSet.find(({ Ipv6CidrBlockState }) => /^associat/.test(Ipv6CidrBlockState?.State ?? ''))
}

type Attributes = { readonly [K in keyof typeof attributes]?: boolean | string | number | undefined }

/** Sets attributes one by one, because AWS accepts one attribute per call. */
async function setAttributes(client: EC2Client, SubnetId: string, wanted: Attributes, abortSignal: AbortSignal) {
  for (const name of Object.keys(attributes) as (keyof Attributes)[]) {
    const value = wanted[name]
    // The pool is set together with the attribute that uses it.
    if (value === undefined || name === 'customerOwnedIpv4Pool') continue
    const input = capitalized(name) as keyof ModifySubnetAttributeRequest
    const request = { SubnetId, [input]: typeof value === 'boolean' ? { Value: value } : value }
    if (name === 'mapCustomerOwnedIpOnLaunch' && wanted.customerOwnedIpv4Pool) {
      Object.assign(request, { CustomerOwnedIpv4Pool: wanted.customerOwnedIpv4Pool })
    }
    await client.send(new ModifySubnetAttributeCommand(request), { abortSignal })
  }
}

/** Replaces the IPv6 range. A subnet has at most one, so the old one is removed first. */
async function replaceIpv6(client: EC2Client, SubnetId: string, Ipv6CidrBlock: string, abortSignal: AbortSignal) {
  const { Subnets: [found] = [] } = await client.send(new DescribeSubnetsCommand({ SubnetIds: [SubnetId] }), {
    abortSignal,
  })
  const AssociationId = found && ipv6Of(found)?.AssociationId
  if (AssociationId) await client.send(new DisassociateSubnetCidrBlockCommand({ AssociationId }), { abortSignal })
  await client.send(new AssociateSubnetCidrBlockCommand({ SubnetId, Ipv6CidrBlock }), { abortSignal })
}
