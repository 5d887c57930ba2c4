/**
 * Returns a hash from 0 to 2^32 - 1. It must stay the same across processes and versions, because shards are
 * assigned by it.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // Names often differ only in the last character. This spreads the difference over all bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Assigns a shard to a member by rendezvous hashing: an even distribution, in which a join or leave moves only that
 * member's shards.
 */
export function ownerOf(members: Iterable<string>, shard: number): string | undefined {
  let owner: string | undefined
  let highest = -1
  for (const member of members) {
    const weight = hashText(`${member}\n${shard}`)
    if (weight < highest || (weight === highest && member > owner!)) continue
    highest = weight
    owner = member
  }
  return owner
}
