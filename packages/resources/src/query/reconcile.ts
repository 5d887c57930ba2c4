import type { Next } from '@crosstie/controller'
import {
  type Condition,
  ignoring,
  isConflict,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
} from '@crosstie/kube'
import { isDeleted, isPaused, positiveDuration } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { forGeneration, writeStatus } from '../status/write.js'
import { type Chosen, choose } from './choose.js'
import { FilterError } from './filter.js'
import { listExternal } from './list-external.js'
import { type Owned, own } from './own.js'
import { type QueryRuntime, specOf } from './runtime.js'

const SHORTEST_SECONDS = 1
const USUAL_SECONDS = 60

/**
 * Reconciles a query: lists external resources and keeps one observe-only object for each match. If the list fails,
 * all objects are kept, since a failed list does not prove that a resource is gone.
 */
export async function reconcileQuery(runtime: QueryRuntime, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  const query = await runtime.client.get(runtime.query.type, key, { signal }).catch(ignoring(isNotFound))
  // The garbage collector deletes the objects of the query by their owner references.
  if (!query || isDeleted(query)) return { after: 'never' }
  if (isPaused(query)) {
    await report(runtime, query, {}, [conditions.reconcilePaused()], signal)
    return { after: 'never' }
  }
  try {
    return await refresh(runtime, query, signal)
  } catch (error) {
    if (isConflict(error)) return { after: 'backoff' }
    const message = messageOf(error)
    runtime.events.event(query, 'Warning', 'CannotRefresh', message)
    await report(runtime, query, {}, [conditions.unavailable(), conditions.reconcileError(message)], signal)
    // A retry does not help: the author must fix the filter.
    return error instanceof FilterError ? { after: 'never' } : { after: 'backoff' }
  }
}

async function refresh(runtime: QueryRuntime, query: KubeObject, signal: AbortSignal): Promise<Next> {
  const spec = specOf(query)
  // Validates the filter before any call to the provider.
  choose(runtime.kind, spec, [])
  await runtime.usages?.track(query, spec.providerConfigRef?.name ?? 'default', signal)
  const all = await listExternal(runtime.reach, runtime.kind, query, signal)
  const chosen = choose(runtime.kind, spec, all)
  const owned = await own(runtime, query, chosen.matches, signal)
  const { count, truncated } = chosen
  const synced = { ...conditions.reconcileSuccess(), ...said(notes(runtime, chosen, owned)) }
  await report(runtime, query, { count, truncated, matches: owned.matches }, [conditions.available(), synced], signal)
  if (owned.unfinished) return { after: 'backoff' }
  return { after: 'poll', seconds: intervalOf(spec.refreshInterval) }
}

function intervalOf(text = ''): number {
  const duration = positiveDuration(text)
  return duration === undefined ? USUAL_SECONDS : Math.max(SHORTEST_SECONDS, Number(duration) / 1e9)
}

function notes({ kind }: QueryRuntime, { note, count, matches, truncated }: Chosen, { taken }: Owned): string {
  const kindName = kind.type.kind
  return [
    note,
    truncated ? `${count} match and the limit is ${matches.length}` : '',
    taken.length > 0 ? `not shown, as there is another ${kindName} of that name: ${taken.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ')
}

const said = (message: string): { message?: string } => (message === '' ? {} : { message })

/** Writes the status. Does nothing if the query was deleted meanwhile. */
async function report(
  runtime: QueryRuntime,
  query: KubeObject,
  found: Readonly<Record<string, unknown>>,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<void> {
  const { generation } = query.metadata
  const fields = { ...found, ...(generation ? { observedGeneration: generation } : {}) }
  const options = { now: runtime.clock.now(), signal }
  await writeStatus(
    runtime.client,
    runtime.query.type,
    query,
    { fields, conditions: forGeneration(query, conditions) },
    options,
  ).catch(ignoring(isNotFound))
}
