import {
  AssociateEncryptionConfigCommand,
  type AssociateEncryptionConfigCommandInput,
  AssociateEncryptionConfigRequest$,
  type Cluster,
  Cluster$,
  CreateClusterCommand,
  type CreateClusterCommandInput,
  CreateClusterRequest$,
  DeleteClusterCommand,
  DescribeClusterCommand,
  EKSClient,
  paginateListClusters,
  UpdateClusterConfigCommand,
  UpdateClusterVersionCommand,
} from '@aws-sdk/client-eks'
import { absent, defineManaged, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { troubleOf, unlessNotFound } from '../errors.js'
import { collect } from '../pages.js'
import { fromApi, toApi } from '../shapes.js'
import { eachOf, oneAfterAnother, readiness } from '../steps.js'
import { tagChanges } from '../tags.js'
import { observation, parameters } from './cluster-fields.js'
import { kubeconfigOf } from './kubeconfig.js'
import { updateTags } from './tags.js'
import { configUpdates } from './updates.js'

const connect = connectTo(EKSClient)
const usable = new Set(['ACTIVE', 'UPDATING'])

/** The managed kind for EKS clusters. */
export const cluster = defineManaged({
  group: 'eks.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'Cluster',
  doc: 'A Kubernetes cluster that AWS runs: the control plane. Its connection Secret has `endpoint`, `clusterCA` and `kubeconfig`.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  token: true,
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['eks:DescribeCluster', 'eks:ListClusters'],
    Create: ['eks:CreateCluster', 'eks:TagResource', 'iam:PassRole'],
    Update: [
      'eks:DescribeCluster',
      'eks:UpdateClusterConfig',
      'eks:UpdateClusterVersion',
      'eks:AssociateEncryptionConfig',
      'eks:TagResource',
      'eks:UntagResource',
    ],
    Delete: ['eks:DeleteCluster', 'eks:DescribeCluster', 'eks:UpdateClusterConfig'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region }, signal }) {
    if (externalName === '') return absent
    const found = await describe(client, externalName, signal)
    return found ? sightOf(found, region) : absent
  },

  async create({ client, externalName, forProvider, token, tags, signal: abortSignal }) {
    const given = { ...forProvider, name: externalName, tags, clientRequestToken: token }
    const input = toApi<CreateClusterCommandInput>(CreateClusterRequest$, given)
    await client.send(new CreateClusterCommand(input), { abortSignal })
    return {}
  },

  async update(call) {
    const { client, externalName: name, forProvider, changed, signal: abortSignal } = call
    if (tagChanges(call)) {
      await updateTags(client, (await describe(client, name, abortSignal))?.arn, call, abortSignal)
    }
    const { version, encryptionConfig } = changed
    const changes: (() => Promise<unknown>)[] = []
    if (version) {
      changes.push(() => client.send(new UpdateClusterVersionCommand({ name, version }), { abortSignal }))
    }
    for (const update of configUpdates(changed, forProvider)) {
      changes.push(() => client.send(new UpdateClusterConfigCommand({ name, ...update }), { abortSignal }))
    }
    if (encryptionConfig) {
      const input = toApi<AssociateEncryptionConfigCommandInput>(AssociateEncryptionConfigRequest$, {
        clusterName: name,
        encryptionConfig,
      })
      changes.push(() => client.send(new AssociateEncryptionConfigCommand(input), { abortSignal }))
    }
    await oneAfterAnother(changes)
  },

  async delete({ client, externalName: name, forProvider, signal: abortSignal }) {
    try {
      await unlessNotFound(client.send(new DeleteClusterCommand({ name }), { abortSignal }))
    } catch (error) {
      if (troubleOf(error) === 'protected' && forProvider.deletionProtection === false) {
        await client.send(new UpdateClusterConfigCommand({ name, deletionProtection: false }), { abortSignal })
        return
      }
      const found = await describe(client, name, abortSignal)
      if (found && found.status !== 'DELETING') throw error
    }
  },

  // ListClusters returns names only.
  async list({ client, forProvider: { region }, signal }) {
    const names = await collect(paginateListClusters({ client }, {}, { abortSignal: signal }), (page) => page.clusters)
    const found = await eachOf(names, (name) => describe(client, name, signal))
    return found.flatMap((one) => (one ? [sightOf(one, region)] : []))
  },
})

async function describe(client: EKSClient, name: string, abortSignal: AbortSignal): Promise<Cluster | undefined> {
  return (await unlessNotFound(client.send(new DescribeClusterCommand({ name }), { abortSignal })))?.cluster
}

function sightOf(found: Cluster, region: string) {
  const { name = '', status, endpoint, certificateAuthority, health } = found
  const authority = certificateAuthority?.data
  const reachable = endpoint && authority
  return present({
    externalName: name,
    ready: readiness(
      usable.has(status ?? ''),
      status,
      health?.issues?.map(({ message = '' }) => message),
    ),
    ...(reachable
      ? {
          connection: {
            endpoint,
            clusterCA: Buffer.from(authority, 'base64').toString(),
            kubeconfig: kubeconfigOf({ name, region, endpoint, authority }),
          },
        }
      : {}),
    atProvider: {
      ...fromApi(Cluster$, found),
      region,
      ...(authority ? { certificateAuthorityData: authority } : {}),
    },
  })
}
