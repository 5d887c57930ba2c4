/** An item of a TimeHeap. It stores its own index, so that it can be removed from the middle. */
export interface Timed {
  due: number
  /** The index in the heap; -1 outside of a heap. */
  heapIndex: number
}

/** A min-heap by due time. All operations, including removal from the middle, take logarithmic time. */
export class TimeHeap<T extends Timed> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  first(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    item.heapIndex = this.#items.length
    this.#items.push(item)
    this.#up(item)
  }

  remove(item: T): void {
    const at = item.heapIndex
    if (at < 0) return
    const last = this.#items.pop()!
    item.heapIndex = -1
    if (last === item) return
    this.#items[at] = last
    last.heapIndex = at
    this.#up(last)
    this.#down(last)
  }

  #up(item: T): void {
    let at = item.heapIndex
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = this.#items[above]!
      if (parent.due <= item.due) break
      this.#items[at] = parent
      parent.heapIndex = at
      at = above
    }
    this.#items[at] = item
    item.heapIndex = at
  }

  #down(item: T): void {
    let at = item.heapIndex
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#items.length) break
      if (below + 1 < this.#items.length && this.#items[below + 1]!.due < this.#items[below]!.due) below++
      const child = this.#items[below]!
      if (child.due >= item.due) break
      this.#items[at] = child
      child.heapIndex = at
      at = below
    }
    this.#items[at] = item
    item.heapIndex = at
  }
}
