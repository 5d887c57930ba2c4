import { type Binding, type Configuring, defineBinding, kubernetesCluster } from '@crosstie/resources/provider'
import { autoScalingGroup } from '../autoscaling/group.js'
import { launchConfiguration } from '../autoscaling/launchconfiguration.js'
import { networkFor } from '../ec2/claims.js'
import { role } from '../iam/role.js'
import { agreedVersion } from '../versions.js'
import { cluster } from './cluster.js'
import { nodeGroup } from './nodegroup.js'

const claim = kubernetesCluster

/** Bindings for a cluster alone, or for an aggregate of a cluster, its nodes and its network. */
export const clusterBindings: readonly Binding[] = [
  defineBinding({ claim, managed: cluster, configure: clusterOf }),
  ...[nodeGroup, role, launchConfiguration, autoScalingGroup].map((managed) =>
    defineBinding({ claim, managed, role: 'supporting' }),
  ),
  ...networkFor(claim),
]

function clusterOf({ asked, forProvider, class: { kind, metadata } }: Configuring) {
  const version = agreedVersion(`${kind} ${metadata.name}`, asked['clusterVersion'], forProvider['version'])
  return { ...forProvider, ...(version ? { version } : {}) }
}
