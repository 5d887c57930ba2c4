/** A value that a service chooses once for a resource, such as a generated id. */
export function fact(facts: Record<string, string>, name: string, choose: () => string): string {
  const held = facts[name] ?? choose()
  facts[name] = held
  return held
}
