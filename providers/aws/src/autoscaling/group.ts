import {
  AttachLoadBalancersCommand,
  AttachLoadBalancerTargetGroupsCommand,
  AttachTrafficSourcesCommand,
  AutoScalingClient,
  type AutoScalingGroup,
  AutoScalingGroup$,
  CreateAutoScalingGroupCommand,
  type CreateAutoScalingGroupCommandInput,
  CreateAutoScalingGroupType$,
  CreateOrUpdateTagsCommand,
  DeleteAutoScalingGroupCommand,
  DeleteTagsCommand,
  DescribeAutoScalingGroupsCommand,
  DetachLoadBalancersCommand,
  DetachLoadBalancerTargetGroupsCommand,
  DetachTrafficSourcesCommand,
  paginateDescribeAutoScalingGroups,
  type Tag,
  UpdateAutoScalingGroupCommand,
  type UpdateAutoScalingGroupCommandInput,
  UpdateAutoScalingGroupType$,
} from '@aws-sdk/client-auto-scaling'
import { absent, defineManaged, type Infer, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { troubleOf } from '../errors.js'
import { collect } from '../pages.js'
import { fromApi, toApi } from '../shapes.js'
import { readiness } from '../steps.js'
import { type Tags, tagsOf } from '../tags.js'
import { unlessGone } from './gone.js'
import { observation, parameters } from './group-fields.js'

const connect = connectTo(AutoScalingClient)

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }

/** The managed kind for Auto Scaling groups. */
export const autoScalingGroup = defineManaged({
  group: 'autoscaling.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'AutoScalingGroup',
  doc: 'A group of instances that grows and shrinks.',
  categories: ['crossplane', 'managed', 'aws'],
  shortNames: ['asg'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['autoscaling:DescribeAutoScalingGroups'],
    Create: [
      'autoscaling:CreateAutoScalingGroup',
      'autoscaling:CreateOrUpdateTags',
      'ec2:RunInstances',
      'iam:CreateServiceLinkedRole',
      'iam:PassRole',
    ],
    Update: [
      'autoscaling:DescribeAutoScalingGroups',
      'autoscaling:UpdateAutoScalingGroup',
      'autoscaling:AttachLoadBalancers',
      'autoscaling:DetachLoadBalancers',
      'autoscaling:AttachLoadBalancerTargetGroups',
      'autoscaling:DetachLoadBalancerTargetGroups',
      'autoscaling:AttachTrafficSources',
      'autoscaling:DetachTrafficSources',
      'autoscaling:CreateOrUpdateTags',
      'autoscaling:DeleteTags',
      'ec2:RunInstances',
    ],
    Delete: [
      'autoscaling:DeleteAutoScalingGroup',
      'autoscaling:DescribeAutoScalingGroups',
      'autoscaling:UpdateAutoScalingGroup',
    ],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region }, signal }) {
    if (externalName === '') return absent
    const found = await describe(client, externalName, signal)
    return found ? sightOf(found, region) : absent
  },

  async create({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const { propagatedTags = {} } = forProvider
    const input = toApi<CreateAutoScalingGroupCommandInput>(CreateAutoScalingGroupType$, {
      ...withZones(forProvider),
      autoScalingGroupName: externalName,
      tags: undefined,
    })
    input.Tags = [
      ...tagList(externalName, without(tags, propagatedTags), false),
      ...tagList(externalName, propagatedTags, true),
    ]
    await client.send(new CreateAutoScalingGroupCommand(input), { abortSignal })
    return {}
  },

  async update(call) {
    const { client, externalName, forProvider, changed, signal: abortSignal } = call
    await updateTags(call)
    await updateTraffic(call)
    const rest = whole(forProvider, changed)
    for (const name of ownCalls) delete rest[name]
    if (Object.keys(rest).length === 0) return
    const given = { ...withZones(rest), autoScalingGroupName: externalName }
    const input = toApi<UpdateAutoScalingGroupCommandInput>(UpdateAutoScalingGroupType$, given)
    await client.send(new UpdateAutoScalingGroupCommand(input), { abortSignal })
  },

  async delete({ client, externalName: AutoScalingGroupName, forProvider, signal: abortSignal }) {
    const { forceDelete = false, deletionProtection } = forProvider
    const found = await describe(client, AutoScalingGroupName, abortSignal)
    if (!found || found.Status) return
    const unprotect = deletionProtection === 'none' && (found.DeletionProtection ?? 'none') !== 'none'
    const occupied = !forceDelete && ((found.Instances ?? []).length > 0 || found.DesiredCapacity !== 0)
    if (unprotect || occupied) {
      const empty = occupied ? { MinSize: 0, MaxSize: 0, DesiredCapacity: 0 } : {}
      const DeletionProtection = unprotect ? { DeletionProtection: 'none' as const } : {}
      const command = new UpdateAutoScalingGroupCommand({ AutoScalingGroupName, ...empty, ...DeletionProtection })
      await client.send(command, { abortSignal })
    }
    try {
      const command = new DeleteAutoScalingGroupCommand({ AutoScalingGroupName, ForceDelete: forceDelete })
      await unlessGone(client.send(command, { abortSignal }))
    } catch (error) {
      // Instances terminate slowly. The reconciler retries the deletion until they are gone.
      if (troubleOf(error) !== 'inUse' || !occupied) throw error
    }
  },

  async list({ client, forProvider: { region }, signal: abortSignal }) {
    const pages = paginateDescribeAutoScalingGroups({ client }, {}, { abortSignal })
    return (await collect(pages, (page) => page.AutoScalingGroups)).map((found) => sightOf(found, region))
  },
})

