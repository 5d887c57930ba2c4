import type { Clock } from '@crosstie/kube'
import type { Listed } from '../definition/external.js'

/** From how many objects on one list call is cheaper than looking at each. */
const WORTH_IT = 3

/**
 * Observes many external resources by one list call. What it tells may be a
 * little old: good enough to see that all is well, never to act on.
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

  /** One more object has its resource on this list. */
  expect(place: string, asker: string): void {
    let askers = this.#askers.get(place)
    if (!askers) {
      askers = new Set()
      this.#askers.set(place, askers)
    }
    askers.add(asker)
  }

  /**
   * The resource of this name as last listed, after `since` at the earliest;
   * undefined when it was not on the list or a list is not worth it.
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
    // One from the future was made before the clock was set back.
    const old = !page || Math.abs(now - page.begun) > this.#freshMilliseconds
    if (!page || old || page.begun < since) {
      const found = list().then((items) => new Map(items.map((item) => [item.externalName ?? '', item])))
      page = { begun: now, found }
      this.#pages.set(place, page)
      found.catch(() => this.#pages.delete(place))
    }
    return (await page.found).get(externalName)
  }

  /** How many objects are expected on all lists together. */
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
