/** A tag in the format of most services. */
export interface Tag {
  readonly Key?: string | undefined
  readonly Value?: string | undefined
}

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>

/** Converts a list of tags to a map. */
export function tagsOf(list: readonly Tag[] | undefined): Tags {
  return Object.fromEntries((list ?? []).map(({ Key, Value }) => [Key ?? '', Value ?? '']))
}

/** Converts a map of tags to a list. */
export function tagList(tags: Tags): { Key: string; Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
}

/** Returns the tags to set and to remove, or undefined if nothing changes. */
export function tagChanges(update: {
  readonly changed: { readonly tags?: Readonly<Record<string, string | undefined>> | undefined }
  readonly removed: Readonly<Record<string, readonly string[]>>
}): { readonly set: Tags; readonly unset: readonly string[] } | undefined {
  const set = (update.changed.tags ?? {}) as Tags
  const unset = update.removed['tags'] ?? []
  return Object.keys(set).length > 0 || unset.length > 0 ? { set, unset } : undefined
}
