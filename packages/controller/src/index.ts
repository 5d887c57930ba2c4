export {
  type Access,
  type InClusterOptions,
  inClusterAccess,
  isInCluster,
  type StaticAccess,
  staticAccess,
  type TlsMaterial,
} from './client/access.js'
export { HttpClient } from './client/client.js'
export { findAccess, type KubeconfigOptions, kubeconfigAccess, NoAccessError } from './client/kubeconfig.js'
export { listParameters, pathOf } from './client/paths.js'
export type { HttpClientOptions } from './client/request-sender.js'
export { ConnectionError } from './client/transport.js'
export { EventRecorder, type RecorderOptions } from './events/recorder.js'
export { Cache, type IndexBy } from './informer/cache.js'
export { CachedClient } from './informer/cached-client.js'
export { type Change, type Handler, Informer, type InformerOptions } from './informer/informer.js'
export { Informers, type InformersOptions } from './informer/informers.js'
export { keyText, keyTextOf, parseKey } from './key.js'
export { DEFAULT_LEASE_TIMINGS, type ElectionOptions, type LeaseTimings, runElection } from './lease/election.js'
export { LeaseLock, type LeaseOptions } from './lease/lease.js'
export { Shards, type ShardsOptions } from './lease/shards.js'
export { createLog, type Fields, type Level, type Log, type LogOptions, silentLog } from './log.js'
export {
  type Controller,
  Controllers,
  type ControllersOptions,
  type ShardFilter,
  type WatchedKind,
} from './loop/controllers.js'
export { isOlder } from './revision.js'
export { sharedAbortController, sleep } from './sleep.js'
export { type BackoffOptions, backoffMs } from './workqueue/backoff.js'
export { type Next, type Priority, type QueueOptions, type Task, WorkQueue } from './workqueue/queue.js'
