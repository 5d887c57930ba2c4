import {
  CreateNodegroupCommand,
  type CreateNodegroupCommandInput,
  CreateNodegroupRequest$,
  DeleteNodegroupCommand,
  DescribeNodegroupCommand,
  EKSClient,
  type Nodegroup,
  Nodegroup$,
  paginateListNodegroups,
  UpdateNodegroupConfigCommand,
  type UpdateNodegroupConfigCommandInput,
  UpdateNodegroupVersionCommand,
} from '@aws-sdk/client-eks'
import { absent, defineManaged, type Infer, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { collect } from '../pages.js'
import { fromApi, toApi } from '../shapes.js'
import { eachOf, oneAfterAnother, readiness } from '../steps.js'
import { observation, parameters } from './nodegroup-fields.js'
import { updateTags } from './tags.js'

const connect = connectTo(EKSClient)
const usable = new Set(['ACTIVE', 'UPDATING'])

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }

/** The managed kind for EKS node groups. */
export const nodeGroup = defineManaged({
  group: 'eks.aws.crossplane.io',
  version: 'v1alpha1',
  kind: 'NodeGroup',
  doc: 'Nodes of a Kubernetes cluster that AWS runs.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  token: true,
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['eks:DescribeNodegroup', 'eks:ListNodegroups'],
    Create: ['eks:CreateNodegroup', 'eks:TagResource', 'iam:PassRole', 'iam:GetRole'],
    Update: [
      'eks:DescribeNodegroup',
      'eks:UpdateNodegroupConfig',
      'eks:UpdateNodegroupVersion',
      'eks:TagResource',
      'eks:UntagResource',
    ],
    Delete: ['eks:DeleteNodegroup', 'eks:DescribeNodegroup'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region, clusterName }, signal }) {
    if (externalName === '') return absent
    const found = await describe(client, clusterName, externalName, signal)
    return found ? sightOf(found, region) : absent
  },

  async create({ client, externalName, forProvider, token, tags, signal: abortSignal }) {
    const given = { ...forProvider, nodegroupName: externalName, tags, clientRequestToken: token }
    const input = toApi<CreateNodegroupCommandInput>(CreateNodegroupRequest$, given)
    await client.send(new CreateNodegroupCommand(input), { abortSignal })
    return {}
  },

  async update(call) {
    const { client, externalName: nodegroupName, forProvider, changed, signal: abortSignal } = call
    const { clusterName } = forProvider
    const found = await describe(client, clusterName, nodegroupName, abortSignal)
    await updateTags(client, found?.nodegroupArn, call, abortSignal)
    const changes: (() => Promise<unknown>)[] = []
    const config = configUpdate(changed, forProvider, found ?? {})
    if (config) {
      const input = { clusterName, nodegroupName, ...config }
      changes.push(() => client.send(new UpdateNodegroupConfigCommand(input), { abortSignal }))
    }
    const version = versionUpdate(changed, forProvider)
    if (version) {
      const input = { clusterName, nodegroupName, ...version }
      changes.push(() => client.send(new UpdateNodegroupVersionCommand(input), { abortSignal }))
    }
    await oneAfterAnother(changes)
  },

  async delete({ client, externalName: nodegroupName, forProvider: { clusterName }, signal: abortSignal }) {
    try {
      await unlessNotFound(client.send(new DeleteNodegroupCommand({ clusterName, nodegroupName }), { abortSignal }))
    } catch (error) {
      const found = await describe(client, clusterName, nodegroupName, abortSignal)
      if (found && found.status !== 'DELETING') throw error
    }
  },

  // ListNodegroups returns names only.
  async list({ client, forProvider: { region, clusterName }, signal: abortSignal }) {
    const pages = paginateListNodegroups({ client }, { clusterName }, { abortSignal })
    const names = (await unlessNotFound(collect(pages, (page) => page.nodegroups))) ?? []
    const found = await eachOf(names, (name) => describe(client, clusterName, name, abortSignal))
    return found.flatMap((one) => (one ? [sightOf(one, region)] : []))
  },
})

async function describe(
  client: EKSClient,
  clusterName: string,
  nodegroupName: string,
  abortSignal: AbortSignal,
): Promise<Nodegroup | undefined> {
  const command = new DescribeNodegroupCommand({ clusterName, nodegroupName })
  return (await unlessNotFound(client.send(command, { abortSignal })))?.nodegroup
}

function sightOf(found: Nodegroup, region: string) {
  const { nodegroupName = '', status, health } = found
  const issues = health?.issues?.map(({ message = '' }) => message)
  return present({
    externalName: nodegroupName,
    ready: readiness(usable.has(status ?? ''), status, issues),
    atProvider: { ...fromApi(Nodegroup$, found), region },
  })
}

type ConfigUpdate = Omit<UpdateNodegroupConfigCommandInput, 'clusterName' | 'nodegroupName'>

/**
 * Returns the request that changes a node group. Labels and taints are sent as additions and removals, other
 * settings as a whole.
 */
function configUpdate(changed: Changed, wanted: Wanted, is: Nodegroup): ConfigUpdate | undefined {
  const { labels, taints, scalingConfig, updateConfig, nodeRepairConfig, warmPoolConfig } = wanted
  const update: Record<string, unknown> = {}
  if (changed.labels) {
    const gone = Object.keys(is.labels ?? {}).filter((key) => labels?.[key] === undefined)
    update['labels'] = { addOrUpdateLabels: labels, ...(gone.length > 0 ? { removeLabels: gone } : {}) }
  }
  if (changed.taints) {
    const stays = (taint: { key?: string; effect?: string }) =>
      taints?.some(({ key, effect }) => key === taint.key && effect === taint.effect)
    const gone = (is.taints ?? []).filter((taint) => !stays(taint))
    update['taints'] = { addOrUpdateTaints: taints, ...(gone.length > 0 ? { removeTaints: gone } : {}) }
  }
  // Unset fields keep their value, such as a size that an autoscaler chose.
  if (changed.scalingConfig) update['scalingConfig'] = scalingConfig
  if (changed.updateConfig) {
    const { force: _, ...rest } = updateConfig!
    update['updateConfig'] = rest
  }
  if (changed.nodeRepairConfig) update['nodeRepairConfig'] = nodeRepairConfig
  if (changed.warmPoolConfig) update['warmPoolConfig'] = warmPoolConfig
  return Object.keys(update).length > 0 ? (update as ConfigUpdate) : undefined
}

function versionUpdate(changed: Changed, wanted: Wanted): object | undefined {
  const { version, releaseVersion, launchTemplate } = changed
  if (!version && !releaseVersion && !launchTemplate) return undefined
  return {
    ...(version ? { version: wanted.version } : {}),
    ...(releaseVersion ? { releaseVersion: wanted.releaseVersion } : {}),
    ...(launchTemplate ? { launchTemplate: wanted.launchTemplate } : {}),
    ...(wanted.updateConfig?.force !== undefined ? { force: wanted.updateConfig.force } : {}),
  }
}
