import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  DeleteInternetGatewayCommand,
  DescribeInternetGatewaysCommand,
  DetachInternetGatewayCommand,
  type EC2Client,
  type Filter,
  type InternetGateway,
  paginateDescribeInternetGateways,
} from '@aws-sdk/client-ec2'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { region, tags } from '../fields.js'
import { collect } from '../pages.js'
import { partly } from '../partly.js'
import { tagsOf } from '../tags.js'
import { ec2, filtersByTags, filtersFor, PAGE, tagSpecification, updateTags } from './common.js'
import { vpc } from './vpc.js'

const parameters = s.object({
  region: region(),
  vpcId: s.optional(
    s.reference(s.string({ doc: 'The VPC that it is attached to. A VPC has one at most.' }), { to: () => vpc.type }),
  ),
  tags: tags(),
})

const observation = s.object({
  internetGatewayId: s.string({ doc: 'The id that AWS gave it.' }),
  ownerId: s.string({ doc: 'The account that it belongs to.' }),
  attachments: s.list(s.object({ vpcId: s.string(), attachmentStatus: s.string() }), {
    doc: 'What it is attached to.',
  }),
})

/** The managed kind for internet gateways. */
export const internetGateway = defineManaged({
  group: 'ec2.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'InternetGateway',
  doc: 'Connects a VPC with the internet.',
  categories: ['crossplane', 'managed', 'aws'],
  shortNames: ['igw'],
  parameters,
  observation,
  naming: 'provider-assigned',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['ec2:DescribeInternetGateways'],
    Create: ['ec2:CreateInternetGateway', 'ec2:CreateTags', 'ec2:AttachInternetGateway'],
    Update: ['ec2:AttachInternetGateway', 'ec2:DetachInternetGateway', 'ec2:CreateTags', 'ec2:DeleteTags'],
    Delete: ['ec2:DetachInternetGateway', 'ec2:DeleteInternetGateway'],
    LateInitialize: [],
  },

  connect: ec2,

  async observe({ client, externalName, forProvider, tags, signal }) {
    const Filters = filtersFor('internet-gateway-id', externalName, tags)
    const found = Filters && (await find(client, Filters, signal))
    return found ? observed(forProvider.region, found) : absent
  },

  async list({ client, forProvider, tags, signal: abortSignal }) {
    const pages = paginateDescribeInternetGateways({ client, pageSize: PAGE }, filtersByTags(tags), { abortSignal })
    const all = await collect(pages, ({ InternetGateways }) => InternetGateways)
    return all.map((found) => observed(forProvider.region, found))
  },

  async create({ client, forProvider, tags, signal: abortSignal }) {
    const TagSpecifications = tagSpecification('internet-gateway', tags)
    const made = await client.send(new CreateInternetGatewayCommand({ TagSpecifications }), { abortSignal })
    const externalName = made.InternetGateway!.InternetGatewayId!
    const { vpcId } = forProvider
    if (vpcId) await partly(externalName, () => attach(client, externalName, vpcId, abortSignal))
    return { externalName }
  },

  async update({ client, externalName, changed, removed, signal }) {
    if (changed.vpcId) {
      await detach(client, externalName, signal)
      await attach(client, externalName, changed.vpcId, signal)
    }
    await updateTags(client, externalName, { changed, removed }, signal)
  },

  async delete({ client, externalName: InternetGatewayId, signal: abortSignal }) {
    await detach(client, InternetGatewayId, abortSignal)
    await unlessNotFound(client.send(new DeleteInternetGatewayCommand({ InternetGatewayId }), { abortSignal }))
  },
})

function observed(region: string, found: InternetGateway) {
  const { Attachments = [] } = found
  return present({
    externalName: found.InternetGatewayId!,
    ready: Attachments.every(({ State }) => isAttached(State)),
    atProvider: {
      region,
      vpcId: Attachments.find(({ State }) => isAttached(State))?.VpcId,
      tags: tagsOf(found.Tags),
      internetGatewayId: found.InternetGatewayId,
      ownerId: found.OwnerId,
      attachments: Attachments.map(({ VpcId, State }) => ({ vpcId: VpcId ?? '', attachmentStatus: State ?? '' })),
    },
  })
}

// EC2 reports `available` for attached gateways, not `attached`.
const isAttached = (state: string | undefined) => state === 'available' || state === 'attached'

async function find(client: EC2Client, Filters: Filter[], abortSignal: AbortSignal) {
  const answer = await client.send(new DescribeInternetGatewaysCommand({ Filters }), { abortSignal })
  return answer.InternetGateways?.[0]
}

async function attach(client: EC2Client, InternetGatewayId: string, VpcId: string, abortSignal: AbortSignal) {
  await client.send(new AttachInternetGatewayCommand({ InternetGatewayId, VpcId }), { abortSignal })
}

async function detach(client: EC2Client, InternetGatewayId: string, abortSignal: AbortSignal): Promise<void> {
  const found = await find(client, [{ Name: 'internet-gateway-id', Values: [InternetGatewayId] }], abortSignal)
  for (const { VpcId } of found?.Attachments ?? []) {
    await client.send(new DetachInternetGatewayCommand({ InternetGatewayId, VpcId }), { abortSignal })
  }
}
