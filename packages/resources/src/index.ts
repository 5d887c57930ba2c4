// For those who assemble a control plane.

export { aggregateClassCrd, aggregateClassType, aggregateCrd, aggregateType } from './aggregate/define.js'
export { aggregateController, claimController } from './claim/controller.js'
export { type Binding, type ClaimKind, defineBinding } from './claim/define.js'
export { findIn } from './claim/find.js'
export { claimKinds } from './claim/kinds.js'
export type { ClaimOptions } from './claim/kit.js'
export { kindRoles, operatorRoles } from './claim/roles.js'
export { deepestCause, type Traced, traceClaim } from './claim/trace.js'
export type { ConversionEndpoint, ConversionService } from './conversion/endpoint.js'
export { type ConversionOptions, type ConversionServer, serveConversions } from './conversion/serve.js'
export type { ManagedKind } from './definition/define.js'
export { externalNamePolicy } from './definition/name-policy.js'
export { checkTogether } from './definition/patterns.js'
export type {
  KindFailure,
  ObservedKinds,
  ObserverHost,
  Provider,
  ProviderHost,
  ProviderRuntime,
  RuntimeHost,
  StartedProvider,
} from './definition/provider.js'
export { type BudgetOptions, type Budgets, budgets } from './external/budget.js'
export { type Discovered, type DiscoverOptions, discover, type FieldMatch } from './import/discover.js'
export { FilterError } from './import/filter.js'
export { DiscoverError } from './import/places.js'
export { type Promotion, promote } from './import/promote.js'
export { type ManagedController, managedController } from './managed/controller.js'
export type { EventRecorder, Features, ManagedMetrics, ManagedOptions, Next } from './managed/kit.js'
export { annotations, isPaused } from './managed/meta.js'
export { countStates, managedMetrics } from './managed/metrics.js'
export { type Looked, type Migration, migrateLive, migrateManifest } from './managed/migrate.js'
export { migratePolicies } from './managed/policy.js'
export { policyTable } from './managed/policytable.js'
export { type Applied, type ApplyingAs, tryApply } from './plan/applied.js'
export { type ClaimPlanOptions, type ImaginedClaim, imagineClaim } from './plan/claims.js'
export {
  hasChanges,
  hasErrors,
  type Outcome,
  type Plan,
  type PlannedClaim,
  type PlannedResource,
  planOf,
  readPlan,
  type Step,
  type SuppressedStep,
} from './plan/document.js'
export { type Drift, driftOf } from './plan/drift.js'
export type { PlannedField } from './plan/fields.js'
export { Imagination } from './plan/imagined.js'
export { failedPlan, type PlanOptions, plan, type Subject } from './plan/plan.js'
export { providerConfigController, reconcileProviderConfig } from './providerconfig/controller.js'
export { type QueryOptions, queryController } from './query/controller.js'
export { reservationCrd, reservationType } from './reservation/define.js'
