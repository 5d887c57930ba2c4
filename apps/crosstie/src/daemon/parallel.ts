/** Returns a function that runs tasks, at most `count` at a time. Others wait in order. */
export function atMost(count: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running === count) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await run()
    } finally {
      // The longest waiter gets the place directly.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

/** Maps items, at most some at a time. Results are in the order of the items. */
export function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const inTurn = atMost(atOnce)
  return Promise.all(items.map((item) => inTurn(() => run(item))))
}
