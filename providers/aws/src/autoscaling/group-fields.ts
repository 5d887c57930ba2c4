import { s } from '@crosstie/resources/provider'
import { region, tags } from '../fields.js'
import { subnetIds } from '../references.js'
import { launchConfiguration } from './launchconfiguration.js'

const launchTemplateSpecification = () =>
  s.object({
    launchTemplateId: s.optional(s.string({ doc: 'Id of the launch template, or its name.' })),
    launchTemplateName: s.optional(s.string({ doc: 'Name of the launch template, or its id.' })),
    version: s.optional(s.string({ doc: 'A number, $Latest or $Default.' })),
  })

const range = (doc: string) =>
  s.optional(
    s.object(
      { min: s.optional(s.number({ doc: 'At least.' })), max: s.optional(s.number({ doc: 'At most.' })) },
      { doc },
    ),
  )
const needed = (doc: string) =>
  s.object({ min: s.integer({ doc: 'At least.' }), max: s.optional(s.integer({ doc: 'At most.' })) }, { doc })
const names = (doc: string) => s.optional(s.list(s.string(), { doc, set: true }))
// Availability zones follow from the subnets if subnets are set.
const zones = (doc: string) => s.optional(s.list(s.string(), { doc, set: true, lateInitialize: false }))
const integer = (doc: string) => s.optional(s.integer({ doc }))
const choice = (doc: string) => s.optional(s.string({ doc, enum: ['included', 'excluded', 'required'] }))

const instanceRequirements = s.object(
  {
    vCpuCount: needed('How many virtual processors.'),
    memoryMiB: needed('How much memory.'),
    cpuManufacturers: names('Makers of processors.'),
    memoryGiBPerVCpu: range('How much memory for each processor.'),
    excludedInstanceTypes: names('Types not to use; * stands for anything.'),
    allowedInstanceTypes: names('The only types to use; * stands for anything.'),
    instanceGenerations: names('current or previous.'),
    spotMaxPricePercentageOverLowestPrice: integer('How much dearer than the cheapest spot instance.'),
    maxSpotPriceAsPercentageOfOptimalOnDemandPrice: integer('Spot price as a share of the on-demand price, at most.'),
    onDemandMaxPricePercentageOverLowestPrice: integer('How much dearer than the cheapest on-demand instance.'),
    bareMetal: choice('Bare metal types.'),
    burstablePerformance: choice('Burstable types.'),
    requireHibernateSupport: s.optional(s.boolean({ doc: 'Only types that can hibernate.' })),
    networkInterfaceCount: range('How many network interfaces.'),
    localStorage: choice('Types with instance store volumes.'),
    localStorageTypes: names('hdd or ssd.'),
    totalLocalStorageGB: range('How much local storage.'),
    baselineEbsBandwidthMbps: range('Bandwidth to volumes.'),
    acceleratorTypes: names('gpu, fpga or inference.'),
    acceleratorCount: range('How many accelerators.'),
    acceleratorManufacturers: names('Makers of accelerators.'),
    acceleratorNames: names('Models of accelerators.'),
    acceleratorTotalMemoryMiB: range('Memory of all accelerators.'),
    networkBandwidthGbps: range('Bandwidth of the network.'),
    baselinePerformanceFactors: s.optional(
      s.object({
        cpu: s.object({
          references: s.list(s.object({ instanceFamily: s.string({ doc: 'A family that is fast enough.' }) })),
        }),
      }),
    ),
  },
  { doc: 'What instances must have, rather than their types.' },
)

