/** Returns the length in characters, not in UTF-16 units. */
export function runeCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    if (isPairAt(text, i)) {
      count--
      i++
    }
  }
  return count
}

/** Returns the length in bytes of UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (isPairAt(text, i)) {
      bytes += 2 // A surrogate pair takes two units and four bytes.
      i++
    } else bytes += 2
  }
  return bytes
}

function isPairAt(text: string, i: number): boolean {
  const unit = text.charCodeAt(i)
  if (unit < 0xd800 || unit >= 0xdc00) return false
  const next = text.charCodeAt(i + 1)
  return next >= 0xdc00 && next < 0xe000
}
