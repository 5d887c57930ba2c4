import type { ObjectKey } from '@crosstie/kube'

/** The obstacle of an object that waits: the reservation, and the object that has what it wants. */
export interface HeldUp {
  readonly key: ObjectKey
  readonly reservation: string
  readonly owner: string | undefined
}

/** The knowledge of this process about reservations of external names. Nothing of it is needed: it saves reads. */
export class ReservationMemory {
  readonly #owners = new Map<string, string>()
  readonly #reservations = new Map<string, string>()
  /** Objects that another object keeps from managing what they name, by uid. */
  readonly heldUp = new Map<string, HeldUp>()
  /** Ownership tags that belong to no live object, by the uid of the object that saw them. */
  readonly strangers = new Map<string, string>()

  /** Is the object known to hold the reservation? */
  holds(reservation: string, uid: string): boolean {
    return this.#owners.get(reservation) === uid
  }

  hold(reservation: string, uid: string): void {
    this.lose(this.#reservations.get(uid) ?? '')
    this.#owners.set(reservation, uid)
    this.#reservations.set(uid, reservation)
  }

  /** Forgets who holds a reservation. True when that was known. */
  lose(reservation: string): boolean {
    const owner = this.#owners.get(reservation)
    if (owner === undefined) return false
    this.#reservations.delete(owner)
    return this.#owners.delete(reservation)
  }

  /** Forgets an object. */
  forget(uid: string): void {
    this.lose(this.#reservations.get(uid) ?? '')
    this.heldUp.delete(uid)
    this.strangers.delete(uid)
  }
}
