import {
  CreateClusterCommand,
  EKSClient,
  ListClustersCommand,
  ListNodegroupsCommand,
  UpdateClusterConfigCommand,
  UpdateNodegroupConfigCommand,
} from '@aws-sdk/client-eks'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { cluster } from './cluster.js'
import { nodeGroup } from './nodegroup.js'

const region = 'eu-west-1'
const roleArn = 'arn:aws:iam::123456789012:role/eks'
const subnets = ['subnet-1', 'subnet-2']

const moto = await motoForFile()
if (moto) await contracts(moto)

async function contracts(moto: Moto): Promise<void> {
  const past = moto.client(EKSClient, region)
  const clusters = async () => (await past.send(new ListClustersCommand({}))).clusters!

  // Not tested, because moto lacks it: moto does not implement UpdateClusterVersion, UpdateClusterConfig replaces
  // the whole network configuration, and settings newer than remote networks are not stored.
  motoContract(moto, cluster, async () => ({
    example: {
      region,
      roleArn,
      version: '1.34',
      resourcesVpcConfig: { subnetIds: subnets, endpointPrivateAccess: true, endpointPublicAccess: false },
      kubernetesNetworkConfig: { serviceIpv4Cidr: '10.100.0.0/16', ipFamily: 'ipv4' },
      logging: { clusterLogging: [{ types: ['api', 'audit'], enabled: true }] },
      encryptionConfig: [{ resources: ['secrets'], provider: { keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/k' } }],
      remoteNetworkConfig: { remoteNodeNetworks: [{ cidrs: ['10.200.0.0/16'] }] },
      tags: { team: 'apps' },
    },
    change: { logging: { clusterLogging: [{ types: ['api'], enabled: false }] }, tags: { team: 'apps', tier: 'one' } },
    meddle: async (name) => {
      const clusterLogging = [{ types: ['api', 'audit'] as const, enabled: false }]
      const logging = { clusterLogging: clusterLogging.map(({ types, enabled }) => ({ types: [...types], enabled })) }
      await past.send(new UpdateClusterConfigCommand({ name, logging }))
    },
    exists: async (name) => (await clusters()).includes(name),
    count: async () => (await clusters()).length,
  }))

  const clusterName = 'nodes'
  const resourcesVpcConfig = { subnetIds: subnets }
  await past.send(new CreateClusterCommand({ name: clusterName, roleArn, resourcesVpcConfig }))
  const groups = async () => (await past.send(new ListNodegroupsCommand({ clusterName }))).nodegroups!

  // Not tested, because moto lacks it: moto does not implement UpdateNodegroupVersion, cannot change tags of a node
  // group, and does not store updateConfig on creation.
  motoContract(moto, nodeGroup, async () => ({
    example: {
      region,
      clusterName,
      subnets,
      nodeRole: roleArn,
      scalingConfig: { minSize: 1, maxSize: 5, desiredSize: 2 },
      instanceTypes: ['t3.large'],
      diskSize: 30,
      amiType: 'AL2023_x86_64_STANDARD',
      capacityType: 'SPOT',
      labels: { tier: 'one', old: 'yes' },
      taints: [{ key: 'dedicated', value: 'apps', effect: 'NO_SCHEDULE' }],
      tags: { team: 'apps' },
    },
    change: {
      scalingConfig: { minSize: 2, maxSize: 6, desiredSize: 3 },
      labels: { tier: 'two' },
      taints: [{ key: 'dedicated', value: 'other', effect: 'NO_EXECUTE' }],
      updateConfig: { maxUnavailable: 1, force: true },
    },
    meddle: async (nodegroupName) => {
      const scalingConfig = { desiredSize: 5 }
      await past.send(new UpdateNodegroupConfigCommand({ clusterName, nodegroupName, scalingConfig }))
    },
    exists: async (name) => (await groups()).includes(name),
    count: async () => (await groups()).length,
  }))
}
