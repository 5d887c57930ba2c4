import { s } from '@crosstie/resources/provider'
import { region, tags } from '../fields.js'
import { roleArn, securityGroupIds, subnetIds } from '../references.js'

const enabled = (doc: string) => s.object({ enabled: s.boolean({ doc }) })
const cidrs = (doc: string) =>
  s.optional(s.list(s.object({ cidrs: s.list(s.string(), { doc: 'CIDR ranges.', set: true }) }), { doc }))

type Logging = readonly { readonly types?: readonly string[]; readonly enabled?: boolean }[]

/** Compares the enabled log types. EKS groups the types arbitrarily. */
function sameLogging(desired: unknown, observed: unknown): boolean {
  const on = (given: unknown) =>
    new Set((given as Logging).filter(({ enabled }) => enabled).flatMap(({ types = [] }) => types))
  const named = new Set((desired as Logging).flatMap(({ types = [] }) => types))
  const [wanted, is] = [on(desired), on(observed)]
  return [...named].every((type) => wanted.has(type) === is.has(type))
}

const resourcesVpcConfig = s.object(
  {
    subnetIds: subnetIds(
      'Subnets for the network interfaces of the control plane, in two availability zones at least.',
    ),
    securityGroupIds: s.optional(
      securityGroupIds('Security groups of those interfaces, beside the one that EKS makes.'),
    ),
    endpointPublicAccess: s.optional(s.boolean({ doc: 'Reach the Kubernetes API from the Internet.' })),
    endpointPrivateAccess: s.optional(s.boolean({ doc: 'Reach the Kubernetes API from inside the VPC.' })),
    publicAccessCidrs: s.optional(
      s.list(s.string(), { doc: 'Who may reach it from the Internet, as CIDR ranges.', set: true }),
    ),
    controlPlaneEgressMode: s.optional(s.string({ doc: 'How traffic leaves the control plane.' })),
  },
  { doc: 'The network of the control plane.' },
)

const kubernetesNetworkConfig = s.object(
  {
    serviceIpv4Cidr: s.optional(s.string({ doc: 'Range of the addresses of services.', immutable: true })),
    ipFamily: s.optional(s.string({ doc: 'Of pods and services.', enum: ['ipv4', 'ipv6'], immutable: true })),
    elasticLoadBalancing: s.optional(
      s.object(
        {
          enabled: s.optional(s.boolean({ doc: 'Make load balancers for services.' })),
          gatewayApi: s.optional(
            s.object({
              crds: s.object({ managed: s.boolean({ doc: 'EKS keeps the CRDs of the Gateway API up to date.' }) }),
            }),
          ),
        },
        { doc: 'Load balancing of EKS Auto Mode.' },
      ),
    ),
  },
  { doc: 'The network inside the cluster.' },
)

const outpostConfig = s.object(
  {
    outpostArns: s.list(s.string(), { doc: 'The Outpost that the control plane runs on.', immutable: true }),
    controlPlaneInstanceType: s.string({ doc: 'Type of the control plane instances.', immutable: true }),
    controlPlanePlacement: s.optional(
      s.object({
        groupName: s.optional(s.string({ doc: 'Placement group of the control plane instances.', immutable: true })),
        spreadLevel: s.optional(s.string({ doc: 'How they are spread.', immutable: true })),
      }),
    ),
    etcdInstanceType: s.optional(s.string({ doc: 'Type of the etcd instances.', immutable: true })),
    etcdPlacement: s.optional(
      s.object({ spreadLevel: s.string({ doc: 'How etcd instances are spread.', immutable: true }) }),
    ),
  },
  { doc: 'For a local cluster on an AWS Outpost.' },
)

const kubeSchedulerConfig = s.object({
  nodeResourcesFit: s.object({
    scoringStrategy: s.object({
      type: s.optional(s.string({ doc: 'Such as LeastAllocated or MostAllocated.' })),
      resources: s.optional(
        s.list(
          s.object({
            name: s.string({ doc: 'Such as cpu.' }),
            weight: s.optional(s.integer({ doc: 'How much it counts.' })),
          }),
          { doc: 'Which resources count.', keys: ['name'] },
        ),
      ),
    }),
  }),
})

const kubeControllerManagerConfig = s.object({
  podGcControllerConfig: s.optional(
    s.object({ terminatedPodGcThreshold: s.integer({ doc: 'How many finished pods are kept.' }) }),
  ),
  horizontalPodAutoscalerControllerConfig: s.optional(
    s.object({ horizontalPodAutoscalerSyncPeriod: s.string({ doc: 'How often pods are scaled, such as 15s.' }) }),
  ),
})

