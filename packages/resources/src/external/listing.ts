import type { Clock } from '@crosstie/kube'
import type { Listed } from '../definition/external.js'

/** The number of objects from which one list call is cheaper than single observations. */
const WORTH_IT = 3

/**
 * Observes many external resources with one list call. The result may be slightly stale. It is sufficient to
 * confirm that a resource is in sync, but not to act on.
 */
export class Listing {
  readonly #clock: Clock
  readonly #freshMilliseconds: number
  readonly #pages = new Map<string, Page>()
  readonly #askers = new Map<string, Set<string>>()

  constructor(clock: Clock, freshSeconds: number) {
    this.#clock = clock
    this.#freshMilliseconds = freshSeconds * 1000
  }

  /** Registers an object whose resource is on this list. */
  expect(place: string, asker: string): void {
    let askers = this.#askers.get(place)
    if (!askers) {
      askers = new Set()
      this.#askers.set(place, askers)
    }
    askers.add(asker)
  }

  /**
   * Returns the resource with this name from a list that started at `since` or later. Undefined if the resource is
   * not on the list, or if there are too few objects for a list call.
   */
  async find(
    place: string,
    externalName: string,
    since: number,
    list: () => Promise<readonly Listed[]>,
  ): Promise<Listed | undefined> {
    if ((this.#askers.get(place)?.size ?? 0) < WORTH_IT) return undefined
    const now = this.#clock.now()
    let page = this.#pages.get(place)
    // A start time in the future was recorded before the clock was set back.
    const old = !page || Math.abs(now - page.begun) > this.#freshMilliseconds
    if (!page || old || page.begun < since) {
      const found = list().then((items) => new Map(items.map((item) => [item.externalName ?? '', item])))
      page = { begun: now, found }
      this.#pages.set(place, page)
      found.catch(() => this.#pages.delete(place))
    }
    return (await page.found).get(externalName)
  }

  /** The number of registered objects on all lists. */
  get size(): number {
    return [...this.#askers.values()].reduce((sum, askers) => sum + askers.size, 0)
  }

  forget(asker: string): void {
    for (const [place, askers] of this.#askers) {
      askers.delete(asker)
      if (askers.size > 0) continue
      this.#askers.delete(place)
      this.#pages.delete(place)
    }
  }
}

interface Page {
  readonly begun: number
  readonly found: Promise<ReadonlyMap<string, Listed>>
}
