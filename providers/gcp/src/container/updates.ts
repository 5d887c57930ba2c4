import { isObject } from '@crosstie/kube'
import type { Parameters } from '../client/client.js'
import type { Step } from '../kind.js'
import { type Values, valueAt } from '../schema/convert.js'

const prefix = 'projects.locations.clusters'

/**
 * The update of a cluster that a field needs. GKE accepts one of them in a request. The value is sent whole, because an update
 * replaces it.
 */
const desired: Readonly<Record<string, string>> = {
  addonsConfig: 'desiredAddonsConfig',
  anonymousAuthenticationConfig: 'desiredAnonymousAuthenticationConfig',
  authenticatorGroupsConfig: 'desiredAuthenticatorGroupsConfig',
  autoscaling: 'desiredClusterAutoscaling',
  binaryAuthorization: 'desiredBinaryAuthorization',
  controlPlaneEgress: 'desiredControlPlaneEgress',
  controlPlaneEndpointsConfig: 'desiredControlPlaneEndpointsConfig',
  costManagementConfig: 'desiredCostManagementConfig',
  databaseEncryption: 'desiredDatabaseEncryption',
  enableK8sBetaApis: 'desiredK8sBetaApis',
  fleet: 'desiredFleet',
  gkeAutoUpgradeConfig: 'gkeAutoUpgradeConfig',
  identityServiceConfig: 'desiredIdentityServiceConfig',
  locations: 'desiredLocations',
  loggingConfig: 'desiredLoggingConfig',
  loggingService: 'desiredLoggingService',
  managedMachineLearningDiagnosticsConfig: 'desiredManagedMachineLearningDiagnosticsConfig',
  managedOpentelemetryConfig: 'desiredManagedOpentelemetryConfig',
  masterVersion: 'desiredMasterVersion',
  meshCertificates: 'desiredMeshCertificates',
  monitoringConfig: 'desiredMonitoringConfig',
  monitoringService: 'desiredMonitoringService',
  nodeCreationConfig: 'desiredNodeCreationConfig',
  notificationConfig: 'desiredNotificationConfig',
  parentProductConfig: 'desiredParentProductConfig',
  podAutoscaling: 'desiredPodAutoscaling',
  rbacBindingConfig: 'desiredRbacBindingConfig',
  releaseChannel: 'desiredReleaseChannel',
  resourceUsageExportConfig: 'desiredResourceUsageExportConfig',
  rollbackSafeUpgrade: 'desiredRollbackSafeUpgrade',
  secretManagerConfig: 'desiredSecretManagerConfig',
  secretSyncConfig: 'desiredSecretSyncConfig',
  securityPostureConfig: 'desiredSecurityPostureConfig',
  shieldedNodes: 'desiredShieldedNodes',
  userManagedKeysConfig: 'desiredUserManagedKeysConfig',
  verticalPodAutoscaling: 'desiredVerticalPodAutoscaling',
  workloadIdentityConfig: 'desiredWorkloadIdentityConfig',
  'autopilot.clusterPolicyConfig': 'desiredAutopilotClusterPolicyConfig',
  'autopilot.privilegedAdmissionConfig': 'desiredPrivilegedAdmissionConfig',
  'autopilot.workloadPolicyConfig': 'desiredAutopilotWorkloadPolicyConfig',
  'ipAllocationPolicy.autoIpamConfig': 'desiredAutoIpamConfig',
  'ipAllocationPolicy.networkTierConfig': 'desiredNetworkTierConfig',
  'ipAllocationPolicy.stackType': 'desiredStackType',
  'networkConfig.ambientNetworkingConfig': 'desiredAmbientNetworkingConfig',
  'networkConfig.datapathProvider': 'desiredDatapathProvider',
  'networkConfig.defaultEnablePrivateNodes': 'desiredDefaultEnablePrivateNodes',
  'networkConfig.defaultSnatStatus': 'desiredDefaultSnatStatus',
  'networkConfig.disableL4LbFirewallReconciliation': 'desiredDisableL4LbFirewallReconciliation',
  'networkConfig.dnsConfig': 'desiredDnsConfig',
  'networkConfig.enableCiliumClusterwideNetworkPolicy': 'desiredEnableCiliumClusterwideNetworkPolicy',
  'networkConfig.enableFqdnNetworkPolicy': 'desiredEnableFqdnNetworkPolicy',
  'networkConfig.enableMultiNetworking': 'desiredEnableMultiNetworking',
  'networkConfig.gatewayApiConfig': 'desiredGatewayApiConfig',
  'networkConfig.inTransitEncryptionConfig': 'desiredInTransitEncryptionConfig',
  'networkConfig.networkPerformanceConfig': 'desiredNetworkPerformanceConfig',
  'networkConfig.privateIpv6GoogleAccess': 'desiredPrivateIpv6GoogleAccess',
  'networkConfig.serviceExternalIpsConfig': 'desiredServiceExternalIpsConfig',
  'nodePoolAutoConfig.networkTags': 'desiredNodePoolAutoConfigNetworkTags',
  'nodePoolAutoConfig.nodeKubeletConfig': 'desiredNodePoolAutoConfigKubeletConfig',
  'nodePoolAutoConfig.resourceManagerTags': 'desiredNodePoolAutoConfigResourceManagerTags',
  'nodePoolDefaults.nodeConfigDefaults.containerdConfig': 'desiredContainerdConfig',
  'nodePoolDefaults.nodeConfigDefaults.gcfsConfig': 'desiredGcfsConfig',
  'nodePoolDefaults.nodeConfigDefaults.loggingConfig': 'desiredNodePoolLoggingConfig',
  'nodePoolDefaults.nodeConfigDefaults.nodeKubeletConfig': 'desiredNodeKubeletConfig',
}

