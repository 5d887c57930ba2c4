/** An integer of this many digits may be more than a double holds. */
const LONG_INTEGER = /\d{16}/
/** Strings and numbers, each whole: digits inside of a string or behind a point are no integer. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const INTEGER = /^-?\d{16,}$/

/** JSON that the store wrote; integers beyond 2^53 come back as the bigints that they were. */
export function parseJson(text: string): unknown {
  return LONG_INTEGER.test(text) ? parseWithBigInts(text) : JSON.parse(text)
}

function parseWithBigInts(text: string): unknown {
  let mark = '\u0001'
  while (text.includes(JSON.stringify(mark).slice(1, -1))) mark += '\u0001'
  let found = false
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (!INTEGER.test(token) || Number.isSafeInteger(Number(token))) return token
    found = true
    return JSON.stringify(`${mark}${token}`)
  })
  if (!found) return JSON.parse(text)
  const revive = (_key: string, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
  return JSON.parse(marked, revive)
}
