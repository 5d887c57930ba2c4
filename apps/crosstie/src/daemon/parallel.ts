/** Runs what it is given, so many at a time; the others wait their turn. */
export function atMost(count: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running === count) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await run()
    } finally {
      // Whoever waits longest gets the place; it is never free in between.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

/** Some at a time, in order as far as results go. */
export function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const inTurn = atMost(atOnce)
  return Promise.all(items.map((item) => inTurn(() => run(item))))
}
