import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AutoScalingGroup$,
  CreateAutoScalingGroupType$,
  CreateLaunchConfigurationType$,
  DeleteAutoScalingGroupType$,
  UpdateAutoScalingGroupType$,
} from '@aws-sdk/client-auto-scaling'
import { CreateTableInput$, UpdateTableInput$ } from '@aws-sdk/client-dynamodb'
import {
  CreateClusterRequest$,
  CreateNodegroupRequest$,
  UpdateClusterConfigRequest$,
  UpdateNodegroupConfigRequest$,
  UpdateNodegroupVersionRequest$,
} from '@aws-sdk/client-eks'
import {
  CreateDBInstanceMessage$,
  CreateDBSubnetGroupMessage$,
  DeleteDBInstanceMessage$,
  ModifyDBInstanceMessage$,
  ModifyDBSubnetGroupMessage$,
} from '@aws-sdk/client-rds'
import type { ManagedKind } from '@crosstie/resources/provider'
import { autoScalingGroup } from './autoscaling/group.js'
import { launchConfiguration } from './autoscaling/launchconfiguration.js'
import { table } from './dynamodb/table.js'
import { cluster } from './eks/cluster.js'
import { nodeGroup } from './eks/nodegroup.js'
import { dbInstance } from './rds/dbinstance.js'
import { dbSubnetGroup } from './rds/dbsubnetgroup.js'
import { fieldName, fromApi, type Shape, toApi } from './shapes.js'
import { membersWithoutField } from './testing/coverage.js'

const name = 'it is the external name'
const token = 'it is the token of the create'
const classic = 'EC2-Classic is no more'
const computed = 'it follows from a field of another name'

interface Covered {
  readonly kind: ManagedKind
  readonly shapes: readonly Shape[]
  /** Members without a field, and the reasons. */
  readonly leftOut: Readonly<Record<string, string>>
}

const covered: readonly Covered[] = [
  {
    kind: cluster,
    shapes: [CreateClusterRequest$, UpdateClusterConfigRequest$],
    leftOut: { name, clientRequestToken: token },
  },
  {
    kind: nodeGroup,
    shapes: [CreateNodegroupRequest$, UpdateNodegroupConfigRequest$, UpdateNodegroupVersionRequest$],
    leftOut: {
      nodegroupName: name,
      clientRequestToken: token,
      force: 'it is updateConfig.force, beside what else is said of updates',
      'labels.addOrUpdateLabels': computed,
      'labels.removeLabels': computed,
      'taints.addOrUpdateTaints': computed,
      'taints.removeTaints': computed,
    },
  },
  {
    kind: launchConfiguration,
    shapes: [CreateLaunchConfigurationType$],
    leftOut: { launchConfigurationName: name, classicLinkVPCId: classic, classicLinkVPCSecurityGroups: classic },
  },
  {
    kind: autoScalingGroup,
    shapes: [CreateAutoScalingGroupType$, UpdateAutoScalingGroupType$, DeleteAutoScalingGroupType$],
    leftOut: {
      autoScalingGroupName: name,
      lifecycleHookSpecificationList: 'hooks are made, changed and deleted by calls of their own: a kind of their own',
    },
  },
  {
    kind: table,
    shapes: [CreateTableInput$, UpdateTableInput$],
    leftOut: {
      tableName: name,
      provisionedThroughput: 'it is readCapacity and writeCapacity, as design 001 calls them',
      globalSecondaryIndexUpdates: computed,
      vectorIndexUpdates: computed,
      replicaUpdates: 'a replica is a table in another region, made and deleted for itself',
      multiRegionConsistency: 'it can only be said with replicaUpdates',
      globalTableWitnessUpdates: 'it can only be said with replicaUpdates',
    },
  },
  {
    kind: dbSubnetGroup,
    shapes: [CreateDBSubnetGroupMessage$, ModifyDBSubnetGroupMessage$],
    leftOut: { dbSubnetGroupName: name },
  },
  {
    kind: dbInstance,
    shapes: [CreateDBInstanceMessage$, ModifyDBInstanceMessage$, DeleteDBInstanceMessage$],
    leftOut: {
      dbInstanceIdentifier: name,
      newDBInstanceIdentifier: 'the external name is how the instance is known: it does not change',
      dbSecurityGroups: classic,
      dbPortNumber: computed,
      cloudwatchLogsExportConfiguration: computed,
      'additionalStorageVolumes.setForDelete': computed,
      useDefaultProcessorFeatures: 'it is no state but a deed: leave processorFeatures open',
      disableDomain: 'it is no state but a deed, done once by hand',
      rotateMasterUserPassword: 'it is no state but a deed, done once by hand',
      awsBackupRecoveryPointArn: 'it belongs to AWS Backup, which sets it',
      tagSpecifications: 'it tags what AWS makes beside the instance; copyTagsToSnapshot and tags do so, too',
    },
  },
]

for (const { kind, shapes, leftOut } of covered) {
  test(`${kind.type.kind} has a field for all that the API lets one configure, but for what is left out on purpose`, () => {
    // Tags are a map in every kind, independent of the service.
    const missing = membersWithoutField(kind, shapes).filter((path) => !path.startsWith('tags.'))
    assert.deepEqual(missing, Object.keys(leftOut).sort())
    for (const [path, because] of Object.entries(leftOut)) assert.ok(because.length > 10, `${path} needs a reason`)
  })
}

const names: Readonly<Record<string, string>> = {
  DBInstanceClass: 'dbInstanceClass',
  MultiAZ: 'multiAZ',
  IOPS: 'iops',
  Iops: 'iops',
  VCpuCount: 'vCpuCount',
  VPCZoneIdentifier: 'vpcZoneIdentifier',
  TargetGroupARNs: 'targetGroupARNs',
  SSESpecification: 'sseSpecification',
  roleArn: 'roleArn',
}

for (const [member, field] of Object.entries(names)) {
  test(`${member} of the API is ${field}`, () => assert.equal(fieldName(member), field))
}

test('what goes to the API comes back under the same names, times as text', () => {
  const ours = {
    minSize: 1,
    vpcZoneIdentifier: 'subnet-1',
    mixedInstancesPolicy: { launchTemplate: { overrides: [{ instanceRequirements: { vCpuCount: { min: 2 } } }] } },
  }
  const theirs = toApi<object>(AutoScalingGroup$, { ...ours, nothingLikeThat: true })
  assert.deepEqual(theirs, {
    MinSize: 1,
    VPCZoneIdentifier: 'subnet-1',
    MixedInstancesPolicy: { LaunchTemplate: { Overrides: [{ InstanceRequirements: { VCpuCount: { Min: 2 } } }] } },
  })
  const CreatedTime = new Date('2026-01-02T03:04:05Z')
  assert.deepEqual(fromApi(AutoScalingGroup$, { ...theirs, CreatedTime }), {
    ...ours,
    createdTime: '2026-01-02T03:04:05Z',
  })
})
