export { findInMirror, type InstalledProvider } from './install/filesystem-mirror.js'
export { type InstallSettings, installProvider, type Locked } from './install/installer.js'
export { type ProviderSource, parseSource } from './install/source.js'
export { type DerivedOptions, deriveKind, STATE_NAMESPACE } from './kind/derive.js'
export { REPLACEMENT_POLICY } from './kind/external.js'
export {
  type Applied,
  type CurrentState,
  type PlannedChange,
  ResourceCalls,
  type StoredState,
} from './plan/resource.js'
export { type LaunchOptions, launchProvider, type ProviderProcess } from './process/launch.js'
export { type PoolOptions, ProviderPool, type ProviderSession, type ProviderSetup } from './process/pool.js'
export { type Diagnostic, DiagnosticsError } from './protocol/diagnostics.js'
export { ProviderClient, type ProviderSchema } from './protocol/provider-client.js'
export { terraformProviderCrd, terraformProviderType } from './provider/definition.js'
export { provider } from './provider/provider.js'
