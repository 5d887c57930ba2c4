import { createHash } from 'node:crypto'

/** A name that leaves room for what others add to it. */
const LONGEST = 200

/**
 * The text as an object's name: lower case letters, digits, dashes and dots.
 * Empty when nothing of it can be kept.
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

/** Six letters that tell apart what reads the same: always the same for the same parts. */
export function mark(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 6)
}

/** The text as a name, marked when something of it was lost: two texts have two names. */
export function nameFor(text: string): string {
  const name = readable(text)
  return name === text ? name : [name, mark(text)].filter(Boolean).join('-')
}
