import { RE2JS } from 're2js'
import { fail } from './values.js'

/** A compiled RE2 pattern. */
export interface Regex {
  /** Reports whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Returns the first match, or undefined. */
  find(text: string): string | undefined
  /** Returns up to `limit` matches, or all if the limit is negative. */
  findAll(text: string, limit: number): string[]
}

const cache = new Map<string, Regex>()
const cacheMax = 1000

/**
 * Compiles a pattern and caches the result. Fails with an evaluation error in the words of Go if the pattern is not
 * valid.
 */
export function compileRegex(pattern: string): Regex {
  let regex = cache.get(pattern)
  if (!regex) {
    if (cache.size >= cacheMax) cache.clear()
    regex = compile(pattern)
    cache.set(pattern, regex)
  }
  return regex
}

/** Reports whether a text is a valid RE2 pattern. */
export function isRegex(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}

function compile(pattern: string): Regex {
  let re: RE2JS
  try {
    re = RE2JS.compile(pattern)
  } catch (error) {
    return fail((error as Error).message)
  }
  return {
    test: (text) => re.test(text),
    find: (text) => {
      const matcher = re.matcher(text)
      return matcher.find() ? (matcher.group() ?? '') : undefined
    },
    findAll: (text, limit) => {
      const found: string[] = []
      const matcher = re.matcher(text)
      while (found.length !== limit && matcher.find()) found.push(matcher.group() ?? '')
      return found
    },
  }
}
