import {
  AutoScalingClient,
  CreateLaunchConfigurationCommand,
  DescribeAutoScalingGroupsCommand,
  DescribeLaunchConfigurationsCommand,
  SetDesiredCapacityCommand,
} from '@aws-sdk/client-auto-scaling'
import { CreateSubnetCommand, CreateVpcCommand, EC2Client } from '@aws-sdk/client-ec2'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { autoScalingGroup } from './group.js'
import { launchConfiguration } from './launchconfiguration.js'

const region = 'eu-west-1'
const image = 'ami-12c6146b'

const moto = await motoForFile()
if (moto) await contracts(moto)

async function contracts(moto: Moto): Promise<void> {
  const past = moto.client(AutoScalingClient, region)
  const network = moto.client(EC2Client, region)
  const configurations = async () =>
    (await past.send(new DescribeLaunchConfigurationsCommand({}))).LaunchConfigurations!.map(
      (each) => each.LaunchConfigurationName,
    )
  const groups = async () =>
    (await past.send(new DescribeAutoScalingGroupsCommand({}))).AutoScalingGroups!.map(
      (each) => each.AutoScalingGroupName,
    )

  motoContract(moto, launchConfiguration, async () => ({
    example: {
      region,
      imageId: image,
      instanceType: 't3.micro',
      userData: Buffer.from('#!/bin/sh\necho hello\n').toString('base64'),
      instanceMonitoring: { enabled: true },
      ebsOptimized: true,
      blockDeviceMappings: [{ deviceName: '/dev/sda1', ebs: { volumeSize: 20, volumeType: 'gp3', encrypted: true } }],
      metadataOptions: { httpTokens: 'required', httpEndpoint: 'enabled' },
    },
    exists: async (name) => (await configurations()).includes(name),
    count: async () => (await configurations()).length,
  }))

  const LaunchConfigurationName = 'for-groups'
  const launched = { LaunchConfigurationName, ImageId: image, InstanceType: 't3.micro' }
  await past.send(new CreateLaunchConfigurationCommand(launched))
  const { Vpc } = await network.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }))
  const subnets = await Promise.all(
    ['a', 'b'].map(async (zone, i) => {
      const AvailabilityZone = `${region}${zone}`
      const place = { VpcId: Vpc!.VpcId, CidrBlock: `10.0.${i}.0/24`, AvailabilityZone }
      return (await network.send(new CreateSubnetCommand(place))).Subnet!.SubnetId!
    }),
  )

  motoContract(moto, autoScalingGroup, async () => ({
    example: {
      region,
      launchConfigurationName: LaunchConfigurationName,
      vpcZoneIdentifier: subnets,
      minSize: 1,
      maxSize: 5,
      desiredCapacity: 2,
      healthCheckType: 'EC2',
      healthCheckGracePeriod: 120,
      defaultCooldown: 60,
      terminationPolicies: ['OldestInstance', 'Default'],
      newInstancesProtectedFromScaleIn: true,
      capacityRebalance: true,
      tags: { team: 'apps', role: 'web' },
      propagatedTags: { costs: '42' },
    },
    change: {
      minSize: 2,
      desiredCapacity: 3,
      vpcZoneIdentifier: [subnets[0]],
      tags: { team: 'ops' },
      propagatedTags: { costs: '43', role: 'web' },
    },
    meddle: async (AutoScalingGroupName) => {
      await past.send(new SetDesiredCapacityCommand({ AutoScalingGroupName, DesiredCapacity: 4 }))
    },
    exists: async (name) => (await groups()).includes(name),
    count: async () => (await groups()).length,
  }))
}
