/**
 * Appends items to an array. `target.push(...items)` passes every item as an argument and throws a RangeError if a
 * client sent more items than fit on the stack.
 */
export function append<T>(target: T[], items: readonly T[]): void {
  for (const item of items) target.push(item)
}
