/** A member of a deleted aggregate, as input for the deletion order. */
export interface DeletedMember {
  readonly id: string
  /** Members that this one refers to. They must exist as long as it does. */
  readonly needs: readonly string[]
  /** Whether the member is kept when the aggregate is deleted. */
  readonly retained: boolean
}

/** The order in which members are deleted. */
export interface Departure {
  /** Members to delete now, concurrently. No remaining member needs them. */
  readonly now: readonly string[]
  /** Members that must wait, and the members that need them. */
  readonly later: readonly { readonly id: string; readonly neededBy: readonly string[] }[]
  readonly kept: readonly string[]
  /** Members that need each other in a cycle. No order is correct for them, so they are deleted together. */
  readonly cycles: readonly (readonly string[])[]
}

/**
 * Determines the members that may be deleted now. A member is deleted after all members that need it. Retained
 * members block no others, since otherwise those would never be deleted.
 */
export function departure(members: readonly DeletedMember[]): Departure {
  const leaving = new Map(members.filter(({ retained }) => !retained).map((member) => [member.id, member]))
  const needs = (id: string) => (leaving.get(id)?.needs ?? []).filter((other) => leaving.has(other))
  const groups = components([...leaving.keys()], needs)
  const groupOf = new Map(groups.flatMap((group, index) => group.map((id) => [id, index] as const)))
  const neededBy = new Map<string, string[]>()
  for (const id of leaving.keys()) {
    for (const other of needs(id)) {
      if (groupOf.get(other) === groupOf.get(id)) continue
      const held = neededBy.get(other)
      if (held) held.push(id)
      else neededBy.set(other, [id])
    }
  }
  const isFree = (group: readonly string[]) => group.every((id) => !neededBy.has(id))
  const held = groups.filter((group) => !isFree(group)).flat()
  return {
    now: groups.filter(isFree).flat(),
    later: held.map((id) => ({ id, neededBy: neededBy.get(id) ?? [] })),
    kept: members.filter(({ retained }) => retained).map(({ id }) => id),
    cycles: groups.filter((group) => group.length > 1),
  }
}

/** Returns the cycles of members that need each other before they can be created, so that none ever is. */
export function cyclesOf(members: readonly Pick<DeletedMember, 'id' | 'needs'>[]): readonly (readonly string[])[] {
  const byId = new Map(members.map((member) => [member.id, member]))
  const needs = (id: string) => byId.get(id)!.needs.filter((other) => byId.has(other))
  return components([...byId.keys()], needs).filter(([id, ...more]) => more.length > 0 || needs(id!).includes(id!))
}

/**
 * Returns the strongly connected components; most have one element. The algorithm is iterative, since chains may be
 * long.
 */
function components(ids: readonly string[], next: (id: string) => readonly string[]): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const found: string[][] = []
  const visit = (id: string) => {
    index.set(id, index.size)
    low.set(id, index.get(id)!)
    open.push(id)
    isOpen.add(id)
    return { id, rest: next(id).values() }
  }
  const lower = (id: string, to: number) => low.set(id, Math.min(low.get(id)!, to))
  const close = (id: string) => {
    if (low.get(id) !== index.get(id)) return
    const group = open.splice(open.lastIndexOf(id))
    for (const member of group) isOpen.delete(member)
    found.push(group.sort())
  }
  for (const start of ids) {
    if (index.has(start)) continue
    const path = [visit(start)]
    while (path.length > 0) {
      const top = path.at(-1)!
      const { value: other, done } = top.rest.next()
      if (done) {
        path.pop()
        close(top.id)
        const above = path.at(-1)
        if (above) lower(above.id, low.get(top.id)!)
      } else if (!index.has(other)) path.push(visit(other))
      else if (isOpen.has(other)) lower(top.id, index.get(other)!)
    }
  }
  return found
}
