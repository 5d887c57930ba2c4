// For those who write a provider.

export type { Controller, Next } from '@crosstie/controller'
export {
  type Binding,
  type ClaimDefinition,
  type ClaimKind,
  type Configuring,
  defineBinding,
  defineClaim,
} from './claim/define.js'
export { bucket, kubernetesCluster, mysqlInstance, postgresqlInstance, redisCluster } from './claim/kinds.js'
export type { Part, VersionConversion } from './conversion/convert.js'
export {
  type AtProviderOf,
  type ConnectContext,
  defineManaged,
  type KindVersion,
  type ListCall,
  type ManagedDefinition,
  type ManagedKind,
  type Permissions,
} from './definition/define.js'
export { DefinitionError } from './definition/patterns.js'
export {
  defineProvider,
  type KindFailure,
  type ObservedKinds,
  type ObserverHost,
  type Provider,
  type ProviderHost,
  type ProviderRuntime,
  type RuntimeHost,
  type StartedProvider,
} from './definition/provider.js'
export { type Fields, type Infer, type ObjectSchema, type Schema, s } from './definition/schema.js'
export type { CountChange, TrackChanges } from './external/change-count.js'
export {
  AlreadyExistsError,
  absent,
  type Call,
  type ConnectionDetails,
  type CreateCall,
  type Created,
  type Difference,
  type Listed,
  type ObserveCall,
  PartialCreateError,
  type Present,
  present,
  type Sight,
  ThrottledError,
  type UpdateCall,
  type Updated,
} from './external/external.js'
export { UncertainError } from './managed/create.js'
export { leaveAlone } from './managed/difference.js'
export type { Follow } from './managed/follow.js'
export { defineProviderConfig, type ProviderConfigKind, type ProviderConfiguration } from './providerconfig/define.js'
