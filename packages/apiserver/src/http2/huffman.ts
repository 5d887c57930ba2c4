/**
 * The code that header strings are packed with (RFC 7541, appendix B). It is canonical: how long the code of each byte is
 * tells all of it.
 */
const lengths = `
  13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28
  6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10
  13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6
  15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
  20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24
  22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23
  26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27
  20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26`
  .trim()
  .split(/\s+/)
  .map(Number)

/** A binary tree: below node n stand at 2n and 2n+1 a further node, or a byte as its complement, or nothing: 0. */
const tree = treeOf(lengths)

function treeOf(lengths: readonly number[]): Int16Array {
  const tree = new Int16Array(1024)
  let nodes = 1
  const plant = (code: number, length: number, byte: number) => {
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1)
      if (tree[at] === 0) tree[at] = nodes++
      node = tree[at]!
    }
    tree[2 * node + (code & 1)] = ~byte
  }
  const bytes = [...lengths.keys()].sort((a, b) => lengths[a]! - lengths[b]! || a - b)
  let code = 0
  let length = 0
  for (const byte of bytes) {
    code <<= lengths[byte]! - length
    length = lengths[byte]!
    plant(code, length, byte)
    code++
  }
  return tree
}

const PADDING_BITS_MAX = 7

/** Undefined when it is not such a code. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  // The shortest code has five bits.
  const text = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / 5))
  let size = 0
  let node = 0
  let since = 0
  let ones = true
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    for (let bit = 7; bit >= 0; bit--) {
      const one = (byte >>> bit) & 1
      const next = tree[2 * node + one]!
      if (next > 0) {
        node = next
        since++
        if (one === 0) ones = false
      } else if (next < 0) {
        text[size++] = ~next
        node = 0
        since = 0
        ones = true
      } else return undefined // The mark of the end has no place in a string.
    }
  }
  if (since > PADDING_BITS_MAX || !ones) return undefined
  return text.toString('latin1', 0, size)
}
