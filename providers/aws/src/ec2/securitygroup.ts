import {
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  type DescribeSecurityGroupsCommandInput,
  type EC2Client,
  type IpPermission,
  paginateDescribeSecurityGroups,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroup,
  UpdateSecurityGroupRuleDescriptionsEgressCommand,
  UpdateSecurityGroupRuleDescriptionsIngressCommand,
} from '@aws-sdk/client-ec2'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { region, tags } from '../fields.js'
import { collect } from '../pages.js'
import { partly } from '../partly.js'
import { tagsOf } from '../tags.js'
import { ec2, filtersByTags, filtersFor, PAGE, tagSpecification, updateTags } from './common.js'
import { compareRules, type Permission, permissions, permissionsOf, rulesOf } from './rules.js'
import { vpc } from './vpc.js'

const parameters = s.object({
  region: region(),
  groupName: s.string({ doc: 'Its name, which no other group of the VPC has.', immutable: true, maxLength: 255 }),
  description: s.string({ doc: 'What it is for.', immutable: true, maxLength: 255 }),
  vpcId: s.optional(
    s.reference(s.string({ doc: 'The VPC that it is in. The default VPC when absent.', immutable: true }), {
      to: () => vpc.type,
    }),
  ),
  ingress: permissions('What may come in. Rules that are not named here are revoked.'),
  egress: permissions('What may go out. Rules that are not named here are revoked; absent, AWS allows everything.'),
  tags: tags(),
})

const observation = s.object({
  groupId: s.string({ doc: 'The id that AWS gave it.' }),
  securityGroupArn: s.string({ doc: 'Its ARN.' }),
  ownerId: s.string({ doc: 'The account that it belongs to.' }),
})

/** The managed kind for security groups. */
export const securityGroup = defineManaged({
  group: 'ec2.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'SecurityGroup',
  doc: 'Says what may reach the network interfaces that are in it, and what they may reach.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'provider-assigned',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['ec2:DescribeSecurityGroups'],
    Create: [
      'ec2:CreateSecurityGroup',
      'ec2:CreateTags',
      'ec2:AuthorizeSecurityGroupIngress',
      'ec2:AuthorizeSecurityGroupEgress',
      'ec2:RevokeSecurityGroupEgress',
    ],
    Update: [
      'ec2:AuthorizeSecurityGroupIngress',
      'ec2:AuthorizeSecurityGroupEgress',
      'ec2:RevokeSecurityGroupIngress',
      'ec2:RevokeSecurityGroupEgress',
      'ec2:UpdateSecurityGroupRuleDescriptionsIngress',
      'ec2:UpdateSecurityGroupRuleDescriptionsEgress',
      'ec2:CreateTags',
      'ec2:DeleteTags',
    ],
    Delete: ['ec2:DeleteSecurityGroup'],
    LateInitialize: [],
  },

  connect: ec2,

  async observe({ client, externalName, forProvider, tags, signal }) {
    const Filters = filtersFor('group-id', externalName, tags)
    const found = Filters && (await find(client, { Filters }, signal))
    return found ? observed(forProvider.region, found) : absent
  },

  async list({ client, forProvider, tags, signal: abortSignal }) {
    const pages = paginateDescribeSecurityGroups({ client, pageSize: PAGE }, filtersByTags(tags), { abortSignal })
    const all = await collect(pages, ({ SecurityGroups }) => SecurityGroups)
    return all.map((found) => observed(forProvider.region, found))
  },

  async create({ client, forProvider, tags, signal: abortSignal }) {
    const made = await client.send(
      new CreateSecurityGroupCommand({
        GroupName: forProvider.groupName,
        Description: forProvider.description,
        VpcId: forProvider.vpcId,
        TagSpecifications: tagSpecification('security-group', tags),
      }),
      { abortSignal },
    )
    const externalName = made.GroupId!
    const { ingress, egress } = forProvider
    if (ingress || egress) await partly(externalName, () => setRules(client, externalName, forProvider, abortSignal))
    return { externalName }
  },

  async update({ client, externalName, changed, removed, signal }) {
    const { ingress, egress } = changed
    if (ingress || egress) await setRules(client, externalName, { ingress, egress }, signal)
    await updateTags(client, externalName, { changed, removed }, signal)
  },

  async delete({ client, externalName: GroupId, signal: abortSignal }) {
    await unlessNotFound(client.send(new DeleteSecurityGroupCommand({ GroupId }), { abortSignal }))
  },
})

function observed(region: string, found: SecurityGroup) {
  const id = found.GroupId!
  return present({
    externalName: id,
    ready: true,
    atProvider: {
      region,
      groupName: found.GroupName,
      description: found.Description,
      vpcId: found.VpcId,
      ingress: permissionsOf(found.IpPermissions, id),
      egress: permissionsOf(found.IpPermissionsEgress, id),
      tags: tagsOf(found.Tags),
      groupId: id,
      securityGroupArn: found.SecurityGroupArn,
      ownerId: found.OwnerId,
    },
  })
}

async function find(client: EC2Client, by: DescribeSecurityGroupsCommandInput, abortSignal: AbortSignal) {
  const { SecurityGroups: [found] = [] } = await client.send(new DescribeSecurityGroupsCommand(by), { abortSignal })
  return found
}

interface WantedRules {
  readonly ingress?: readonly Permission[] | undefined
  readonly egress?: readonly Permission[] | undefined
}

interface Options {
  readonly abortSignal: AbortSignal
}

interface Rules {
  readonly GroupId: string
  readonly IpPermissions: IpPermission[]
}

const directions = {
  ingress: {
    authorize: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new AuthorizeSecurityGroupIngressCommand(rules), options),
    revoke: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new RevokeSecurityGroupIngressCommand(rules), options),
    describe: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new UpdateSecurityGroupRuleDescriptionsIngressCommand(rules), options),
    held: ({ IpPermissions }: SecurityGroup) => IpPermissions,
  },
  egress: {
    authorize: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new AuthorizeSecurityGroupEgressCommand(rules), options),
    revoke: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new RevokeSecurityGroupEgressCommand(rules), options),
    describe: (client: EC2Client, rules: Rules, options: Options) =>
      client.send(new UpdateSecurityGroupRuleDescriptionsEgressCommand(rules), options),
    held: ({ IpPermissionsEgress }: SecurityGroup) => IpPermissionsEgress,
  },
}

/** Authorizes new rules before it revokes old ones, so that permitted traffic is never interrupted. */
async function setRules(client: EC2Client, GroupId: string, wanted: WantedRules, abortSignal: AbortSignal) {
  const group = await find(client, { GroupIds: [GroupId] }, abortSignal)
  for (const name of ['ingress', 'egress'] as const) {
    const rules = wanted[name]
    if (!rules || !group) continue
    const { authorize, revoke, describe, held } = directions[name]
    const is = rulesOf(permissionsOf(held(group), GroupId), GroupId)
    const { missing, changed, extra } = compareRules(rulesOf(rules, GroupId), is)
    const of = (some: typeof missing) => ({ GroupId, IpPermissions: some.map(({ permission }) => permission) })
    if (missing.length > 0) await authorize(client, of(missing), { abortSignal })
    if (changed.length > 0) await describe(client, of(changed), { abortSignal })
    if (extra.length > 0) await revoke(client, of(extra), { abortSignal })
  }
}
