import {
  type Binding,
  bucket as bucketClaim,
  type ClaimKind,
  type Configuring,
  defineBinding,
  kubernetesCluster,
  mysqlInstance,
  postgresqlInstance,
  redisCluster,
} from '@crosstie/resources/provider'
import { network } from './compute/network.js'
import { subnetwork } from './compute/subnetwork.js'
import { cluster } from './container/cluster.js'
import { nodePool } from './container/nodepool.js'
import { serviceAccount } from './iam/serviceaccount.js'
import { instance } from './redis/instance.js'
import { databaseInstance } from './sql/databaseinstance.js'
import { bucket } from './storage/bucket.js'
import { agreedVersion } from './versions.js'

const supporting = (claim: ClaimKind, kinds: readonly Parameters<typeof defineBinding>[0]['managed'][]) =>
  kinds.map((managed) => defineBinding({ claim, managed, role: 'supporting' }))

/** The managed resources that can satisfy claims, alone or with others as an aggregate. */
export const bindings: readonly Binding[] = [
  defineBinding({ claim: mysqlInstance, managed: databaseInstance, configure: (given) => databaseOf('MYSQL', given) }),
  ...supporting(mysqlInstance, [network, subnetwork]),
  defineBinding({
    claim: postgresqlInstance,
    managed: databaseInstance,
    configure: (given) => databaseOf('POSTGRES', given),
  }),
  ...supporting(postgresqlInstance, [network, subnetwork]),
  defineBinding({ claim: kubernetesCluster, managed: cluster, configure: clusterOf }),
  ...supporting(kubernetesCluster, [nodePool, serviceAccount, network, subnetwork]),
  defineBinding({ claim: redisCluster, managed: instance, configure: redisOf }),
  ...supporting(redisCluster, [network, subnetwork]),
  defineBinding({
    claim: bucketClaim,
    managed: bucket,
    externalName: ({ asked }) => (typeof asked['name'] === 'string' ? asked['name'] : undefined),
    configure: bucketOf,
  }),
]

const nameOf = ({ class: { kind, metadata } }: Configuring): string => `${kind} ${metadata.name}`

/** `8.0` of a claim for MySQL is `MYSQL_8_0`. */
function databaseOf(engine: 'MYSQL' | 'POSTGRES', given: Configuring) {
  const { asked, forProvider } = given
  const offered = forProvider['databaseVersion']
  if (typeof offered === 'string' && !offered.startsWith(`${engine}_`)) {
    throw new Error(
      `${nameOf(given)} creates databases of ${offered}. Choose a class with a databaseVersion of ${engine}`,
    )
  }
  const held = typeof offered === 'string' ? offered.slice(engine.length + 1).replaceAll('_', '.') : undefined
  const version = agreedVersion(nameOf(given), asked['engineVersion'], held)
  return { ...forProvider, ...(version ? { databaseVersion: `${engine}_${version.replaceAll('.', '_')}` } : {}) }
}

function clusterOf(given: Configuring) {
  const { asked, forProvider } = given
  const version = agreedVersion(nameOf(given), asked['clusterVersion'], forProvider['masterVersion'])
  return { ...forProvider, ...(version ? { masterVersion: version } : {}) }
}

/** `7.0` of a claim is `REDIS_7_0`. */
function redisOf(given: Configuring) {
  const { asked, forProvider } = given
  const offered = forProvider['redisVersion']
  const held =
    typeof offered === 'string'
      ? offered
          .replace(/^REDIS_/, '')
          .replace(/_X$/, '')
          .replaceAll('_', '.')
      : undefined
  const version = agreedVersion(nameOf(given), asked['engineVersion'], held)
  if (version === undefined || version === held) return forProvider
  return { ...forProvider, redisVersion: `REDIS_${version.replaceAll('.', '_')}` }
}

const acls: Readonly<Record<string, string>> = {
  Private: 'private',
  PublicRead: 'publicRead',
  PublicReadWrite: 'publicReadWrite',
  AuthenticatedRead: 'authenticatedRead',
}

function bucketOf(given: Configuring) {
  const { asked, forProvider } = given
  if (asked['localPermission'] !== undefined) {
    throw new Error(
      'spec.localPermission cannot be satisfied by Cloud Storage, where IAM grants access. Leave it out, and grant a role on the bucket to the service account of the application',
    )
  }
  const predefined = asked['predefinedACL']
  if (predefined === undefined) return forProvider
  const acl = acls[String(predefined)]
  const offered = forProvider['predefinedAcl']
  if (offered !== undefined && offered !== acl) {
    throw new Error(
      `spec.predefinedACL ${String(predefined)} differs from ${String(offered)}, which ${nameOf(given)} offers`,
    )
  }
  return { ...forProvider, predefinedAcl: acl }
}
