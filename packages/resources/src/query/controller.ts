import { readFile } from 'node:fs/promises'
import type { Controller } from '@crosstie/controller'
import { equal, groupResource, type KubeObject, systemClock } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { unlimited } from '../external/budget.js'
import type { ManagedOptions } from '../managed/runtime.js'
import { controllerOf, desiredStateChanged, isDeleted } from '../metadata/metadata.js'
import { UsageTracker } from '../providerconfig/use.js'
import { reconcileQuery } from './reconcile.js'
import { type QueryRuntime, specOf } from './runtime.js'

/** The options of `queryController`. */
export type QueryOptions = Pick<ManagedOptions, 'client' | 'events' | 'clock' | 'metrics' | 'budgets' | 'surroundings'>

/**
 * Returns the controller that keeps the objects of queries in sync with external resources. Returns undefined if
 * the API of the kind cannot list.
 */
export function queryController(kind: ManagedKind, options: QueryOptions): Controller | undefined {
  const { query } = kind
  if (!query) return undefined
  const { client, metrics } = options
  const surroundings = {
    environment: process.env,
    readFile: (path: string) => readFile(path, 'utf8'),
    ...options.surroundings,
  }
  const runtime: QueryRuntime = {
    kind,
    query,
    client,
    reach: {
      client,
      surroundings,
      budgets: options.budgets ?? unlimited,
      ...(metrics ? { called: (of, call, failed) => metrics.called(of, call, failed) } : {}),
    },
    events: options.events ?? { event: () => {} },
    clock: options.clock ?? systemClock,
    usages: kind.providerConfig && new UsageTracker(client, kind.providerConfig),
  }
  return {
    name: groupResource(query.type),
    type: query.type,
    reconcile: (key, signal) => reconcileQuery(runtime, key, signal),
    wakes: (before, after) => !before || desiredStateChanged(before, after),
    watches: [{ type: kind.type, concerns: (object) => ownerToWake(query.type.kind, object) }],
  }
}

/**
 * Returns the query to reconcile if one of its objects is deleted or its policies change. Writes of the reconciler
 * do not count.
 */
function ownerToWake(queryKind: string, object: KubeObject): readonly { readonly name: string }[] {
  const owner = controllerOf(object.metadata.ownerReferences)
  if (owner?.kind !== queryKind) return []
  const { managementPolicies } = specOf(object) as { managementPolicies?: unknown }
  return isDeleted(object) || !equal(managementPolicies, ['Observe']) ? [{ name: owner.name }] : []
}
