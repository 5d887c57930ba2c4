// For those who assemble a control plane.

export type { ManagedKind } from './definition/define.js'
export { checkTogether } from './definition/patterns.js'
export { type BudgetOptions, type Budgets, budgets } from './external/budget.js'
export { type ManagedController, managedController } from './managed/controller.js'
export type { EventRecorder, Features, ManagedMetrics, ManagedOptions, Next } from './managed/kit.js'
export { managedMetrics } from './managed/metrics.js'
export { migrateLive, migrateManifest } from './managed/migrate.js'
export { migratePolicies } from './managed/policy.js'
export { policyTable } from './managed/policytable.js'
export { reconcileProviderConfig } from './providerconfig/controller.js'