const mixedInstancesPolicy = s.object(
  {
    launchTemplate: s.optional(
      s.object(
        {
          launchTemplateSpecification: s.optional(launchTemplateSpecification()),
          overrides: s.optional(
            s.list(
              s.object({
                instanceType: s.optional(s.string({ doc: 'Such as t3.micro.' })),
                weightedCapacity: s.optional(s.string({ doc: 'How many units of capacity it counts for.' })),
                launchTemplateSpecification: s.optional(launchTemplateSpecification()),
                instanceRequirements: s.optional(instanceRequirements),
                imageId: s.optional(s.string({ doc: 'Another image.' })),
              }),
              { doc: 'What differs, by type of instance; the first comes first.' },
            ),
          ),
        },
        { doc: 'What instances are launched from.' },
      ),
    ),
    instancesDistribution: s.optional(
      s.object(
        {
          onDemandAllocationStrategy: s.optional(s.string({ doc: 'lowest-price or prioritized.' })),
          onDemandBaseCapacity: integer('How many on-demand instances there are at least.'),
          onDemandPercentageAboveBaseCapacity: integer('Of those above, how many of a hundred are on demand.'),
          spotAllocationStrategy: s.optional(s.string({ doc: 'Such as price-capacity-optimized.' })),
          spotInstancePools: integer('How many spot pools, for lowest-price.'),
          spotMaxPrice: s.optional(s.string({ doc: 'The most to pay for a spot instance, per hour.' })),
          distributionSegments: s.optional(
            s.list(s.object({ targetCapacityTypes: s.list(s.string(), { doc: 'Kinds of capacity.' }) }), {
              doc: 'Which capacity is used first.',
            }),
          ),
        },
        { doc: 'On-demand and spot instances.' },
      ),
    ),
  },
  { doc: 'Several types of instances and ways to pay for them.' },
)

