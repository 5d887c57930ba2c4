import { after } from 'node:test'
import { network } from './compute/network.js'
import { subnetwork } from './compute/subnetwork.js'
import { cluster } from './container/cluster.js'
import { nodePool } from './container/nodepool.js'
import { GoogleEmulator } from './emulator/index.js'
import { serviceAccount } from './iam/serviceaccount.js'
import { instance } from './redis/instance.js'
import { databaseInstance } from './sql/databaseinstance.js'
import { bucket } from './storage/bucket.js'
import { ask, googleContract, project } from './testing/contract.js'

/** Each kind keeps its promises on the emulator, which refuses every request that the official description does not allow. */

// The contract counts resources right after a create, so reads are consistent here. The end-to-end test has delays.
const emulator = await GoogleEmulator.start({ operationMs: 20, consistencyMs: 0 })
after(() => emulator[Symbol.asyncDispose]())

const computePath = `compute.googleapis.com/compute/v1/projects/${project}`
const containerPath = `container.googleapis.com/v1/projects/${project}/locations/europe-west1/clusters`
const sqlPath = `sqladmin.googleapis.com/sql/v1beta4/projects/${project}/instances`
const iamPath = `iam.googleapis.com/v1/projects/${project}/serviceAccounts`
const redisPath = `redis.googleapis.com/v1/projects/${project}/locations/europe-west1/instances`

const exists = (path: (name: string) => string) => async (name: string) =>
  (await ask(emulator, 'GET', path(name))).status === 200
const count = (path: string, field: string) => async () => {
  const { body } = await ask(emulator, 'GET', path)
  const items = body[field]
  return Array.isArray(items) ? items.length : 0
}

/** Changes a resource and waits until the operation is done. */
async function change(http: string, path: string, body: object): Promise<void> {
  const { status, body: answer } = await ask(emulator, http, path, body)
  if (status !== 200) throw new Error(JSON.stringify(answer))
  await new Promise((resolve) => setTimeout(resolve, 60))
}

googleContract(emulator, network, {
  example: {
    description: 'for the contract',
    autoCreateSubnetworks: false,
    routingConfig: { routingMode: 'REGIONAL' },
    mtu: 1460,
    descriptionLabels: { team: 'apps' },
  },
  change: { routingConfig: { routingMode: 'GLOBAL' }, mtu: 1500 },
  meddle: (name) => change('PATCH', `${computePath}/global/networks/${name}`, { mtu: 1300 }),
  exists: exists((name) => `${computePath}/global/networks/${name}`),
  count: count(`${computePath}/global/networks`, 'items'),
})

await change('POST', `${computePath}/global/networks`, { name: 'shared', autoCreateSubnetworks: false })

googleContract(emulator, subnetwork, {
  example: {
    region: 'europe-west1',
    network: `projects/${project}/global/networks/shared`,
    ipCidrRange: '10.8.0.0/20',
    privateIpGoogleAccess: false,
    secondaryIpRanges: [{ rangeName: 'pods', ipCidrRange: '10.9.0.0/16' }],
    logConfig: { enable: false },
  },
  change: {
    ipCidrRange: '10.8.0.0/19',
    privateIpGoogleAccess: true,
    secondaryIpRanges: [
      { rangeName: 'pods', ipCidrRange: '10.9.0.0/16' },
      { rangeName: 'services', ipCidrRange: '10.10.0.0/20' },
    ],
  },
  meddle: (name) =>
    change('POST', `${computePath}/regions/europe-west1/subnetworks/${name}/setPrivateIpGoogleAccess`, {
      privateIpGoogleAccess: true,
    }),
  exists: exists((name) => `${computePath}/regions/europe-west1/subnetworks/${name}`),
  count: count(`${computePath}/regions/europe-west1/subnetworks`, 'items'),
})

googleContract(emulator, serviceAccount, {
  example: {
    displayName: 'Contract',
    description: 'for the contract',
    disabled: false,
    descriptionLabels: { team: 'apps' },
  },
  change: { displayName: 'Changed', disabled: true, descriptionLabels: { team: 'data' } },
  meddle: (name) =>
    change('PATCH', `${iamPath}/${name}@${project}.iam.gserviceaccount.com`, {
      serviceAccount: { displayName: 'Meddled' },
      updateMask: 'displayName',
    }),
  exists: exists((name) => `${iamPath}/${name}@${project}.iam.gserviceaccount.com`),
  count: count(iamPath, 'accounts'),
})

