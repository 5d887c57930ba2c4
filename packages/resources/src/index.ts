// The API for assembling a control plane.

export type { Next } from '@crosstie/controller'
export { aggregateController, claimController } from './binding/controller.js'
export { findIn } from './binding/find.js'
export { kindRoles, operatorRoles } from './binding/operator-roles.js'
export type { ClaimOptions } from './binding/runtime.js'
export { deepestCause, type Traced, traceClaim } from './binding/trace.js'
export { aggregateClassCrd, aggregateClassType, aggregateCrd, aggregateType } from './definition/aggregate.js'
export { approvalPolicy } from './definition/approval-policy.js'
export { type Binding, type ClaimKind, defineBinding } from './definition/claim.js'
export { claimKinds } from './definition/claim-kinds.js'
export type { ConversionEndpoint, ConversionService } from './definition/conversion/endpoint.js'
export { type ConversionOptions, type ConversionServer, serveConversions } from './definition/conversion/serve.js'
export type { ManagedKind } from './definition/managed.js'
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
export { reservationCrd, reservationType } from './definition/reservation.js'
export { type BudgetOptions, type Budgets, budgets } from './external/budget.js'
export { type Discovered, type DiscoverOptions, discover, type FieldMatch } from './import/discover.js'
export { DiscoverError } from './import/places.js'
export { type Promotion, promote } from './import/promote.js'
export { type ManagedController, managedController } from './managed/controller.js'
export { countStates, managedMetrics } from './managed/metrics.js'
export { type Looked, type Migration, migrateLive, migrateManifest } from './managed/policy/migrate.js'
export { migratePolicies } from './managed/policy/policy.js'
export { policyTable } from './managed/policy/policy-table.js'
export type { Features, ManagedMetrics, ManagedOptions } from './managed/runtime.js'
export { annotations, isPaused } from './metadata/metadata.js'
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
export { FilterError } from './query/filter.js'
export { type RequestOptions, requestControllers } from './request/controller.js'
export {
  type DiscoveredItem,
  type DiscoveryRequestSpec,
  type DiscoveryRequestStatus,
  discoveryRequestCrd,
  discoveryRequestType,
  type PlannedPromotion,
  type PlanRequestSpec,
  type PlanRequestStatus,
  planRequestCrd,
  planRequestType,
  type RequestedObject,
  requestTypes,
} from './request/define.js'
export { discoveredItem } from './request/discover.js'
export { requestIdentityPolicy } from './request/identity-policy.js'
export { distinctSubjects, inControllerVersion } from './request/plan.js'
export { requestRoles } from './request/roles.js'
export type { EventReporter } from './status/events.js'
