import type { Difference } from '../definition/external.js'
import type { Action } from './policy/policy.js'

/** All that a decision may depend on. Gathered before, so that deciding needs no I/O. */
export interface ManagedFacts {
  readonly deleted: boolean
  /** Somebody else's finalizer is on the object, and there is something left for us to do. */
  readonly otherFinalizers: boolean
  /** The object has an external resource, but its name was lost or changed and the resource cannot be identified. */
  readonly nameUnknown: boolean
  readonly exists: boolean
  /** Made so recently that the provider may not show it yet. */
  readonly createdRecently: boolean
  /** A create was begun whose end nobody saw, and looking may not have found what it made yet. */
  readonly createInDoubt: boolean
  /** The external resource cannot be found by looking, but a create with the same token tells its name. */
  readonly nameOnlyByToken: boolean
  /** The aggregate that it was made for is going away, or gone. */
  readonly abandoned: boolean
  /** There is something to fill in that the user left open. */
  readonly lateInitialize: boolean
  /** Where spec and external resource differ, without what the user told us to ignore. */
  readonly differences: readonly Difference[]
  /** False when the kind says so by itself, with or without differences. */
  readonly upToDate: boolean
  readonly may: Readonly<Record<Action, boolean>>
  /** Nothing but looking is allowed. */
  readonly onlyObserve: boolean
  /** It exists, this object did not create it, and may not adopt it: nothing is done to it. Says why. */
  readonly foreign?: string | undefined
  /** It exists, this object adopted it, and must leave it behind. */
  readonly adopted?: boolean
}

/** Something that would be done if the policies allowed it. */
export interface Suppressed {
  readonly action: Action
  readonly because: string
}

export type MutatingCall = 'Create' | 'Update' | 'Delete'

export interface Decision {
  readonly do: 'create' | 'delete' | 'release' | 'wait' | 'fail' | 'stop' | 'refuse' | 'converge'
  /** The external calls that follow, in order. */
  readonly calls: readonly MutatingCall[]
  readonly because: string
  readonly lateInitialize: boolean
  /** Corrected by the Update call, if there is one. */
  readonly differences: readonly Difference[]
  readonly suppressed: readonly Suppressed[]
  /** Waiting of which people are told; that others hold the object is theirs to tell. */
  readonly announced: boolean
}

type Rule = (facts: ManagedFacts) => Decision | undefined

/** The life of a managed resource. The first rule that speaks wins. */
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

// Every action on a resource of another name could touch a resource of another owner, and a create would be a second one.
function unknownName({ nameUnknown }: ManagedFacts): Decision | undefined {
  if (nameUnknown) return decision('stop', 'the name of the external resource was lost')
  return undefined
}

// Whoever may only look never made it, so there is nothing to wait for.
function absentUnderObserveOnly(facts: ManagedFacts): Decision | undefined {
  if (facts.onlyObserve && !facts.deleted) return absentAndNotOursToCreate(facts)
  return undefined
}

// Many cloud APIs are eventually consistent: a resource made a second ago may
// not be listed yet. Taking that for absence would make it twice, or let go of
// what is there: a delete that found nothing may have asked too early.
function createdMomentsAgo({ deleted, exists, createdRecently }: ManagedFacts): Decision | undefined {
  if (exists || !createdRecently) return undefined
  if (!deleted) return pending('Waiting for external resource existence to be confirmed')
  return pending('Waiting to be sure that it is gone: made moments ago, it may only not be shown yet')
}

// The same for a create that was cut off: what it made may yet show up.
function createInDoubt({ exists, createInDoubt }: ManagedFacts): Decision | undefined {
  if (!exists && createInDoubt) return pending('Waiting to see whether an interrupted creation took effect')
  return undefined
}

function heldByOthers({ deleted, otherFinalizers }: ManagedFacts): Decision | undefined {
  if (deleted && otherFinalizers) return decision('wait', 'another controller still holds the object')
  return undefined
}

// A claim may name anything. It gets what was created for it, and nothing else is touched (XN3).
function foreignResource({ deleted, foreign }: ManagedFacts): Decision | undefined {
  if (foreign === undefined) return undefined
  return deleted ? releaseUntouched('this object did not create it') : refusal(foreign)
}

/** Nothing is done: the external name is taken. */
export const refusal = (because: string): Decision => decision('refuse', because)

/** The object goes, and the external resource stays as it is. */
export const releaseUntouched = (because: string): Decision =>
  decision('release', 'the object was deleted', { suppressed: [{ action: 'delete', because }] })

// Nobody knows how the provider calls what an interrupted create made. Asking
// again with the same token tells; letting go without asking would leak it.
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

// It will be deleted with the rest of it, and in which order was settled without it.
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

/** It exists and is wanted: fill in, correct, or leave it. */
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
