import type { Difference } from '../definition/external.js'
import type { Action } from './policy/policy.js'

/** All inputs of a decision. They are gathered before, so that `decide` does no I/O. */
export interface ManagedFacts {
  readonly deleted: boolean
  /** The object has a finalizer of another controller, and this controller still has work to do. */
  readonly otherFinalizers: boolean
  /** The object has an external resource, but its name was lost or changed and the resource cannot be identified. */
  readonly nameUnknown: boolean
  readonly exists: boolean
  /** The resource was created so recently that the provider may not show it yet. */
  readonly createdRecently: boolean
  /** A create was started, its result is unknown, and a search may not find its resource yet. */
  readonly createInDoubt: boolean
  /** A search cannot find the external resource, but a create with the same token returns its name. */
  readonly nameOnlyByToken: boolean
  /** The aggregate that the object is a member of is being deleted or does not exist. */
  readonly abandoned: boolean
  /** There are empty fields that late initialization would fill. */
  readonly lateInitialize: boolean
  /** The differences between spec and external resource, without those that the user ignores. */
  readonly differences: readonly Difference[]
  /** False if there are differences, or if the kind reports that an update is needed. */
  readonly upToDate: boolean
  readonly may: Readonly<Record<Action, boolean>>
  /** Only observing is allowed. */
  readonly onlyObserve: boolean
  /** The reason why nothing is changed: the resource exists, this object did not create it and may not adopt it. */
  readonly foreign?: string | undefined
  /** The resource exists, and this object adopted it and must not delete it. */
  readonly adopted?: boolean
}

/** An action that the policies prevent. */
export interface Suppressed {
  readonly action: Action
  readonly because: string
}

/** A call to the provider that changes the external resource. */
export type MutatingCall = 'Create' | 'Update' | 'Delete'

/** The output of `decide`: one action with its reason. */
export interface Decision {
  readonly do: 'create' | 'delete' | 'release' | 'wait' | 'fail' | 'stop' | 'refuse' | 'converge'
  /** The external calls that follow, in order. */
  readonly calls: readonly MutatingCall[]
  readonly because: string
  readonly lateInitialize: boolean
  /** The differences that the Update call corrects, if there is one. */
  readonly differences: readonly Difference[]
  readonly suppressed: readonly Suppressed[]
  /** Whether an event announces the wait. A wait for another controller is not announced. */
  readonly announced: boolean
}

type Rule = (facts: ManagedFacts) => Decision | undefined

/** The lifecycle of a managed resource. The first rule that returns a decision wins. */
const rules: readonly Rule[] = [
  unknownName,
  absentUnderObserveOnly,
  createdMomentsAgo,
  createInDoubt,
  heldByOthers,
  foreignResource,
  nameOfDoubtfulCreate,
  deleteExternal,
  releaseManaged,
  abandonedByAggregate,
  createExternal,
  absentAndNotOursToCreate,
]

/** Decides what to do for one managed resource. Pure: it depends only on the facts. */
export function decide(facts: ManagedFacts): Decision {
  for (const rule of rules) {
    const decision = rule(facts)
    if (decision) return decision
  }
  return converge(facts)
}

function decision(what: Decision['do'], because: string, more: Partial<Decision> = {}): Decision {
  return {
    do: what,
    calls: [],
    because,
    lateInitialize: false,
    differences: [],
    suppressed: [],
    announced: false,
    ...more,
  }
}

const pending = (because: string): Decision => decision('wait', because, { announced: true })

// Any action under a wrong name could change a resource of another owner, and a create would be a second one.
function unknownName({ nameUnknown }: ManagedFacts): Decision | undefined {
  if (nameUnknown) return decision('stop', 'the name of the external resource was lost')
  return undefined
}

// An object that may only observe never created the resource, so there is nothing to wait for.
function absentUnderObserveOnly(facts: ManagedFacts): Decision | undefined {
  if (facts.onlyObserve && !facts.deleted) return absentAndNotOursToCreate(facts)
  return undefined
}

