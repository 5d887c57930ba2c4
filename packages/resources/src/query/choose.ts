import type { ManagedKind } from '../definition/managed.js'
import { QUERY_LIMIT, QUERY_LIMIT_MAX } from '../definition/query.js'
import { expressionFilter, type Filter, fieldFilter } from './filter.js'
import type { NamedResource } from './list-external.js'
import type { QuerySpec } from './runtime.js'

/** The result of a query. */
export interface Chosen {
  /** The number of all matches, including those beyond the limit. */
  readonly count: number
  /** The matches to own, sorted by external name. */
  readonly matches: readonly NamedResource[]
  readonly truncated: boolean
  /** A message about problems of the filter. */
  readonly note: string
}

/** Returns the external resources that match a query. Throws FilterError if the filter is invalid. */
export function choose(
  kind: ManagedKind,
  { filter = {}, limit = QUERY_LIMIT }: QuerySpec,
  all: readonly NamedResource[],
): Chosen {
  const fields = Object.entries(filter.matchFields ?? {}).map(([path, wanted]) => fieldFilter(kind, path, wanted))
  const expression = filter.expression ? expressionFilter(filter.expression) : undefined
  const failures: string[] = []
  const says: Filter = (found) => {
    const judged = expression?.(found)
    if (judged && 'error' in judged) failures.push(`${found.externalName}: ${judged.error}`)
    return !judged || ('matches' in judged && judged.matches)
  }
  const found = all.filter((each) => fields.every((matches) => matches(each)) && says(each))
  const most = Math.min(limit, QUERY_LIMIT_MAX)
  return { count: found.length, matches: found.slice(0, most), truncated: found.length > most, note: noteOf(failures) }
}

/**
 * Returns a message about failures of the expression. It fails on resources that lack a field, which may be
 * intended. Such resources do not match.
 */
function noteOf(failures: readonly string[]): string {
  if (failures.length === 0) return ''
  return `the expression could not be answered for ${failures.length}, which do not match, such as ${failures[0]}`
}
