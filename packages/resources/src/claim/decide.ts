/** All that a decision about a claim may depend on. Gathered before, so deciding needs no I/O. */
export interface Facts {
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
  readonly offer: OfferFacts | undefined
}

export interface OfferFacts {
  /** Who it is bound to; a part of an aggregate is never for a claim. */
  readonly holder: 'nobody' | 'this claim' | 'another claim' | 'an aggregate'
  /** Is it the one whose uid was noted? True when none was. */
  readonly same: boolean
  /** Made for this claim, but nobody acts on it yet. */
  readonly provisioning: boolean
  readonly deleted: boolean
  readonly reclaim: 'Delete' | 'Retain'
}

export type Decision =
  | { readonly do: Deed }
  /** `because` is read as `waiting for <offer> <because>`. */
  | { readonly do: 'wait' | 'lose'; readonly because: string }

export type Deed =
  | 'choose'
  | 'keep'
  | 'provision'
  | 'rename'
  | 'bind'
  | 'note'
  | 'activate'
  | 'settle'
  | 'release'
  | 'retain'
  | 'reclaim'

type Rule = (facts: Facts) => Decision | undefined

/** The life of a claim. The first rule that speaks wins. */
const rules: readonly Rule[] = [
  letGoOfNothing,
  letGoOfRetained,
  takeOfferAlong,
  chooseClassAndName,
  lostOffer,
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

export function decide(facts: Facts): Decision {
  for (const rule of rules) {
    const decision = rule(facts)
    if (decision) return decision
  }
  return { do: 'settle' }
}

function letGoOfNothing({ deleted, offer }: Facts): Decision | undefined {
  if (deleted && !(offer?.holder === 'this claim' && offer.same)) return { do: 'release' }
  return undefined
}

// What nobody ever acted on is not worth keeping: it stands for nothing.
function letGoOfRetained({ deleted, offer }: Facts): Decision | undefined {
  if (deleted && offer?.reclaim === 'Retain' && !offer.provisioning && !offer.deleted) return { do: 'retain' }
  return undefined
}

function takeOfferAlong({ deleted }: Facts): Decision | undefined {
  if (deleted) return { do: 'reclaim' }
  return undefined
}

function chooseClassAndName({ named }: Facts): Decision | undefined {
  if (!named) return { do: 'choose' }
  return undefined
}

// Data may be lost with it: to quietly provide an empty replacement would hide that.
function lostOffer({ noted, offer }: Facts): Decision | undefined {
  if (noted && !offer) return { do: 'lose', because: 'was deleted' }
  if (noted && !offer?.same) return { do: 'lose', because: 'was deleted, and another of its name is not the same' }
  return undefined
}

function keepBeforeMaking({ kept }: Facts): Decision | undefined {
  if (!kept) return { do: 'keep' }
  return undefined
}

function provisionNamed({ ownName, offer }: Facts): Decision | undefined {
  if (!offer && ownName) return { do: 'provision' }
  return undefined
}

function waitForNamed({ offer }: Facts): Decision | undefined {
  if (!offer) return { do: 'wait', because: 'which does not exist' }
  return undefined
}

function chooseAnotherName({ ownName, noted, offer }: Facts): Decision | undefined {
  if (ownName && !noted && offer?.holder !== 'this claim') return { do: 'rename' }
  return undefined
}

function waitForHeld({ offer }: Facts): Decision | undefined {
  if (offer?.holder === 'an aggregate') return { do: 'wait', because: 'which is part of an aggregate' }
  if (offer?.holder === 'another claim') return { do: 'wait', because: 'which is bound to another claim' }
  return undefined
}

function bindFree({ offer }: Facts): Decision | undefined {
  if (offer?.holder !== 'nobody') return undefined
  return offer.deleted ? { do: 'wait', because: 'which is being deleted' } : { do: 'bind' }
}

function noteUid({ noted }: Facts): Decision | undefined {
  if (!noted) return { do: 'note' }
  return undefined
}

// The claim knows the uid by now and holds our finalizer: whoever deletes it will find what is made from here on.
function activateProvisioned({ offer }: Facts): Decision | undefined {
  if (offer?.provisioning && !offer.deleted) return { do: 'activate' }
  return undefined
}

function waitForLeaving({ offer }: Facts): Decision | undefined {
  if (offer?.deleted) return { do: 'wait', because: 'which is being deleted' }
  return undefined
}
