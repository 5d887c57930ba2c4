import { alreadyExists, equal, type KubeObject, StatusError } from '@crosstie/kube'
import { withoutNewTimes } from '@crosstie/kube/patch'
import { type Outcome, outcomeOf, unstored, type WriteRequest } from '../serving/request.js'
import { type Change, PreconditionError, type Stored } from '../store/store.js'
import { awaitDurable, putDurably, writeDurably } from './durable.js'
import { checkNoRevision } from './preconditions.js'
import { dryRunOutcome, toStorage, withoutNulls } from './storage.js'
import type { WriteOperation } from './write-operation.js'

/**
 * Writes the object to the store and waits until it is durable. A dry run computes the outcome only. Leaves the outcome
 * undefined when another writer was faster, so that the write is tried again.
 */
export async function commit(operation: WriteOperation): Promise<void> {
  const { tip, live } = operation
  operation.outcome = tip && live ? await commitUpdate(operation, tip, live) : await commitCreate(operation)
}

async function commitCreate(operation: WriteOperation): Promise<Outcome | undefined> {
  const { engine, request, verb, proposal } = operation
  const { served, namespace, dryRun } = request
  const isApply = proposal.ownershipTracked === true
  const object = isApply ? withoutNulls(request, operation.object) : operation.object
  if (!dryRun && verb.target === 'new') checkNoRevision(proposal.object)
  const { name = '' } = object.metadata
  const key = served.key(namespace, name)
  // An object that cannot be converted is refused even when the name is taken.
  const stored = served.isStorage ? object : await toStorage(engine, request, object)
  if (engine.store.tip(key)) return await refuseExisting(operation, key, object)
  if (dryRun) return await dryRunOutcome(engine, request, object, true)
  try {
    const put = { do: 'put', key, object: stored, expect: 'absent' } as const
    const changes = await putDurably(engine, served, put, { mayDropOwners: !isApply })
    return await outcomeOf(request, onlyChange(changes).now, true)
  } catch (error) {
    if (!(error instanceof PreconditionError)) throw error
    return await refuseExisting(operation, key, object)
  }
}

/** Update and apply start over and change the object that another writer created meanwhile. */
async function refuseExisting(operation: WriteOperation, key: string, object: KubeObject): Promise<undefined> {
  const { engine, request, verb } = operation
  if (verb.target === 'either' && key === operation.key) return undefined
  await awaitDurable(engine, key)
  throw existing(request, object)
}

function existing({ served }: WriteRequest, object: KubeObject): StatusError {
  const { name = '', generateName } = object.metadata
  if (!generateName) return alreadyExists(served.type, name)
  const { message, details } = alreadyExists(served.type, name)
  return new StatusError(
    409,
    'AlreadyExists',
    `${message}, the server was not able to generate a unique name for the object`,
    { details: { ...details, retryAfterSeconds: 1 } },
  )
}

async function commitUpdate(operation: WriteOperation, tip: Stored, live: KubeObject): Promise<Outcome | undefined> {
  const { engine, request } = operation
  const object = objectToStore(operation, live)
  if (request.dryRun) return await dryRunOutcome(engine, request, object)
  const vanishing = vanishes(request, object)
  if (!vanishing && equal(object, live)) return await unchanged(operation, tip)
  const stored = vanishing || request.served.isStorage ? object : await toStorage(engine, request, object)
  try {
    const change = onlyChange(await committed(operation, tip.revision, stored, vanishing))
    // Watchers see the last stored version of a deleted object. The writer sees the version that it wrote.
    return vanishing ? unstored(object) : await outcomeOf(request, change.now)
  } catch (error) {
    if (error instanceof PreconditionError) return undefined
    throw error
  }
}

function objectToStore({ request, object, proposal }: WriteOperation, live: KubeObject): KubeObject {
  const timed = withoutNewTimes(object, live)
  return proposal.ownershipTracked ? withoutNulls(request, timed) : timed
}

/** Ends the turn as soon as the store accepted the change: the next writer need not wait for the disk. */
function committed(
  operation: WriteOperation,
  expect: number,
  object: KubeObject,
  vanishing: boolean,
): Promise<readonly Change[]> {
  const { engine, request, key, proposal } = operation
  const before = engine.store.tip(key)
  const put = { do: 'put', key, expect, object } as const
  const changes = vanishing
    ? writeDurably(engine, [{ do: 'delete', key, expect }])
    : putDurably(engine, request.served, put, { mayDropOwners: !proposal.ownershipTracked })
  if (engine.store.tip(key) !== before) operation.endTurn()
  return changes
}

/** Whether the write removed the last finalizer of an object under deletion. */
function vanishes({ served }: WriteRequest, object: KubeObject): boolean {
  const { deletionTimestamp, finalizers } = object.metadata
  if (!deletionTimestamp || (finalizers?.length ?? 0) > 0) return false
  return !served.definition.strategy.holds?.(object)
}

/** A write without effect stores nothing, but the object in the response must be durable. */
async function unchanged({ engine, request }: WriteOperation, tip: Stored): Promise<Outcome> {
  await awaitDurable(engine, tip.key)
  return await outcomeOf(request, tip)
}

function onlyChange([change]: readonly Change[]): Change {
  if (!change) throw new Error('the store returned no change for a write')
  return change
}
