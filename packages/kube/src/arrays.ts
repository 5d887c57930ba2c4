/**
 * Adds the items to the end of an array. `target.push(...items)` passes every item as an argument, and throws a
 * RangeError when a client sent more of them than fit on the stack.
 */
export function append<T>(target: T[], items: readonly T[]): void {
  for (const item of items) target.push(item)
}