// Many cloud APIs are eventually consistent: a resource that was created a second ago may not be listed yet. If
// that counted as absent, the resource would be created twice, or released while it exists.
function createdMomentsAgo({ deleted, exists, createdRecently }: ManagedFacts): Decision | undefined {
  if (exists || !createdRecently) return undefined
  if (!deleted) return pending('Waiting for external resource existence to be confirmed')
  return pending('Waiting to be sure that it is gone: made moments ago, it may only not be shown yet')
}

// The resource of an interrupted create may also appear later.
function createInDoubt({ exists, createInDoubt }: ManagedFacts): Decision | undefined {
  if (!exists && createInDoubt) return pending('Waiting to see whether an interrupted creation took effect')
  return undefined
}

function heldByOthers({ deleted, otherFinalizers }: ManagedFacts): Decision | undefined {
  if (deleted && otherFinalizers) return decision('wait', 'another controller still holds the object')
  return undefined
}

// A claim may name any resource. It gets only a resource that was created for it; others are not changed (XN3).
function foreignResource({ deleted, foreign }: ManagedFacts): Decision | undefined {
  if (foreign === undefined) return undefined
  return deleted ? releaseUntouched('this object did not create it') : refusal(foreign)
}

/** Returns the decision to change nothing, because the external name is taken. */
export const refusal = (because: string): Decision => decision('refuse', because)

/** Returns the decision to release the object and to leave the external resource unchanged. */
export const releaseUntouched = (because: string): Decision =>
  decision('release', 'the object was deleted', { suppressed: [{ action: 'delete', because }] })

// The name of the resource of an interrupted create is unknown. A repeated create with the same token returns it.
// Releasing the object without that call would leak the resource.
function nameOfDoubtfulCreate({ deleted, exists, nameOnlyByToken, may }: ManagedFacts): Decision | undefined {
  if (deleted && !exists && nameOnlyByToken && may.delete) {
    return decision('create', 'to learn the name of what an interrupted creation made', { calls: ['Create'] })
  }
  return undefined
}

function deleteExternal({ deleted, exists, adopted, may }: ManagedFacts): Decision | undefined {
  if (deleted && exists && adopted)
    return releaseUntouched('it was adopted, and spec.adoptionPolicy does not say to delete it')
  if (deleted && exists && may.delete) return decision('delete', 'the object was deleted', { calls: ['Delete'] })
  return undefined
}

function releaseManaged({ deleted, exists }: ManagedFacts): Decision | undefined {
  if (!deleted) return undefined
  const suppressed: Suppressed[] = exists ? [{ action: 'delete', because: 'the policies do not allow Delete' }] : []
  return decision('release', 'the object was deleted', { suppressed })
}

// The member will be deleted with the aggregate, whose deletion order does not include a new resource.
function abandonedByAggregate({ exists, abandoned }: ManagedFacts): Decision | undefined {
  if (!exists && abandoned) return pending('Waiting to be deleted: the aggregate that it is part of goes away')
  return undefined
}

function createExternal({ exists, may }: ManagedFacts): Decision | undefined {
  if (!exists && may.create) return decision('create', 'the external resource does not exist', { calls: ['Create'] })
  return undefined
}

function absentAndNotOursToCreate({ exists }: ManagedFacts): Decision | undefined {
  if (exists) return undefined
  const suppressed: Suppressed[] = [{ action: 'create', because: 'the policies do not allow Create' }]
  return decision('fail', 'external resource does not exist', { suppressed })
}

/** Handles a resource that exists and is wanted: late-initializes it, updates it, or leaves it unchanged. */
function converge({ lateInitialize, differences, upToDate, may }: ManagedFacts): Decision {
  const suppressed: Suppressed[] = []
  if (lateInitialize && !may.lateInitialize) {
    suppressed.push({ action: 'lateInitialize', because: 'the policies do not allow LateInitialize' })
  }
  if (!upToDate && !may.update) {
    suppressed.push({ action: 'update', because: 'the policies do not allow Update' })
  }
  const calls: MutatingCall[] = !upToDate && may.update ? ['Update'] : []
  return {
    do: 'converge',
    calls,
    because: upToDate ? 'the external resource is as wanted' : 'the external resource differs',
    lateInitialize: lateInitialize && may.lateInitialize,
    differences,
    suppressed,
    announced: false,
  }
}
