import { createHash } from 'node:crypto'

/** The characters that generateName of the API server uses: without vowels and look-alikes. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const RANDOM_LENGTH = 5
/** The maximum length of a label value. Generated names are limited to it, so that they can be label values. */
const LABEL_MAX = 63

/** Returns the text as a label value. A text that is too long is truncated and gets a suffix derived from all of it. */
export function labelValue(text: string): string {
  return text.length <= LABEL_MAX ? text : withSuffix(text, createHash('sha256').update(text).digest())
}

/** Appends five characters derived from the digest, and truncates the prefix so that the result fits a label. */
export function withSuffix(prefix: string, digest: Buffer): string {
  let random = ''
  for (let i = 0; i < RANDOM_LENGTH; i++) random += LETTERS[digest.readUInt32BE(i * 4) % LETTERS.length]
  return `${prefix.slice(0, LABEL_MAX - RANDOM_LENGTH - 1).replace(/[-.]+$/, '')}-${random}`
}
