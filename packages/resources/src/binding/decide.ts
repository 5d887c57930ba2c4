/** The input of `decide`. It is gathered in advance, so that `decide` performs no I/O. */
export interface ClaimFacts {
  readonly deleted: boolean
  /** The claim names the object that it is bound to or will bind to. */
  readonly named: boolean
  /** The control plane generated that name, for an object to provision. */
  readonly ownName: boolean
  /** The claim records the uid of the object that it is bound to. */
  readonly noted: boolean
  /** The claim has our finalizer. No object is created or bound before that. */
  readonly kept: boolean
  /** The object that has this name now. */
  readonly bindable: BindableFacts | undefined
}

/** The state of the object that a claim names. */
export interface BindableFacts {
  /** The owner of the object. A member of an aggregate never binds to a claim. */
  readonly holder: 'nobody' | 'this claim' | 'another claim' | 'an aggregate'
  /** The object has the recorded uid, or no uid is recorded. */
  readonly same: boolean
  /** The object was created for this claim, but its controller does not act on it yet. */
  readonly provisioning: boolean
  readonly deleted: boolean
  readonly reclaim: 'Delete' | 'Retain'
}

/** A decision about a claim. */
export type ClaimDecision =
  | { readonly do: ClaimAction }
  /** The message is `waiting for <object>, <because>` for wait, and `<object> <because>` for lose. */
  | { readonly do: 'wait' | 'lose'; readonly because: string }

/** The actions that need no reason. */
export type ClaimAction =
  | 'choose'
  | 'keep'
  | 'provision'
  | 'rename'
  | 'bind'
  | 'note'
  | 'activate'
  | 'converge'
  | 'release'
  | 'retain'
  | 'reclaim'

type Rule = (facts: ClaimFacts) => ClaimDecision | undefined

/** The lifecycle of a claim. The first rule that returns a decision wins. */
const rules: readonly Rule[] = [
  letGoOfNothing,
  letGoOfRetained,
  reclaimBindable,
  chooseClassAndName,
  lostBindable,
  keepBeforeMaking,
  provisionNamed,
  waitForNamed,
  chooseAnotherName,
  waitForHeld,
  bindFree,
  noteUid,
  activateProvisioned,
  waitForLeaving,
]

/** Decides the next step of a claim. It is a pure function. */
export function decide(facts: ClaimFacts): ClaimDecision {
  for (const rule of rules) {
    const decision = rule(facts)
    if (decision) return decision
  }
  return { do: 'converge' }
}

function letGoOfNothing({ deleted, bindable }: ClaimFacts): ClaimDecision | undefined {
  if (deleted && !(bindable?.holder === 'this claim' && bindable.same)) return { do: 'release' }
  return undefined
}

// An object that is still provisioning has no external resource, so it is not retained.
function letGoOfRetained({ deleted, bindable }: ClaimFacts): ClaimDecision | undefined {
  if (deleted && bindable?.reclaim === 'Retain' && !bindable.provisioning && !bindable.deleted) return { do: 'retain' }
  return undefined
}

function reclaimBindable({ deleted }: ClaimFacts): ClaimDecision | undefined {
  if (deleted) return { do: 'reclaim' }
  return undefined
}

function chooseClassAndName({ named }: ClaimFacts): ClaimDecision | undefined {
  if (!named) return { do: 'choose' }
  return undefined
}

// Data may be lost with the object. Provisioning an empty replacement silently would hide that.
function lostBindable({ noted, bindable }: ClaimFacts): ClaimDecision | undefined {
  if (noted && !bindable) return { do: 'lose', because: 'was deleted' }
  if (noted && !bindable?.same) return { do: 'lose', because: 'was deleted, and another of its name is not the same' }
  return undefined
}

function keepBeforeMaking({ kept }: ClaimFacts): ClaimDecision | undefined {
  if (!kept) return { do: 'keep' }
  return undefined
}

function provisionNamed({ ownName, bindable }: ClaimFacts): ClaimDecision | undefined {
  if (!bindable && ownName) return { do: 'provision' }
  return undefined
}

function waitForNamed({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (!bindable) return { do: 'wait', because: 'which does not exist' }
  return undefined
}

function chooseAnotherName({ ownName, noted, bindable }: ClaimFacts): ClaimDecision | undefined {
  if (ownName && !noted && bindable?.holder !== 'this claim') return { do: 'rename' }
  return undefined
}

function waitForHeld({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.holder === 'an aggregate') return { do: 'wait', because: 'which is part of an aggregate' }
  if (bindable?.holder === 'another claim') return { do: 'wait', because: 'which is bound to another claim' }
  return undefined
}

function bindFree({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.holder !== 'nobody') return undefined
  return bindable.deleted ? { do: 'wait', because: 'which is being deleted' } : { do: 'bind' }
}

function noteUid({ noted }: ClaimFacts): ClaimDecision | undefined {
  if (!noted) return { do: 'note' }
  return undefined
}

// The claim records the uid and has our finalizer, so its deletion finds the external resource created from now on.
function activateProvisioned({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.provisioning && !bindable.deleted) return { do: 'activate' }
  return undefined
}

function waitForLeaving({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.deleted) return { do: 'wait', because: 'which is being deleted' }
  return undefined
}