async function describe(
  client: AutoScalingClient,
  name: string,
  abortSignal: AbortSignal,
): Promise<AutoScalingGroup | undefined> {
  const command = new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: [name] })
  return (await client.send(command, { abortSignal })).AutoScalingGroups?.[0]
}

function sightOf(found: AutoScalingGroup, region: string) {
  const { Tags = [], VPCZoneIdentifier, ...rest } = found
  const said = Object.entries(fromApi(AutoScalingGroup$, rest)).filter(([, value]) => value !== '')
  const carried = (propagated: boolean) =>
    tagsOf(Tags.filter(({ PropagateAtLaunch = false }) => PropagateAtLaunch === propagated))
  return present({
    externalName: found.AutoScalingGroupName ?? '',
    // The group is ready when it exists. The autoscaler decides how many instances run.
    ready: readiness(!found.Status, found.Status),
    atProvider: {
      ...Object.fromEntries(said),
      region,
      ...(VPCZoneIdentifier ? { vpcZoneIdentifier: VPCZoneIdentifier.split(',').map((id) => id.trim()) } : {}),
      tags: carried(false),
      propagatedTags: carried(true),
    },
  })
}

/** Joins the subnet ids, because the API expects them as one comma-separated string. */
function withZones<V extends { readonly vpcZoneIdentifier?: readonly string[] }>(values: V): object {
  const { vpcZoneIdentifier, ...rest } = values
  return { ...rest, ...(vpcZoneIdentifier ? { vpcZoneIdentifier: vpcZoneIdentifier.join(',') } : {}) }
}

/** Fields that are changed by dedicated calls. */
const ownCalls = ['tags', 'propagatedTags', 'loadBalancerNames', 'targetGroupARNs', 'trafficSources'] as const

/** Returns the changed fields with complete nested settings, because Auto Scaling replaces them as a whole. */
function whole(wanted: Wanted, changed: Changed): { -readonly [K in keyof Wanted]?: Wanted[K] } {
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => changed[name as keyof Wanted] !== undefined))
}

interface Update {
  readonly client: AutoScalingClient
  readonly externalName: string
  readonly forProvider: Wanted
  readonly changed: Changed
  readonly removed: Readonly<Record<string, readonly string[]>>
  readonly signal: AbortSignal
}

function tagList(ResourceId: string, tags: Tags, PropagateAtLaunch: boolean): Tag[] {
  const ResourceType = 'auto-scaling-group'
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value, ResourceId, ResourceType, PropagateAtLaunch }))
}

