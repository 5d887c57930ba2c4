// A ratchet: counts that may only go down. The file holds the allowed count of each rule for each folder.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Compares counts with those allowed in `file`. Returns one message for each
 * count that went up. Prints a note when the allowed counts can be lowered.
 *
 * @param {string} file the JSON file with the allowed counts
 * @param {Record<string, Record<string, number>>} counts by rule, then by folder; zeros are left out
 * @param {(rule: string, folder: string) => string} advice what to do about a count that went up
 * @param {string} command how to lower the allowed counts
 */
export function ratchetComplaints(file, counts, advice, command) {
  const allowed = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const complaints = []
  let lower = false
  for (const rule of new Set([...Object.keys(allowed), ...Object.keys(counts)])) {
    for (const folder of new Set([...Object.keys(allowed[rule] ?? {}), ...Object.keys(counts[rule] ?? {})])) {
      const [was, is] = [allowed[rule]?.[folder] ?? 0, counts[rule]?.[folder] ?? 0]
      if (is > was) complaints.push(`${folder}: ${is} of '${rule}', ${was} allowed. ${advice(rule, folder)}`)
      if (is < was) lower = true
    }
  }
  if (lower && complaints.length === 0) console.log(`${file}: counts went down. Run ${command} and commit the file`)
  return complaints
}

/** Lowers the allowed counts to the current ones. Never raises one, except for a file that does not exist yet. */
export function lowerRatchet(file, counts) {
  const exists = existsSync(file)
  const allowed = exists ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const next = {}
  for (const rule of Object.keys(counts).sort()) {
    const folders = Object.entries(counts[rule])
      .map(([folder, count]) => [folder, exists ? Math.min(count, allowed[rule]?.[folder] ?? 0) : count])
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    if (folders.length > 0) next[rule] = Object.fromEntries(folders)
  }
  writeFileSync(file, `${JSON.stringify(next, null, 2)}\n`)
}

/** Adds one to the count of a rule in a folder. */
export function count(counts, rule, folder, times = 1) {
  counts[rule] ??= {}
  counts[rule][folder] = (counts[rule][folder] ?? 0) + times
}
