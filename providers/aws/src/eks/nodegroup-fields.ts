import { s } from '@crosstie/resources/provider'
import { region, tags } from '../fields.js'
import { roleArn, securityGroupIds, subnetIds } from '../references.js'
import { cluster } from './cluster.js'
import { health } from './cluster-fields.js'

const count = (doc: string) => s.optional(s.integer({ doc, minimum: 0 }))
const percent = (doc: string) => s.optional(s.integer({ doc, minimum: 1, maximum: 100 }))

/** The `spec.forProvider` fields of a NodeGroup. */
export const parameters = s.object({
  region: region(),
  clusterName: s.identifier(
    s.reference(s.string({ doc: 'The cluster that the nodes belong to.' }), { to: () => cluster.type }),
  ),
  subnets: subnetIds('The subnets that nodes are made in.', { refField: 'subnetRefs', immutable: true }),
  nodeRole: roleArn({ doc: 'ARN of the role of the nodes.', immutable: true }),
  scalingConfig: s.optional(
    s.object(
      {
        minSize: count('The fewest nodes that there may be.'),
        maxSize: count('The most nodes that there may be.'),
        desiredSize: count('How many nodes there are. Leave it to initProvider where an autoscaler sets it.'),
      },
      { doc: 'How many nodes.' },
    ),
  ),
  diskSize: s.optional(s.integer({ doc: 'Size of the root disks, in GiB.', immutable: true })),
  instanceTypes: s.optional(s.list(s.string(), { doc: 'Types that nodes may be of.', immutable: true })),
  amiType: s.optional(s.string({ doc: 'Which image, such as AL2023_x86_64_STANDARD.', immutable: true })),
  remoteAccess: s.optional(
    s.object(
      {
        ec2SshKey: s.optional(s.string({ doc: 'Key pair to log in to the nodes with.', immutable: true })),
        sourceSecurityGroups: s.optional(
          securityGroupIds('From where one may log in. From everywhere when absent.', { immutable: true }),
        ),
      },
      { doc: 'Login to the nodes by SSH.' },
    ),
  ),
  labels: s.optional(s.map(s.string(), { doc: 'Kubernetes labels of the nodes.' })),
  taints: s.optional(
    s.list(
      s.object({
        key: s.string({ doc: 'Key of the taint.' }),
        value: s.optional(s.string({ doc: 'Value of the taint.' })),
        effect: s.string({ doc: 'What it does.', enum: ['NO_SCHEDULE', 'NO_EXECUTE', 'PREFER_NO_SCHEDULE'] }),
      }),
      { doc: 'Kubernetes taints of the nodes.', keys: ['key', 'effect'] },
    ),
  ),
  launchTemplate: s.optional(
    s.object(
      {
        name: s.optional(s.string({ doc: 'Name of the launch template, or its id.', immutable: true })),
        id: s.optional(s.string({ doc: 'Id of the launch template, or its name.', immutable: true })),
        version: s.optional(s.string({ doc: 'Which version. The default one when absent.' })),
      },
      { doc: 'What nodes are launched from.' },
    ),
  ),
  updateConfig: s.optional(
    s.object(
      {
        maxUnavailable: s.optional(s.integer({ doc: 'How many nodes may be missing in an update.', minimum: 1 })),
        maxUnavailablePercentage: percent('The same, as a share of all nodes.'),
        updateStrategy: s.optional(s.string({ doc: 'Whether new nodes come first.', enum: ['DEFAULT', 'MINIMAL'] })),
        force: s.optional(
          s.boolean({ doc: 'Update even when pods cannot be drained for their disruption budget.', unreported: true }),
        ),
      },
      { doc: 'How nodes are replaced.' },
    ),
  ),
  nodeRepairConfig: s.optional(
    s.object(
      {
        enabled: s.optional(s.boolean({ doc: 'Replace nodes that are not well.' })),
        maxUnhealthyNodeThresholdCount: count('Above so many nothing is repaired.'),
        maxUnhealthyNodeThresholdPercentage: percent('The same, as a share of all nodes.'),
        maxParallelNodesRepairedCount: count('So many are repaired at once.'),
        maxParallelNodesRepairedPercentage: percent('The same, as a share of those that are not well.'),
        nodeRepairConfigOverrides: s.optional(
          s.list(
            s.object({
              nodeMonitoringCondition: s.string({ doc: 'For this condition.' }),
              nodeUnhealthyReason: s.string({ doc: 'With this reason.' }),
              minRepairWaitTimeMins: s.optional(s.integer({ doc: 'How many minutes it must last.' })),
              repairAction: s.optional(s.string({ doc: 'What is done.', enum: ['Replace', 'Reboot', 'NoAction'] })),
            }),
            { doc: 'What to do otherwise.', keys: ['nodeMonitoringCondition', 'nodeUnhealthyReason'] },
          ),
        ),
      },
      { doc: 'Repair of nodes.' },
    ),
  ),
  capacityType: s.optional(
    s.string({ doc: 'How instances are paid for.', enum: ['ON_DEMAND', 'SPOT', 'CAPACITY_BLOCK'], immutable: true }),
  ),
  version: s.optional(
    s.string({ doc: 'Version of Kubernetes. That of the cluster when absent.', lateInitialize: false }),
  ),
  releaseVersion: s.optional(
    s.string({ doc: 'Version of the image. The latest one when absent.', lateInitialize: false }),
  ),
  warmPoolConfig: s.optional(
    s.object(
      {
        enabled: s.optional(s.boolean({ doc: 'Keep instances prepared.' })),
        minSize: count('How many at least.'),
        maxGroupPreparedCapacity: count('How many at most, with those in use.'),
        poolState: s.optional(s.string({ doc: 'What they do meanwhile.', enum: ['Stopped', 'Running', 'Hibernated'] })),
        reuseOnScaleIn: s.optional(s.boolean({ doc: 'Put instances back when the group shrinks.' })),
      },
      { doc: 'Instances that wait until they are needed.' },
    ),
  ),
  tags: tags(),
})

/** The `status.atProvider` fields of a NodeGroup. */
export const observation = s.object({
  nodegroupArn: s.string({ doc: 'ARN of the node group.' }),
  createdAt: s.string({ doc: 'When it was made.' }),
  modifiedAt: s.string({ doc: 'When it was last changed.' }),
  status: s.string({ doc: 'Such as CREATING, ACTIVE, UPDATING, DEGRADED.' }),
  resources: s.object({
    autoScalingGroups: s.list(s.object({ name: s.string() }), { doc: 'The groups that its instances are in.' }),
    remoteAccessSecurityGroup: s.string({ doc: 'The security group for logging in.' }),
  }),
  health,
})
