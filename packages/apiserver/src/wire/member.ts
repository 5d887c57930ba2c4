const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA] = Buffer.from('"\\{}[],')

/** Returns the start and end of the JSON of one member. The JSON of the object must have no spaces. */
export function memberOf(json: Buffer, quotedName: Buffer): readonly [number, number] | undefined {
  let at = 1
  while (at < json.length && json[at] === QUOTE) {
    const key = at
    const value = afterString(json, at) + 1
    at = afterValue(json, value)
    const length = value - 1 - key
    if (length === quotedName.length && json.compare(quotedName, 0, length, key, value - 1) === 0) return [value, at]
    at++ // The comma, or the end.
  }
  return undefined
}

/** @param at The position of the opening quote. */
function afterString(json: Uint8Array, at: number): number {
  let i = at + 1
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1
  return i + 1
}

function afterValue(json: Uint8Array, at: number): number {
  let depth = 0
  let i = at
  while (i < json.length) {
    const byte = json[i]
    if (byte === QUOTE) {
      i = afterString(json, i)
      if (depth === 0) return i
      continue
    }
    if (byte === OPEN || byte === OPEN_LIST) depth++
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return i // The end of the enclosing value.
      if (--depth === 0) return i + 1
    } else if (byte === COMMA && depth === 0) return i
    i++
  }
  return i
}
