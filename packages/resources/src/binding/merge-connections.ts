/** What one part of an aggregate publishes. */
export interface Published {
  /** How people are told of the part. */
  readonly by: string
  /** Put before each of its keys. */
  readonly prefix: string
  readonly data: Readonly<Record<string, string>>
}

export interface Merged {
  readonly data: Readonly<Record<string, string>>
  /** Keys that parts publish different values for, with whose is used and whose are not. */
  readonly conflicts: readonly { readonly key: string; readonly used: string; readonly unused: readonly string[] }[]
}

/**
 * The keys of all parts together (AGG7). Where several publish one key the
 * first part wins: the parts come in an order that does not depend on chance.
 */
export function mergeConnections(members: readonly Published[]): Merged {
  const publishers = new Map<string, { readonly value: string; readonly by: string[] }>()
  for (const { by, prefix, data } of members) {
    for (const [name, value] of Object.entries(data)) {
      const held = publishers.get(prefix + name)
      // What all say alike leaves nothing to choose.
      if (held && held.value !== value) held.by.push(by)
      else if (held) continue
      else publishers.set(prefix + name, { value, by: [by] })
    }
  }
  const keys = [...publishers].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    data: Object.fromEntries(keys.map(([key, { value }]) => [key, value])),
    conflicts: keys
      .filter(([, { by }]) => by.length > 1)
      .map(
        ([
          key,
          {
            by: [used, ...unused],
          },
        ]) => ({ key, used: used!, unused }),
      ),
  }
}
