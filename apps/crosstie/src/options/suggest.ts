/** The maximum share of letters that may differ from a suggestion. */
const CLOSE = 1 / 3

/** Returns the closest word, or undefined if none is close. */
export function closest(word: string, among: Iterable<string>): string | undefined {
  const asked = word.toLowerCase()
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const each of among) {
    const distance = distanceBetween(asked, each.toLowerCase())
    const close = distance <= Math.max(1, Math.floor(Math.max(asked.length, each.length) * CLOSE))
    if (close && (!best || distance < best.distance)) best = { word: each, distance }
  }
  return best?.word
}

/** Returns ` Did you mean 'get'?`, or an empty text. Appended to a sentence. */
export function didYouMean(word: string, among: Iterable<string>): string {
  const meant = closest(word, among)
  return meant === undefined ? '' : ` Did you mean '${meant}'?`
}

/** Returns the edit distance: letters that are added, removed, changed or swapped with their neighbor. */
function distanceBetween(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = above
    above = row
  }
  return above[b.length]!
}
