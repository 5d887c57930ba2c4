import { createHash } from 'node:crypto'

/** The maximum length. It leaves room for prefixes and suffixes. */
const LONGEST = 200

/**
 * Converts a text to a valid object name: lowercase letters, digits, dashes and dots. The result is empty if no
 * character is valid.
 */
export function readable(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/[-.]*\.[-.]*/g, '.')
    .replace(/^[-.]+/, '')
    .slice(0, LONGEST)
    .replace(/[-.]+$/, '')
}

/** Returns a deterministic suffix of six characters that distinguishes texts with the same readable name. */
export function mark(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 6)
}

/**
 * Converts a text to an object name. A suffix is added if the conversion lost information, so different texts have
 * different names.
 */
export function nameFor(text: string): string {
  const name = readable(text)
  return name === text ? name : [name, mark(text)].filter(Boolean).join('-')
}
