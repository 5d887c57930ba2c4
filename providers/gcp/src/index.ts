import { defineProvider } from '@crosstie/resources/provider'
import { bindings } from './claims.js'
import { network } from './compute/network.js'
import { subnetwork } from './compute/subnetwork.js'
import { cluster } from './container/cluster.js'
import { nodePool } from './container/nodepool.js'
import { serviceAccount } from './iam/serviceaccount.js'
import { instance } from './redis/instance.js'
import { databaseInstance } from './sql/databaseinstance.js'
import { start } from './start.js'
import { bucket } from './storage/bucket.js'

export { providerConfig } from './config.js'
export { bucket, cluster, databaseInstance, instance, network, nodePool, serviceAccount, subnetwork }

export const provider = defineProvider({
  name: 'gcp',
  summary: 'Networks, clusters, service accounts, databases, buckets and caches of Google Cloud.',
  kinds: [network, subnetwork, cluster, nodePool, serviceAccount, databaseInstance, bucket, instance],
  bindings,
  start,
})
