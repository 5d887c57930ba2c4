import {
  CreateDBSubnetGroupCommand,
  type CreateDBSubnetGroupCommandInput,
  CreateDBSubnetGroupMessage$,
  type DBSubnetGroup,
  DBSubnetGroup$,
  DeleteDBSubnetGroupCommand,
  DescribeDBSubnetGroupsCommand,
  ModifyDBSubnetGroupCommand,
  paginateDescribeDBSubnetGroups,
  RDSClient,
} from '@aws-sdk/client-rds'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { region, tags } from '../fields.js'
import { collect } from '../pages.js'
import { subnetIds } from '../references.js'
import { fromApi, toApi } from '../shapes.js'
import { eachOf, readiness } from '../steps.js'
import { tagList } from '../tags.js'
import { readTags, updateTags } from './tags.js'

const connect = connectTo(RDSClient)

const parameters = s.object({
  region: region(),
  dbSubnetGroupDescription: s.string({ doc: 'What it is for.' }),
  subnetIds: subnetIds('The subnets that instances may be in, in two availability zones at least.'),
  tags: tags(),
})

const observation = s.object({
  dbSubnetGroupArn: s.string({ doc: 'ARN of the group.' }),
  vpcId: s.string({ doc: 'The VPC of the subnets.' }),
  subnetGroupStatus: s.string({ doc: 'Such as Complete.' }),
  supportedNetworkTypes: s.list(s.string(), { doc: 'IPV4 or DUAL.' }),
  subnets: s.list(
    s.object({
      subnetIdentifier: s.string({ doc: 'Id of the subnet.' }),
      subnetStatus: s.string({ doc: 'State of the subnet.' }),
      subnetAvailabilityZone: s.object({ name: s.string({ doc: 'Its zone.' }) }),
      subnetOutpost: s.object({ arn: s.string({ doc: 'Its Outpost.' }) }),
    }),
    { doc: 'The subnets as RDS sees them.' },
  ),
})

/** The managed kind for DB subnet groups. */
export const dbSubnetGroup = defineManaged({
  group: 'rds.aws.crossplane.io',
  version: 'v1alpha1',
  kind: 'DBSubnetGroup',
  doc: 'The subnets that database instances may be in.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['rds:DescribeDBSubnetGroups', 'rds:ListTagsForResource'],
    Create: ['rds:CreateDBSubnetGroup', 'rds:AddTagsToResource'],
    Update: [
      'rds:DescribeDBSubnetGroups',
      'rds:ModifyDBSubnetGroup',
      'rds:AddTagsToResource',
      'rds:RemoveTagsFromResource',
    ],
    Delete: ['rds:DeleteDBSubnetGroup'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region }, signal }) {
    if (externalName === '') return absent
    const found = await describe(client, externalName, signal)
    return found ? await sightOf(client, found, region, signal) : absent
  },

  async create({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const given = { ...forProvider, dbSubnetGroupName: externalName, tags: undefined }
    const input = toApi<CreateDBSubnetGroupCommandInput>(CreateDBSubnetGroupMessage$, given)
    await client.send(new CreateDBSubnetGroupCommand({ ...input, Tags: tagList(tags) }), { abortSignal })
    return {}
  },

  async update(call) {
    const { client, externalName: DBSubnetGroupName, forProvider, changed, signal: abortSignal } = call
    await updateTags(
      client,
      call,
      async () => (await describe(client, DBSubnetGroupName, abortSignal))?.DBSubnetGroupArn,
    )
    if (!changed.subnetIds && !changed.dbSubnetGroupDescription) return
    const command = new ModifyDBSubnetGroupCommand({
      DBSubnetGroupName,
      DBSubnetGroupDescription: forProvider.dbSubnetGroupDescription,
      SubnetIds: [...forProvider.subnetIds],
    })
    await client.send(command, { abortSignal })
  },

  async delete({ client, externalName: DBSubnetGroupName, signal: abortSignal }) {
    await unlessNotFound(client.send(new DeleteDBSubnetGroupCommand({ DBSubnetGroupName }), { abortSignal }))
  },

  async list({ client, forProvider: { region }, signal: abortSignal }) {
    const pages = paginateDescribeDBSubnetGroups({ client }, {}, { abortSignal })
    const found = await collect(pages, (page) => page.DBSubnetGroups)
    // The list returns all fields except the tags.
    return await eachOf(found, (group) => sightOf(client, group, region, abortSignal))
  },
})

async function describe(client: RDSClient, DBSubnetGroupName: string, abortSignal: AbortSignal) {
  const command = new DescribeDBSubnetGroupsCommand({ DBSubnetGroupName })
  return (await unlessNotFound(client.send(command, { abortSignal })))?.DBSubnetGroups?.[0]
}

async function sightOf(client: RDSClient, found: DBSubnetGroup, region: string, signal: AbortSignal) {
  const { SubnetGroupStatus } = found
  return present({
    externalName: found.DBSubnetGroupName ?? '',
    ready: readiness(SubnetGroupStatus === 'Complete', SubnetGroupStatus),
    atProvider: {
      ...fromApi(DBSubnetGroup$, found),
      region,
      subnetIds: (found.Subnets ?? []).map(({ SubnetIdentifier }) => SubnetIdentifier ?? ''),
      tags: await readTags(client, found.DBSubnetGroupArn, signal),
    },
  })
}
