/** A number from 0 up to 2^32 that depends on every character. The same in every process and version: leases rest on it. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // Names often differ in the last character only; this spreads that over all bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Who of all has the shard: each gets about as many, and when one comes or goes only its own move. */
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
