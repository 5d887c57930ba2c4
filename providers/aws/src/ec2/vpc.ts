import {
  CreateVpcCommand,
  DeleteVpcCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcsCommand,
  type EC2Client,
  ModifyVpcAttributeCommand,
  ModifyVpcTenancyCommand,
  paginateDescribeVpcs,
  type Vpc,
  type VpcAttributeName,
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

const parameters = s.object({
  region: region(),
  cidrBlock: s.optional(
    s.string({
      doc: 'Range of IPv4 addresses, such as 10.0.0.0/16. Required to create, unless ipv4IpamPoolId is set.',
      immutable: true,
      requiredUnless: ['ipv4IpamPoolId'],
    }),
  ),
  ipv4IpamPoolId: s.optional(
    s.string({ doc: 'IPAM pool that cidrBlock is taken from.', immutable: true, unreported: true }),
  ),
  ipv4NetmaskLength: s.optional(
    s.integer({
      doc: 'Size of what is taken from the IPAM pool.',
      immutable: true,
      unreported: true,
      minimum: 16,
      maximum: 28,
    }),
  ),
  amazonProvidedIpv6CidrBlock: s.optional(
    s.boolean({ doc: 'Have a range of IPv6 addresses of Amazon.', immutable: true }),
  ),
  ipv6CidrBlock: s.optional(s.string({ doc: 'Range of IPv6 addresses from ipv6Pool.', immutable: true })),
  ipv6Pool: s.optional(s.string({ doc: 'Pool of own IPv6 addresses.', immutable: true })),
  ipv6IpamPoolId: s.optional(
    s.string({ doc: 'IPAM pool that IPv6 addresses are taken from.', immutable: true, unreported: true }),
  ),
  ipv6NetmaskLength: s.optional(
    s.integer({
      doc: 'Size of what is taken from the IPv6 IPAM pool.',
      immutable: true,
      unreported: true,
      minimum: 44,
      maximum: 60,
    }),
  ),
  ipv6CidrBlockNetworkBorderGroup: s.optional(
    s.string({ doc: 'Where the IPv6 addresses are advertised from.', immutable: true }),
  ),
  instanceTenancy: s.optional(
    s.string({
      doc: 'Whether instances share hardware with others. Only from dedicated to default can it change.',
      enum: ['default', 'dedicated', 'host'],
    }),
  ),
  enableDnsSupport: s.optional(s.boolean({ doc: 'Answer DNS queries inside the VPC.' })),
  enableDnsHostnames: s.optional(s.boolean({ doc: 'Give instances public host names.' })),
  enableNetworkAddressUsageMetrics: s.optional(s.boolean({ doc: 'Measure how many addresses are used.' })),
  tags: tags(),
})

const association = {
  associationId: s.string({ doc: 'Id of the association.' }),
  state: s.string({ doc: 'State of the association.' }),
}

const observation = s.object({
  vpcId: s.string({ doc: 'The id that AWS gave it.' }),
  vpcState: s.string({ doc: 'pending or available.' }),
  ownerId: s.string({ doc: 'The account that it belongs to.' }),
  isDefault: s.boolean({ doc: 'Whether it is the default VPC of the region.' }),
  dhcpOptionsId: s.string({ doc: 'The DHCP options that it uses.' }),
  cidrBlockAssociationSet: s.list(s.object({ ...association, cidrBlock: s.string() }), {
    doc: 'All ranges of IPv4 addresses.',
  }),
  ipv6CidrBlockAssociationSet: s.list(
    s.object({ ...association, ipv6CidrBlock: s.string(), ipv6Pool: s.string(), networkBorderGroup: s.string() }),
    { doc: 'All ranges of IPv6 addresses.' },
  ),
})

/** Attributes that are read and changed by one call each. */
const attributes = ['enableDnsSupport', 'enableDnsHostnames', 'enableNetworkAddressUsageMetrics'] as const
type Attributes = { readonly [K in (typeof attributes)[number]]?: boolean | undefined }

/** The managed kind for VPCs. */
export const vpc = defineManaged({
  group: 'ec2.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'VPC',
  doc: 'A virtual private cloud: a network of its own in one region.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'provider-assigned',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['ec2:DescribeVpcs', 'ec2:DescribeVpcAttribute'],
    Create: ['ec2:CreateVpc', 'ec2:CreateTags', 'ec2:ModifyVpcAttribute'],
    Update: ['ec2:ModifyVpcAttribute', 'ec2:ModifyVpcTenancy', 'ec2:CreateTags', 'ec2:DeleteTags'],
    Delete: ['ec2:DeleteVpc'],
    LateInitialize: [],
  },

  connect: ec2,

  async observe({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const Filters = filtersFor('vpc-id', externalName, tags)
    if (!Filters) return absent
    const { Vpcs: [found] = [] } = await client.send(new DescribeVpcsCommand({ Filters }), { abortSignal })
    return found ? await observed(client, forProvider.region, found, abortSignal) : absent
  },

  async list({ client, forProvider, tags, signal: abortSignal }) {
    const pages = paginateDescribeVpcs({ client, pageSize: PAGE }, filtersByTags(tags), { abortSignal })
    const found = []
    // Sequential: each VPC needs calls for its attributes, and a region has few VPCs.
    for (const each of await collect(pages, ({ Vpcs }) => Vpcs)) {
      found.push(await observed(client, forProvider.region, each, abortSignal))
    }
    return found
  },

  async create({ client, forProvider, tags, signal: abortSignal }) {
    const made = await client.send(
      new CreateVpcCommand({
        CidrBlock: forProvider.cidrBlock,
        Ipv4IpamPoolId: forProvider.ipv4IpamPoolId,
        Ipv4NetmaskLength: forProvider.ipv4NetmaskLength,
        AmazonProvidedIpv6CidrBlock: forProvider.amazonProvidedIpv6CidrBlock,
        Ipv6CidrBlock: forProvider.ipv6CidrBlock,
        Ipv6Pool: forProvider.ipv6Pool,
        Ipv6IpamPoolId: forProvider.ipv6IpamPoolId,
        Ipv6NetmaskLength: forProvider.ipv6NetmaskLength,
        Ipv6CidrBlockNetworkBorderGroup: forProvider.ipv6CidrBlockNetworkBorderGroup,
        InstanceTenancy: forProvider.instanceTenancy,
        TagSpecifications: tagSpecification('vpc', tags),
      }),
      { abortSignal },
    )
    const externalName = made.Vpc!.VpcId!
    await partly(externalName, () => setAttributes(client, externalName, forProvider, abortSignal))
    return { externalName }
  },

  async update({ client, externalName, changed, removed, signal: abortSignal }) {
    await setAttributes(client, externalName, changed, abortSignal)
    if (changed.instanceTenancy === 'default') {
      const tenancy = new ModifyVpcTenancyCommand({ VpcId: externalName, InstanceTenancy: 'default' })
      await client.send(tenancy, { abortSignal })
    } else if (changed.instanceTenancy) {
      throw new Error(
        `spec.forProvider.instanceTenancy can only be changed to default, not to ${changed.instanceTenancy}`,
      )
    }
    await updateTags(client, externalName, { changed, removed }, abortSignal)
  },

  async delete({ client, externalName: VpcId, signal: abortSignal }) {
    await unlessNotFound(client.send(new DeleteVpcCommand({ VpcId }), { abortSignal }))
  },
})

async function observed(client: EC2Client, region: string, found: Vpc, abortSignal: AbortSignal) {
  const attributes = await attributesOf(client, found.VpcId!, abortSignal)
  return present({
    externalName: found.VpcId!,
    ready: found.State === 'available',
    atProvider: { region, ...factsOf(found), ...attributes },
  })
}

function factsOf(found: Vpc) {
  const ipv6 = found.Ipv6CidrBlockAssociationSet ?? []
  const first = ipv6.find(({ Ipv6CidrBlockState }) => Ipv6CidrBlockState?.State === 'associated')
  return {
    cidrBlock: found.CidrBlock,
    instanceTenancy: found.InstanceTenancy,
    amazonProvidedIpv6CidrBlock: first && first.Ipv6Pool === 'Amazon',
    ipv6CidrBlock: first?.Ipv6CidrBlock,
    ipv6Pool: first?.Ipv6Pool,
    ipv6CidrBlockNetworkBorderGroup: first?.NetworkBorderGroup,
    tags: tagsOf(found.Tags),
    vpcId: found.VpcId,
    vpcState: found.State,
    ownerId: found.OwnerId,
    isDefault: found.IsDefault,
    dhcpOptionsId: found.DhcpOptionsId,
    cidrBlockAssociationSet: found.CidrBlockAssociationSet?.map((each) => ({
      associationId: each.AssociationId ?? '',
      cidrBlock: each.CidrBlock ?? '',
      state: each.CidrBlockState?.State ?? '',
    })),
    ipv6CidrBlockAssociationSet: ipv6.map((each) => ({
      associationId: each.AssociationId ?? '',
      ipv6CidrBlock: each.Ipv6CidrBlock ?? '',
      ipv6Pool: each.Ipv6Pool ?? '',
      networkBorderGroup: each.NetworkBorderGroup ?? '',
      state: each.Ipv6CidrBlockState?.State ?? '',
    })),
  }
}

async function attributesOf(client: EC2Client, VpcId: string, abortSignal: AbortSignal): Promise<Attributes> {
  const read = async (name: (typeof attributes)[number]) => {
    const command = new DescribeVpcAttributeCommand({ VpcId, Attribute: name as VpcAttributeName })
    const answer = await client.send(command, { abortSignal })
    return [name, answer[capitalized(name)]?.Value] as const
  }
  return Object.fromEntries(await Promise.all(attributes.map(read)))
}

async function setAttributes(
  client: EC2Client,
  VpcId: string,
  wanted: Attributes,
  abortSignal: AbortSignal,
): Promise<void> {
  // The order matters: DNS host names require DNS support.
  for (const name of attributes) {
    const Value = wanted[name]
    if (Value === undefined) continue
    await client.send(new ModifyVpcAttributeCommand({ VpcId, [capitalized(name)]: { Value } }), { abortSignal })
  }
}
