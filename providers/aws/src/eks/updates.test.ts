import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configUpdates } from './updates.js'

type Wanted = Parameters<typeof configUpdates>[1]

interface Case {
  readonly because: string
  readonly changed: Parameters<typeof configUpdates>[0]
  readonly wanted?: Partial<Wanted>
  readonly calls: readonly object[]
}

const network = {
  subnetIds: ['subnet-1', 'subnet-2'],
  securityGroupIds: ['sg-1'],
  endpointPublicAccess: false,
  endpointPrivateAccess: true,
}
const autoMode = {
  computeConfig: { enabled: true, nodePools: ['system'] },
  storageConfig: { blockStorage: { enabled: true } },
  kubernetesNetworkConfig: { ipFamily: 'ipv4' as const, elasticLoadBalancing: { enabled: true } },
}

// Moto accepts any request, so the requests that EKS accepts are stated here.
const cases: Readonly<Record<string, Case>> = {
  Nothing: { because: 'tags are changed by calls of their own', changed: { tags: { team: 'ops' } }, calls: [] },
  Subnets: {
    because: 'who may reach the endpoint is another type of update',
    changed: { resourcesVpcConfig: { subnetIds: network.subnetIds } },
    calls: [{ resourcesVpcConfig: { subnetIds: network.subnetIds, securityGroupIds: ['sg-1'] } }],
  },
  WholeNetwork: {
    because: 'each type of update takes a call',
    changed: { resourcesVpcConfig: { subnetIds: network.subnetIds, endpointPublicAccess: false } },
    calls: [
      { resourcesVpcConfig: { subnetIds: network.subnetIds, securityGroupIds: ['sg-1'] } },
      { resourcesVpcConfig: { endpointPublicAccess: false, endpointPrivateAccess: true } },
    ],
  },
  AutoMode: {
    because: 'its three parts are only changed together, and what cannot be changed is not sent',
    changed: { computeConfig: { enabled: true } },
    wanted: autoMode,
    calls: [{ ...autoMode, kubernetesNetworkConfig: { elasticLoadBalancing: { enabled: true } } }],
  },
  Access: {
    because: 'who is administrator from the start is not sent again',
    changed: { accessConfig: { authenticationMode: 'API' } },
    wanted: { accessConfig: { authenticationMode: 'API', bootstrapClusterCreatorAdminPermissions: true } },
    calls: [{ accessConfig: { authenticationMode: 'API' } }],
  },
  Several: {
    because: 'each takes a call',
    changed: { deletionProtection: false, upgradePolicy: { supportType: 'STANDARD' } },
    wanted: { deletionProtection: false, upgradePolicy: { supportType: 'STANDARD' } },
    calls: [{ upgradePolicy: { supportType: 'STANDARD' } }, { deletionProtection: false }],
  },
}

for (const [name, { because, changed, wanted, calls }] of Object.entries(cases)) {
  test(`a cluster is updated one type of change at a time: ${name}`, () => {
    const all = { region: 'r', roleArn: 'arn', resourcesVpcConfig: network, ...wanted }
    assert.deepEqual(configUpdates(changed, all), calls, because)
  })
}