googleContract(emulator, cluster, {
  example: {
    location: 'europe-west1',
    network: `projects/${project}/global/networks/shared`,
    removeDefaultNodePool: true,
    releaseChannel: { channel: 'REGULAR' },
    shieldedNodes: { enabled: true },
    verticalPodAutoscaling: { enabled: false },
    networkConfig: { enableIntraNodeVisibility: false, datapathProvider: 'ADVANCED_DATAPATH' },
    workloadIdentityConfig: { workloadPool: `${project}.svc.id.goog` },
    resourceLabels: { team: 'apps' },
  },
  change: {
    releaseChannel: { channel: 'STABLE' },
    verticalPodAutoscaling: { enabled: true },
    networkConfig: { enableIntraNodeVisibility: true, datapathProvider: 'ADVANCED_DATAPATH' },
    maintenancePolicy: { window: { dailyMaintenanceWindow: { startTime: '03:00' } } },
    resourceLabels: { team: 'data' },
  },
  meddle: (name) =>
    change('PUT', `${containerPath}/${name}`, { update: { desiredReleaseChannel: { channel: 'RAPID' } } }),
  exists: exists((name) => `${containerPath}/${name}`),
  count: count(containerPath, 'clusters'),
})

await change('POST', containerPath, { cluster: { name: 'host', initialNodeCount: 1 } })

googleContract(emulator, nodePool, {
  example: {
    location: 'europe-west1',
    cluster: 'host',
    initialNodeCount: 2,
    autoscaling: { enabled: true, minNodeCount: 1, maxNodeCount: 3 },
    management: { autoUpgrade: true, autoRepair: true },
    maxPodsConstraint: { maxPodsPerNode: 64 },
    config: {
      machineType: 'e2-standard-4',
      diskSizeGb: 50,
      labels: { tier: 'one' },
      taints: [{ key: 'dedicated', value: 'apps', effect: 'NO_SCHEDULE' }],
    },
    labels: { team: 'apps' },
  },
  change: {
    autoscaling: { enabled: true, minNodeCount: 1, maxNodeCount: 5 },
    management: { autoUpgrade: false, autoRepair: true },
    upgradeSettings: { maxSurge: 2, maxUnavailable: 0 },
    labels: { team: 'data' },
  },
  meddle: (name) =>
    change('POST', `${containerPath}/host/nodePools/${name}:setAutoscaling`, {
      autoscaling: { enabled: true, minNodeCount: 1, maxNodeCount: 9 },
    }),
  exists: exists((name) => `${containerPath}/host/nodePools/${name}`),
  count: count(`${containerPath}/host/nodePools`, 'nodePools'),
})

googleContract(emulator, databaseInstance, {
  spec: { writeConnectionSecretToRef: { name: 'contract', namespace: 'default' } },
  example: {
    region: 'europe-west1',
    databaseVersion: 'POSTGRES_15',
    settings: {
      tier: 'db-custom-1-3840',
      edition: 'ENTERPRISE',
      availabilityType: 'ZONAL',
      dataDiskSizeGb: 20,
      storageAutoResize: false,
      backupConfiguration: { enabled: true, startTime: '03:00' },
      databaseFlags: [{ name: 'max_connections', value: '200' }],
      ipConfiguration: { ipv4Enabled: false, privateNetwork: `projects/${project}/global/networks/shared` },
    },
    labels: { team: 'apps' },
  },
  change: {
    settings: {
      tier: 'db-custom-2-7680',
      edition: 'ENTERPRISE',
      availabilityType: 'REGIONAL',
      dataDiskSizeGb: 30,
      databaseFlags: [{ name: 'max_connections', value: '300' }],
    },
    labels: { team: 'data' },
  },
  meddle: (name) => change('PATCH', `${sqlPath}/${name}`, { settings: { availabilityType: 'REGIONAL' } }),
  exists: exists((name) => `${sqlPath}/${name}`),
  count: count(sqlPath, 'items'),
})

googleContract(emulator, bucket, {
  example: {
    location: 'EU',
    storageClass: 'NEARLINE',
    iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' },
    lifecycle: { rule: [{ action: { type: 'Delete' }, condition: { age: 30 } }] },
    versioning: { enabled: true },
    softDeletePolicy: { retentionDurationSeconds: 604800 },
    labels: { team: 'apps' },
  },
  change: { storageClass: 'STANDARD', versioning: { enabled: false }, labels: { team: 'data' } },
  meddle: (name) => change('PATCH', `storage.googleapis.com/storage/v1/b/${name}`, { storageClass: 'COLDLINE' }),
  exists: exists((name) => `storage.googleapis.com/storage/v1/b/${name}`),
  count: count(`storage.googleapis.com/storage/v1/b?project=${project}`, 'items'),
})

googleContract(emulator, instance, {
  example: {
    location: 'europe-west1',
    tier: 'STANDARD_HA',
    memorySizeGb: 5,
    authEnabled: true,
    redisVersion: 'REDIS_6_X',
    redisConfigs: { 'maxmemory-policy': 'allkeys-lru' },
    labels: { team: 'apps' },
  },
  change: { memorySizeGb: 8, redisConfigs: { 'maxmemory-policy': 'noeviction' }, labels: { team: 'data' } },
  meddle: (name) => change('PATCH', `${redisPath}/${name}?updateMask=memorySizeGb`, { memorySizeGb: 6 }),
  exists: exists((name) => `${redisPath}/${name}`),
  count: count(redisPath, 'instances'),
})
