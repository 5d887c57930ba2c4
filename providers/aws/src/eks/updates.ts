import type { UpdateClusterConfigRequest } from '@aws-sdk/client-eks'
import type { Infer } from '@crosstie/resources/provider'
import type { parameters } from './cluster-fields.js'

/** A change of the configuration of a cluster, without its name. */
export type ClusterConfigUpdate = Omit<UpdateClusterConfigRequest, 'name' | 'clientRequestToken'>

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }

/** Fields that EKS changes by separate calls, each as a whole. */
const alone = [
  'logging',
  'upgradePolicy',
  'zonalShiftConfig',
  'remoteNetworkConfig',
  'deletionProtection',
  'controlPlaneScalingConfig',
  'kubeApiServerConfig',
  'kubeSchedulerConfig',
  'kubeControllerManagerConfig',
] as const

const networks = [
  ['subnetIds', 'securityGroupIds'],
  ['endpointPublicAccess', 'endpointPrivateAccess', 'publicAccessCidrs'],
  ['controlPlaneEgressMode'],
] as const

/** Returns the calls that change the configuration of a cluster. EKS accepts one type of change per call. */
export function configUpdates(changed: Changed, wanted: Wanted): readonly ClusterConfigUpdate[] {
  const updates: object[] = networks
    .filter((fields) => fields.some((field) => has(changed.resourcesVpcConfig, field)))
    .map((fields) => ({ resourcesVpcConfig: pick(wanted.resourcesVpcConfig, fields) }))
  for (const field of alone) if (changed[field] !== undefined) updates.push({ [field]: wanted[field] })
  if (has(changed.accessConfig, 'authenticationMode')) {
    updates.push({ accessConfig: { authenticationMode: wanted.accessConfig?.authenticationMode } })
  }
  // The three parts of Auto Mode can only be enabled or disabled together.
  const { elasticLoadBalancing } = wanted.kubernetesNetworkConfig ?? {}
  if (changed.computeConfig || changed.storageConfig || has(changed.kubernetesNetworkConfig, 'elasticLoadBalancing')) {
    updates.push({
      ...(wanted.computeConfig ? { computeConfig: wanted.computeConfig } : {}),
      ...(wanted.storageConfig ? { storageConfig: wanted.storageConfig } : {}),
      ...(elasticLoadBalancing ? { kubernetesNetworkConfig: { elasticLoadBalancing } } : {}),
    })
  }
  return updates as ClusterConfigUpdate[]
}

const has = (values: unknown, field: string): boolean =>
  (values as Readonly<Record<string, unknown>> | undefined)?.[field] !== undefined

function pick(values: object, fields: readonly string[]): object {
  return Object.fromEntries(Object.entries(values).filter(([name]) => fields.includes(name)))
}