const without = (tags: Tags, others: Tags): Tags =>
  Object.fromEntries(Object.entries(tags).filter(([key]) => others[key] === undefined))

/** Updates the tags. A key in both maps is propagated. */
async function updateTags({ client, externalName, forProvider, changed, removed, signal }: Update): Promise<void> {
  const { tags = {}, propagatedTags = {} } = forProvider
  const set = [
    ...(changed.tags ? tagList(externalName, without(tags, propagatedTags), false) : []),
    ...(changed.propagatedTags ? tagList(externalName, propagatedTags, true) : []),
  ]
  const gone = [...(removed['tags'] ?? []), ...(removed['propagatedTags'] ?? [])]
  const unset = gone.filter((key) => tags[key] === undefined && propagatedTags[key] === undefined)
  // A key that moves from one map to the other is written by its new map.
  const moved = gone.filter((key) => tags[key] !== undefined && propagatedTags[key] === undefined)
  const all = [...set, ...tagList(externalName, Object.fromEntries(moved.map((key) => [key, tags[key]!])), false)]
  if (all.length > 0) await client.send(new CreateOrUpdateTagsCommand({ Tags: all }), { abortSignal: signal })
  if (unset.length > 0) {
    const Tags = unset.map((Key) => ({ Key, ResourceId: externalName, ResourceType: 'auto-scaling-group' }))
    await client.send(new DeleteTagsCommand({ Tags }), { abortSignal: signal })
  }
}

/** Attaches and detaches traffic sources, each with its own call. */
async function updateTraffic({
  client,
  externalName,
  forProvider,
  changed,
  signal: abortSignal,
}: Update): Promise<void> {
  const { loadBalancerNames, targetGroupARNs, trafficSources } = changed
  if (!loadBalancerNames && !targetGroupARNs && !trafficSources) return
  const AutoScalingGroupName = externalName
  const is = await describe(client, externalName, abortSignal)
  if (loadBalancerNames) {
    const { come, go } = exchange(forProvider.loadBalancerNames, is?.LoadBalancerNames)
    const [attach, detach] = [
      { AutoScalingGroupName, LoadBalancerNames: come },
      { AutoScalingGroupName, LoadBalancerNames: go },
    ]
    if (come.length > 0) await client.send(new AttachLoadBalancersCommand(attach), { abortSignal })
    if (go.length > 0) await client.send(new DetachLoadBalancersCommand(detach), { abortSignal })
  }
  if (targetGroupARNs) {
    const { come, go } = exchange(forProvider.targetGroupARNs, is?.TargetGroupARNs)
    const [attach, detach] = [
      { AutoScalingGroupName, TargetGroupARNs: come },
      { AutoScalingGroupName, TargetGroupARNs: go },
    ]
    if (come.length > 0) await client.send(new AttachLoadBalancerTargetGroupsCommand(attach), { abortSignal })
    if (go.length > 0) await client.send(new DetachLoadBalancerTargetGroupsCommand(detach), { abortSignal })
  }
  if (trafficSources) {
    const text = (sources: readonly { identifier?: string; type?: string }[] = []) =>
      sources.map(({ identifier, type }) => JSON.stringify({ Identifier: identifier, Type: type }))
    const held = is?.TrafficSources?.map(({ Identifier, Type }) => ({
      identifier: Identifier!,
      ...(Type ? { type: Type } : {}),
    }))
    const { come, go } = exchange(text(forProvider.trafficSources), text(held))
    const parsed = (texts: readonly string[]) => ({
      AutoScalingGroupName,
      TrafficSources: texts.map((each) => JSON.parse(each)),
    })
    if (come.length > 0) await client.send(new AttachTrafficSourcesCommand(parsed(come)), { abortSignal })
    if (go.length > 0) await client.send(new DetachTrafficSourcesCommand(parsed(go)), { abortSignal })
  }
}

function exchange(wanted: readonly string[] = [], is: readonly string[] = []) {
  return { come: wanted.filter((one) => !is.includes(one)), go: is.filter((one) => !wanted.includes(one)) }
}
