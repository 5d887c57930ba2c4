import { RE2JS } from 're2js'
import { fail } from './values.js'

/** A compiled RE2 pattern. */
export interface Regex {
  /** Whether the pattern occurs anywhere in the text. */
  test(text: string): boolean
  /** The first match, or undefined. */
  find(text: string): string | undefined
  /** Up to `limit` matches, all if negative. */
  findAll(text: string, limit: number): string[]
}

const cache = new Map<string, Regex>()
const cacheMax = 1000

/** Compiles a pattern, once. A bad pattern is an error of evaluation, worded as Go words it. */
export function compileRegex(pattern: string): Regex {
  let regex = cache.get(pattern)
  if (!regex) {
    if (cache.size >= cacheMax) cache.clear()
    regex = compile(pattern)
    cache.set(pattern, regex)
  }
  return regex
}

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