/** Switches that the update wraps in an object. */
const wrapped: Readonly<Record<string, string>> = {
  'networkConfig.enableIntraNodeVisibility': 'desiredIntraNodeVisibilityConfig',
  'networkConfig.enableL4ilbSubsetting': 'desiredL4ilbSubsettingConfig',
}

/** Fields with a method of their own, and the field of its request. */
const methods: Readonly<Record<string, readonly [method: string, field: string]>> = {
  resourceLabels: ['setResourceLabels', 'resourceLabels'],
  networkPolicy: ['setNetworkPolicy', 'networkPolicy'],
  maintenancePolicy: ['setMaintenancePolicy', 'maintenancePolicy'],
}

/** All paths that can be changed after creation. */
export const updatablePaths: readonly string[] = [
  ...Object.keys(desired),
  ...Object.keys(wrapped),
  ...Object.keys(methods),
  'legacyAbac',
]

/** The requests that bring a cluster in line, one for each part that differs. */
export function clusterUpdates(params: Parameters, changed: Values, wanted: Values, found: Values): readonly Step[] {
  const update = (body: object): Step => ({ method: `${prefix}.update`, params, body: { update: body } })
  const steps: Step[] = []
  for (const [path, field] of Object.entries(desired)) {
    if (valueAt(changed, path) !== undefined) steps.push(update({ [field]: valueAt(wanted, path) }))
  }
  for (const [path, field] of Object.entries(wrapped)) {
    if (valueAt(changed, path) !== undefined) steps.push(update({ [field]: { enabled: valueAt(wanted, path) } }))
  }
  for (const [path, [method, field]] of Object.entries(methods)) {
    const value = valueAt(changed, path)
    if (value === undefined) continue
    const body = { [field]: path === 'resourceLabels' ? value : valueAt(wanted, path), ...fingerprintOf(path, found) }
    steps.push({ method: `${prefix}.${method}`, params, body })
  }
  const { legacyAbac } = changed
  if (isObject(legacyAbac)) {
    steps.push({ method: `${prefix}.setLegacyAbac`, params, body: { enabled: legacyAbac['enabled'] === true } })
  }
  return steps
}

function fingerprintOf(path: string, { labelFingerprint }: Values) {
  return path === 'resourceLabels' ? { labelFingerprint } : {}
}
