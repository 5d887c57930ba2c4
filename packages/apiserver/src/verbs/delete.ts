import { conflict, type KubeObject, notFound, type Status, timestamp } from '@crosstie/kube'
import { checkNamespaceDeletable } from '../admission/namespace.js'
import { admissionOf } from '../admission/review.js'
import type { Engine } from '../serving/engine.js'
import { contextOf, type Outcome, outcomeOf, unstored, type WriteRequest } from '../serving/request.js'
import { PreconditionError, type Stored } from '../store/store.js'
import { awaitDurable, writeDurably } from './durable.js'
import { toStorage } from './storage.js'

/** The finalizer of foreground deletion. */
export const FOREGROUND = 'foregroundDeletion'
/** The finalizer of orphaning deletion. */
export const ORPHAN = 'orphan'

/** The options of a deletion. */
export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly gracePeriodSeconds?: number
}

/** An object with finalizers waits. A deleted one is answered with a Status. */
export type Deletion = { readonly waits: Outcome } | { readonly gone: Outcome; readonly status: Status }

/**
 * DELETE of one object. It is deleted at once, or marked until its finalizers are removed. Throws 404, 409 for
 * preconditions, and the refusals of admission.
 */
export async function remove(
  engine: Engine,
  request: WriteRequest,
  options: DeleteOptions,
  /** The name that admission sees. Empty for an object that is deleted with its collection. */
  admittedName = request.name,
): Promise<Deletion> {
  const { served, namespace, name } = request
  const key = served.key(namespace, name)
  for (;;) {
    const tip = engine.store.tip(key)
    if (!tip) {
      await awaitDurable(engine, key)
      throw notFound(served.type, name)
    }
    const live = (await served.view(tip)).object
    checkNamespaceDeletable(request)
    await checkDeletePreconditions(engine, request, live, options)
    const review = admissionOf(engine, request, 'DELETE', deleteOptionsObject(request, options))
    await review?.remove(live, admittedName)
    const marked = markDeleted(engine, request, live, options)
    try {
      return await execute(engine, request, tip, marked)
    } catch (error) {
      if (!(error instanceof PreconditionError)) throw error
    }
  }
}

async function execute(engine: Engine, request: WriteRequest, tip: Stored, marked: KubeObject): Promise<Deletion> {
  const { served, dryRun } = request
  const { key, revision: expect } = tip
  const stays = (marked.metadata.finalizers?.length ?? 0) > 0 || served.definition.strategy.holds?.(marked) === true
  if (!stays) {
    if (!dryRun) await writeDurably(engine, [{ do: 'delete', key, expect }])
    return { gone: await outcomeOf(request, tip), status: success(request, tip.object) }
  }
  if (dryRun) return { waits: unstored(marked) }
  if (marked === (await served.view(tip)).object) {
    await awaitDurable(engine, key)
    return { waits: await outcomeOf(request, tip) }
  }
  const object = await toStorage(engine, request, marked)
  const [change] = await writeDurably(engine, [{ do: 'put', key, expect, object }])
  return { waits: await outcomeOf(request, change!.now) }
}

function success({ served, name }: WriteRequest, { metadata }: KubeObject): Status {
  const { group, resource: kind } = served.type
  const details = { name, ...(group ? { group } : {}), kind, uid: metadata.uid }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
}

/** Returns the object under deletion: with the time of deletion and the finalizers of garbage collection. */
function markDeleted(engine: Engine, request: WriteRequest, live: KubeObject, options: DeleteOptions): KubeObject {
  const before = live.metadata.finalizers ?? []
  const finalizers = garbageFinalizers(before, options)
  const first = !live.metadata.deletionTimestamp
  if (!first && finalizers === before) return live
  const { generation } = live.metadata
  const { finalizers: _, ...metadata } = live.metadata
  const object = {
    ...live,
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(first
        ? {
            deletionTimestamp: timestamp(engine.clock.now()),
            deletionGracePeriodSeconds: 0,
            ...(generation === undefined ? {} : { generation: generation + 1 }),
          }
        : {}),
    },
  }
  if (first) request.served.definition.strategy.beginDelete?.(object, contextOf(engine, request))
  return object
}

function garbageFinalizers(before: readonly string[], options: DeleteOptions): readonly string[] {
  const { propagationPolicy, orphanDependents } = options
  const orphan = propagationPolicy ? propagationPolicy === 'Orphan' : (orphanDependents ?? before.includes(ORPHAN))
  const foreground = propagationPolicy
    ? propagationPolicy === 'Foreground'
    : orphanDependents === undefined && before.includes(FOREGROUND)
  const wanted = [...(orphan ? [ORPHAN] : []), ...(foreground ? [FOREGROUND] : [])]
  const others = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND)
  const same =
    before.length === others.length + wanted.length && wanted.every((finalizer) => before.includes(finalizer))
  return same ? before : [...others, ...wanted]
}

async function checkDeletePreconditions(
  engine: Engine,
  { served, namespace, name }: WriteRequest,
  live: KubeObject,
  options: DeleteOptions,
): Promise<void> {
  const { uid, resourceVersion } = options.preconditions ?? {}
  const { metadata } = live
  const mismatch =
    (uid !== undefined && uid !== metadata.uid) ||
    (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
  if (!mismatch) return
  await awaitDurable(engine, served.key(namespace, name))
  const type = { group: served.type.group, resource: served.type.kind }
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
    throw conflict(type, name, why)
  }
  const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
  throw conflict(type, name, why)
}

function deleteOptionsObject({ dryRun }: WriteRequest, options: DeleteOptions): Record<string, unknown> {
  return { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options, ...(dryRun ? { dryRun: ['All'] } : {}) }
}
