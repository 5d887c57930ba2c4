import type { ObjectKey } from '@crosstie/kube'

/** An object that waits, with the reservation and the owner that it waits for. */
export interface HeldUp {
  readonly key: ObjectKey
  readonly reservation: string
  readonly owner: string | undefined
}

/** A cache of reservations of external names. It only saves reads and may be lost at any time. */
export class ReservationMemory {
  readonly #owners = new Map<string, string>()
  readonly #reservations = new Map<string, string>()
  /** Objects that wait because another object manages the resource that they name, by uid. */
  readonly heldUp = new Map<string, HeldUp>()
  /** Ownership tags that belong to no live object, by the uid of the object that observed them. */
  readonly strangers = new Map<string, string>()

  /** Reports whether the object is known to hold the reservation. */
  holds(reservation: string, uid: string): boolean {
    return this.#owners.get(reservation) === uid
  }

  hold(reservation: string, uid: string): void {
    this.lose(this.#reservations.get(uid) ?? '')
    this.#owners.set(reservation, uid)
    this.#reservations.set(uid, reservation)
  }

  /** Forgets the holder of a reservation. Returns whether it was known. */
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
