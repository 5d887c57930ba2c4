/** Ranges of IPv4 addresses. Ranges of IPv6 addresses are not compared. */

function range(cidr: string): readonly [number, number] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr)
  if (!match) return undefined
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = match.slice(1).map(Number)
  const first = ((a * 256 + b) * 256 + c) * 256 + d
  const size = 2 ** (32 - bits)
  const start = Math.floor(first / size) * size
  return [start, start + size - 1]
}

export function contains(outer: string, inner: string): boolean {
  const [big, small] = [range(outer), range(inner)]
  return !big || !small || (big[0] <= small[0] && small[1] <= big[1])
}

export function overlaps(one: string, other: string): boolean {
  const [a, b] = [range(one), range(other)]
  return a !== undefined && b !== undefined && a[0] <= b[1] && b[0] <= a[1]
}
