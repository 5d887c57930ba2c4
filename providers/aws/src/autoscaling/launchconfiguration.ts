import {
  AutoScalingClient,
  CreateLaunchConfigurationCommand,
  type CreateLaunchConfigurationCommandInput,
  CreateLaunchConfigurationType$,
  DeleteLaunchConfigurationCommand,
  DescribeLaunchConfigurationsCommand,
  type LaunchConfiguration,
  LaunchConfiguration$,
  paginateDescribeLaunchConfigurations,
} from '@aws-sdk/client-auto-scaling'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { region } from '../fields.js'
import { collect } from '../pages.js'
import { securityGroupIds } from '../references.js'
import { fromApi, toApi } from '../shapes.js'
import { unlessGone } from './gone.js'

const connect = connectTo(AutoScalingClient)

// The API has no operation that changes a launch configuration.
const immutable = true

const ebs = s.object({
  snapshotId: s.optional(s.string({ doc: 'Snapshot that the volume starts from.' })),
  volumeSize: s.optional(s.integer({ doc: 'In GiB.' })),
  volumeType: s.optional(s.string({ doc: 'Such as gp3 or io1.' })),
  deleteOnTermination: s.optional(s.boolean({ doc: 'Deleted with the instance.' })),
  iops: s.optional(s.integer({ doc: 'Operations per second.' })),
  encrypted: s.optional(s.boolean({ doc: 'Encrypted at rest.' })),
  throughput: s.optional(s.integer({ doc: 'In MiB per second.' })),
})

const parameters = s.object({
  region: region(),
  imageId: s.optional(
    s.string({
      doc: 'Image that instances start from. Required, unless instanceId is given.',
      immutable,
      requiredUnless: ['instanceId'],
    }),
  ),
  instanceType: s.optional(
    s.string({
      doc: 'Such as t3.micro. Required, unless instanceId is given.',
      immutable,
      requiredUnless: ['instanceId'],
    }),
  ),
  instanceId: s.optional(
    s.string({ doc: 'An instance to take all settings from that are not given.', immutable, unreported: true }),
  ),
  keyName: s.optional(s.string({ doc: 'Key pair to log in to instances with.', immutable })),
  securityGroups: s.optional(securityGroupIds('Ids of the security groups of instances.', { immutable })),
  userData: s.optional(s.string({ doc: 'What instances run when they start, in Base64.', immutable })),
  kernelId: s.optional(s.string({ doc: 'Kernel of old images.', immutable })),
  ramdiskId: s.optional(s.string({ doc: 'RAM disk of old images.', immutable })),
  blockDeviceMappings: s.optional(
    s.list(
      s.object({
        deviceName: s.string({ doc: 'Such as /dev/sda1.' }),
        virtualName: s.optional(s.string({ doc: 'Name of an instance store volume, such as ephemeral0.' })),
        ebs: s.optional(ebs),
        noDevice: s.optional(s.boolean({ doc: 'Leave out a device of the image.' })),
      }),
      { doc: 'Volumes of instances.', immutable, keys: ['deviceName'] },
    ),
  ),
  instanceMonitoring: s.optional(
    s.object({ enabled: s.boolean({ doc: 'Measure every minute, not every five.', immutable }) }),
  ),
  spotPrice: s.optional(s.string({ doc: 'The most to pay for a spot instance, per hour.', immutable })),
  iamInstanceProfile: s.optional(s.string({ doc: 'Name or ARN of the instance profile.', immutable })),
  ebsOptimized: s.optional(s.boolean({ doc: 'Bandwidth of its own for volumes.', immutable })),
  associatePublicIpAddress: s.optional(s.boolean({ doc: 'Give instances a public address.', immutable })),
  placementTenancy: s.optional(
    s.string({ doc: 'Whether instances share hardware with others.', enum: ['default', 'dedicated'], immutable }),
  ),
  metadataOptions: s.optional(
    s.object(
      {
        httpTokens: s.optional(
          s.string({ doc: 'Whether IMDSv2 is required.', enum: ['optional', 'required'], immutable }),
        ),
        httpPutResponseHopLimit: s.optional(s.integer({ doc: 'How far tokens travel.', immutable })),
        httpEndpoint: s.optional(s.string({ doc: 'Serve metadata.', enum: ['enabled', 'disabled'], immutable })),
      },
      { doc: 'The instance metadata service.' },
    ),
  ),
})

const observation = s.object({
  launchConfigurationARN: s.string({ doc: 'ARN of the launch configuration.' }),
  createdTime: s.string({ doc: 'When it was made.' }),
})

/** The managed kind for launch configurations. */
export const launchConfiguration = defineManaged({
  group: 'autoscaling.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'LaunchConfiguration',
  doc: 'What the instances of an AutoScalingGroup are made from. It cannot be changed: make another one and refer to that.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  providerConfig,
  permissions: {
    Observe: ['autoscaling:DescribeLaunchConfigurations'],
    Create: ['autoscaling:CreateLaunchConfiguration', 'iam:PassRole'],
    Update: [],
    Delete: ['autoscaling:DeleteLaunchConfiguration'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider: { region }, signal: abortSignal }) {
    if (externalName === '') return absent
    const command = new DescribeLaunchConfigurationsCommand({ LaunchConfigurationNames: [externalName] })
    const { LaunchConfigurations: [found] = [] } = await client.send(command, { abortSignal })
    return found ? sightOf(found, region) : absent
  },

  async create({ client, externalName, forProvider, signal: abortSignal }) {
    const given = { ...forProvider, launchConfigurationName: externalName }
    const input = toApi<CreateLaunchConfigurationCommandInput>(CreateLaunchConfigurationType$, given)
    await client.send(new CreateLaunchConfigurationCommand(input), { abortSignal })
    return {}
  },

  async update() {},

  async delete({ client, externalName: LaunchConfigurationName, signal: abortSignal }) {
    const command = new DeleteLaunchConfigurationCommand({ LaunchConfigurationName })
    await unlessGone(client.send(command, { abortSignal }))
  },

  async list({ client, forProvider: { region }, signal: abortSignal }) {
    const pages = paginateDescribeLaunchConfigurations({ client }, {}, { abortSignal })
    return (await collect(pages, (page) => page.LaunchConfigurations)).map((found) => sightOf(found, region))
  },
})

/** Converts an observation. AWS returns empty strings for unset fields. */
function sightOf(found: LaunchConfiguration, region: string) {
  const said = Object.entries(fromApi(LaunchConfiguration$, found)).filter(([, value]) => value !== '')
  return present({
    externalName: found.LaunchConfigurationName ?? '',
    ready: true,
    atProvider: { ...Object.fromEntries(said), region },
  })
}