/** The `spec.forProvider` fields of an AutoScalingGroup. */
export const parameters = s.object({
  region: region(),
  minSize: s.integer({ doc: 'The fewest instances that there may be.', minimum: 0 }),
  maxSize: s.integer({ doc: 'The most instances that there may be.', minimum: 0 }),
  desiredCapacity: s.optional(
    s.integer({
      doc: 'How many instances there are. Where an autoscaler sets it, leave it to initProvider and leave out the policy LateInitialize.',
      minimum: 0,
    }),
  ),
  desiredCapacityType: s.optional(s.string({ doc: 'What is counted.', enum: ['units', 'vcpu', 'memory-mib'] })),
  launchConfigurationName: s.optional(
    s.reference(
      s.string({
        doc: 'Instances are created from this launch configuration. Required, unless launchTemplate, mixedInstancesPolicy or instanceId is given.',
        requiredUnless: ['launchTemplate', 'mixedInstancesPolicy', 'instanceId'],
      }),
      { to: () => launchConfiguration.type },
    ),
  ),
  launchTemplate: s.optional(launchTemplateSpecification()),
  mixedInstancesPolicy: s.optional(mixedInstancesPolicy),
  instanceId: s.optional(
    s.string({ doc: 'An instance to make a launch configuration from.', immutable: true, unreported: true }),
  ),
  availabilityZones: zones('Zones, for groups without vpcZoneIdentifier.'),
  availabilityZoneIds: zones('Zones by id, for groups without vpcZoneIdentifier.'),
  vpcZoneIdentifier: s.optional(
    subnetIds('Ids of the subnets of the instances. Required, unless zones or an instance are given.', {
      requiredUnless: ['availabilityZones', 'availabilityZoneIds', 'instanceId'],
    }),
  ),
  defaultCooldown: integer('Seconds between two scalings.'),
  defaultInstanceWarmup: integer('Seconds until an instance counts.'),
  healthCheckType: s.optional(s.string({ doc: 'What tells that an instance is well, such as EC2 or ELB.' })),
  healthCheckGracePeriod: integer('Seconds until an instance must be well.'),
  loadBalancerNames: names('Classic load balancers that instances are registered with.'),
  targetGroupARNs: names('Target groups that instances are registered with.'),
  trafficSources: s.optional(
    s.list(
      s.object({
        identifier: s.string({ doc: 'ARN or name of what sends traffic.' }),
        type: s.optional(s.string({ doc: 'Such as elbv2 or vpc-lattice.' })),
      }),
      { doc: 'What sends traffic to the instances.', keys: ['identifier'] },
    ),
  ),
  placementGroup: s.optional(s.string({ doc: 'Where instances are placed.' })),
  terminationPolicies: s.optional(s.list(s.string(), { doc: 'Which instances go first.' })),
  newInstancesProtectedFromScaleIn: s.optional(s.boolean({ doc: 'New instances are not taken away by scaling.' })),
  capacityRebalance: s.optional(s.boolean({ doc: 'Replace spot instances before they are taken away.' })),
  serviceLinkedRoleARN: s.optional(s.string({ doc: 'The role with which the group calls AWS.' })),
  maxInstanceLifetime: integer('Seconds after which an instance is replaced.'),
  context: s.optional(s.string({ doc: 'Reserved by AWS.' })),
  instanceMaintenancePolicy: s.optional(
    s.object(
      {
        minHealthyPercentage: integer('How many of a hundred must be well.'),
        maxHealthyPercentage: integer('How many of a hundred there may be.'),
      },
      { doc: 'How instances are replaced.' },
    ),
  ),
  availabilityZoneDistribution: s.optional(
    s.object({ capacityDistributionStrategy: s.string({ doc: 'balanced-only or balanced-best-effort.' }) }),
  ),
  availabilityZoneImpairmentPolicy: s.optional(
    s.object({
      zonalShiftEnabled: s.optional(s.boolean({ doc: 'Let zonal shift move away from an impaired zone.' })),
      impairedZoneHealthCheckBehavior: s.optional(s.string({ doc: 'What becomes of instances in it.' })),
    }),
  ),
  skipZonalShiftValidation: s.optional(
    s.boolean({ doc: 'Turn zonal shift on even when load balancing across zones is on.', unreported: true }),
  ),
  capacityReservationSpecification: s.optional(
    s.object({
      capacityReservationPreference: s.optional(s.string({ doc: 'Which reservations are used.' })),
      capacityReservationTarget: s.optional(
        s.object({
          capacityReservationIds: names('Reservations.'),
          capacityReservationResourceGroupArns: names('Groups of reservations.'),
        }),
      ),
    }),
  ),
  instanceLifecyclePolicy: s.optional(
    s.object({
      retentionTriggers: s.object({
        terminateHookAbandon: s.string({ doc: 'What becomes of instances whose end was abandoned.' }),
      }),
    }),
  ),
  operator: s.optional(s.object({ principal: s.string({ doc: 'The service that runs the group.', immutable: true }) })),
  deletionProtection: s.optional(
    s.string({
      doc: 'What is refused. Set it to none to delete a protected group.',
      enum: ['none', 'prevent-force-deletion', 'prevent-all-deletion'],
    }),
  ),
  forceDelete: s.optional(
    s.boolean({
      doc: 'Delete the group with its instances. Otherwise it is emptied first, with all lifecycle hooks.',
      unreported: true,
    }),
  ),
  tags: tags(),
  propagatedTags: s.optional(
    s.map(s.string(), { doc: 'Tags that instances get, too, when they are launched.', shared: true }),
  ),
})

/** The `status.atProvider` fields of an AutoScalingGroup. */
export const observation = s.object({
  autoScalingGroupARN: s.string({ doc: 'ARN of the group.' }),
  createdTime: s.string({ doc: 'When it was made.' }),
  status: s.string({ doc: 'Set while the group is being deleted.' }),
  predictedCapacity: s.integer({ doc: 'What predictive scaling expects.' }),
  warmPoolSize: s.integer({ doc: 'How many instances wait.' }),
  instances: s.list(
    s.object({
      instanceId: s.string({ doc: 'Id of the instance.' }),
      instanceType: s.string({ doc: 'Its type.' }),
      availabilityZone: s.string({ doc: 'Its zone.' }),
      lifecycleState: s.string({ doc: 'Such as Pending or InService.' }),
      healthStatus: s.string({ doc: 'Healthy or Unhealthy.' }),
      protectedFromScaleIn: s.boolean({ doc: 'Not taken away by scaling.' }),
    }),
    { doc: 'The instances that there are.' },
  ),
  suspendedProcesses: s.list(
    s.object({
      processName: s.string({ doc: 'Which process.' }),
      suspensionReason: s.string({ doc: 'Why it does not run.' }),
    }),
    { doc: 'What the group does not do for now.' },
  ),
})
