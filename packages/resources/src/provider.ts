// The API for authors of providers. packages/resources/provider.api.md lists it, and `npm run check` compares both.

export type { Controller, Next } from '@crosstie/controller'
export type { CountChange } from './definition/change-count.js'
export {
  type Binding,
  type ClaimKind,
  type Configuring,
  defineBinding,
  defineClaim,
} from './definition/claim.js'
export { bucket, kubernetesCluster, mysqlInstance, postgresqlInstance, redisCluster } from './definition/claim-kinds.js'
export {
  AlreadyExistsError,
  absent,
  type Calls,
  type ConnectionDetails,
  type CreateCall,
  type Created,
  type Difference,
  type ExternalCall,
  type Listed,
  type ObserveCall,
  type Observed,
  PartialCreateError,
  type Present,
  present,
  ThrottledError,
  type UpdateCall,
} from './definition/external.js'
export {
  type ConnectContext,
  defineManaged,
  type ManagedKind,
  type Permissions,
} from './definition/managed.js'
export {
  defineProvider,
  type KindFailure,
  type ObservedKinds,
  type ObserverHost,
  type Provider,
  type ProviderHost,
  type ProviderRight,
  type ProviderRuntime,
  type RuntimeHost,
  type StartedProvider,
} from './definition/provider.js'
export {
  defineProviderConfig,
  type ProviderConfigKind,
  type ProviderConfiguration,
} from './definition/provider-config.js'
export { type Fields, type Infer, type ObjectSchema, type Schema, s } from './definition/schema.js'
export { UncertainError } from './managed/create/create.js'
export { leaveAlone } from './managed/observe/difference.js'
