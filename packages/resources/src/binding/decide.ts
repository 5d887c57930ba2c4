/** All that a decision about a claim may depend on. Gathered before, so deciding needs no I/O. */
export interface ClaimFacts {
  readonly deleted: boolean
  /** Does it name what it is bound to, or is to be bound to? */
  readonly named: boolean
  /** Did we choose that name, for something to be provisioned? */
  readonly ownName: boolean
  /** Was the uid of what it is bound to noted? */
  readonly noted: boolean
  /** Does the claim hold our finalizer? Nothing is made or bound before it does. */
  readonly kept: boolean
  /** What has the name now. */
  readonly bindable: BindableFacts | undefined
}

export interface BindableFacts {
  /** Who it is bound to; a part of an aggregate is never for a claim. */
  readonly holder: 'nobody' | 'this claim' | 'another claim' | 'an aggregate'
  /** Is it the one whose uid was noted? True when none was. */
  readonly same: boolean
  /** Made for this claim, but nobody acts on it yet. */
  readonly provisioning: boolean
  readonly deleted: boolean
  readonly reclaim: 'Delete' | 'Retain'
}

export type ClaimDecision =
  | { readonly do: ClaimAction }
  /** `because` is read as `waiting for <offer> <because>`. */
  | { readonly do: 'wait' | 'lose'; readonly because: string }

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

/** The life of a claim. The first rule that speaks wins. */
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

// What nobody ever acted on is not worth keeping: it stands for nothing.
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

// Data may be lost with it: to quietly provide an empty replacement would hide that.
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

// The claim knows the uid by now and holds our finalizer: whoever deletes it will find what is made from here on.
function activateProvisioned({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.provisioning && !bindable.deleted) return { do: 'activate' }
  return undefined
}

function waitForLeaving({ bindable }: ClaimFacts): ClaimDecision | undefined {
  if (bindable?.deleted) return { do: 'wait', because: 'which is being deleted' }
  return undefined
}