/** The `spec.forProvider` fields of a Cluster. */
export const parameters = s.object({
  region: region(),
  roleArn: roleArn({ doc: 'The role with which Kubernetes calls AWS.', immutable: true }),
  resourcesVpcConfig,
  version: s.optional(
    s.string({
      doc: 'Version of Kubernetes, such as 1.34. It can only go up, one minor at a time.',
      lateInitialize: false,
    }),
  ),
  kubernetesNetworkConfig: s.optional(kubernetesNetworkConfig),
  logging: s.optional(
    s.object(
      {
        clusterLogging: s.list(
          s.object({
            types: s.list(s.string(), {
              doc: 'Of api, audit, authenticator, controllerManager, scheduler.',
              set: true,
            }),
            enabled: s.boolean({ doc: 'Whether these are sent to CloudWatch.' }),
          }),
          { doc: 'Which logs of the control plane are kept.', same: sameLogging },
        ),
      },
      { doc: 'Logs of the control plane.' },
    ),
  ),
  encryptionConfig: s.optional(
    s.list(
      s.object({
        resources: s.list(s.string(), { doc: 'What is encrypted: secrets.', set: true }),
        provider: s.object({ keyArn: s.string({ doc: 'ARN of the KMS key.' }) }),
      }),
      { doc: 'Envelope encryption of Secrets. It can be added later, but neither changed nor taken away.' },
    ),
  ),
  outpostConfig: s.optional(outpostConfig),
  accessConfig: s.optional(
    s.object(
      {
        bootstrapClusterCreatorAdminPermissions: s.optional(
          s.boolean({ doc: 'Who creates the cluster becomes its administrator.', immutable: true }),
        ),
        authenticationMode: s.optional(
          s.string({ doc: 'Where EKS looks up who may do what.', enum: ['API', 'API_AND_CONFIG_MAP', 'CONFIG_MAP'] }),
        ),
      },
      { doc: 'Access to the cluster.' },
    ),
  ),
  bootstrapSelfManagedAddons: s.optional(
    s.boolean({ doc: 'Install the default networking add-ons.', immutable: true, unreported: true }),
  ),
  upgradePolicy: s.optional(
    s.object({ supportType: s.string({ doc: 'At the end of standard support.', enum: ['STANDARD', 'EXTENDED'] }) }),
  ),
  zonalShiftConfig: s.optional(enabled('Let zonal shift move traffic away from an impaired zone.')),
  remoteNetworkConfig: s.optional(
    s.object(
      { remoteNodeNetworks: cidrs('Networks of hybrid nodes.'), remotePodNetworks: cidrs('Networks of their pods.') },
      { doc: 'For hybrid nodes.' },
    ),
  ),
  computeConfig: s.optional(
    s.object(
      {
        enabled: s.optional(s.boolean({ doc: 'Let EKS Auto Mode make nodes.' })),
        nodePools: s.optional(s.list(s.string(), { doc: 'Built-in node pools.', set: true })),
        nodeRoleArn: s.optional(roleArn({ doc: 'The role of those nodes.' })),
      },
      { doc: 'Compute of EKS Auto Mode.' },
    ),
  ),
  storageConfig: s.optional(
    s.object({ blockStorage: enabled('Let EKS Auto Mode make volumes.') }, { doc: 'Storage of EKS Auto Mode.' }),
  ),
  deletionProtection: s.optional(
    s.boolean({ doc: 'Refuse to delete the cluster. Set it to false to delete a protected one.' }),
  ),
  controlPlaneScalingConfig: s.optional(s.object({ tier: s.string({ doc: 'Size that is kept provisioned.' }) })),
  kubeApiServerConfig: s.optional(
    s.object(
      {
        eventTtl: s.optional(s.string({ doc: 'How long events are kept, such as 60m.' })),
        serviceNodePortRange: s.optional(
          s.object({
            minPort: s.optional(s.integer({ doc: 'First port.' })),
            maxPort: s.optional(s.integer({ doc: 'Last port.' })),
          }),
        ),
      },
      { doc: 'Settings of the API server.' },
    ),
  ),
  kubeSchedulerConfig: s.optional(kubeSchedulerConfig),
  kubeControllerManagerConfig: s.optional(kubeControllerManagerConfig),
  tags: tags(),
})

const issues = s.list(
  s.object({
    code: s.string({ doc: 'What kind of issue.' }),
    message: s.string({ doc: 'What is wrong.' }),
    resourceIds: s.list(s.string(), { doc: 'What it concerns.' }),
  }),
  { doc: 'What keeps it from working.' },
)

/** The health issues of a cluster or a node group. */
export const health = s.object({ issues }, { doc: 'How it is.' })

/** The `status.atProvider` fields of a Cluster. */
export const observation = s.object({
  arn: s.string({ doc: 'ARN of the cluster.' }),
  id: s.string({ doc: 'Id of a local cluster on an Outpost.' }),
  createdAt: s.string({ doc: 'When it was made.' }),
  endpoint: s.string({ doc: 'URL of the Kubernetes API.' }),
  status: s.string({ doc: 'Such as CREATING, ACTIVE, UPDATING, FAILED.' }),
  platformVersion: s.string({ doc: 'Version of EKS.' }),
  certificateAuthorityData: s.string({ doc: 'The certificate that the Kubernetes API is known by, in Base64.' }),
  identity: s.object({ oidc: s.object({ issuer: s.string({ doc: 'URL of the OpenID Connect issuer.' }) }) }),
  resourcesVpcConfig: s.object({
    clusterSecurityGroupId: s.string({ doc: 'The security group that EKS made.' }),
    vpcId: s.string({ doc: 'The VPC of the subnets.' }),
  }),
  kubernetesNetworkConfig: s.object({ serviceIpv6Cidr: s.string({ doc: 'Range of IPv6 addresses of services.' }) }),
  connectorConfig: s.object({
    activationId: s.string({ doc: 'For clusters connected from elsewhere.' }),
    activationExpiry: s.string({ doc: 'When the activation ends.' }),
    provider: s.string({ doc: 'Who runs the connected cluster.' }),
    roleArn: s.string({ doc: 'Role of the connector.' }),
  }),
  health,
})
