/** The connection details of one member of an aggregate. */
export interface Published {
  /** The description of the member in messages. */
  readonly by: string
  /** A prefix for each of its keys. */
  readonly prefix: string
  readonly data: Readonly<Record<string, string>>
}

/** The merged connection details of an aggregate. */
export interface Merged {
  readonly data: Readonly<Record<string, string>>
  /** Keys with different values, the member whose value is used, and the members whose values are not. */
  readonly conflicts: readonly { readonly key: string; readonly used: string; readonly unused: readonly string[] }[]
}

/**
 * Merges the keys of all members (AGG7). If several members publish the same key, the first one wins. Members are
 * in a deterministic order.
 */
export function mergeConnections(members: readonly Published[]): Merged {
  const publishers = new Map<string, { readonly value: string; readonly by: string[] }>()
  for (const { by, prefix, data } of members) {
    for (const [name, value] of Object.entries(data)) {
      const held = publishers.get(prefix + name)
      // Equal values do not conflict.
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
