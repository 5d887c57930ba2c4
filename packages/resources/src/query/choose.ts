import type { ManagedKind } from '../definition/managed.js'
import { QUERY_LIMIT, QUERY_LIMIT_MAX } from '../definition/query.js'
import { expressionFilter, type Filter, fieldFilter } from './filter.js'
import type { NamedResource } from './list-external.js'
import type { QuerySpec } from './runtime.js'

/** What a query found. */
export interface Chosen {
  /** All that match, even those beyond the limit. */
  readonly count: number
  /** Those to own, in the order of their external names. */
  readonly matches: readonly NamedResource[]
  readonly truncated: boolean
  /** What people should know of the filter. */
  readonly note: string
}

/** Of what exists, that which a query asks for. Throws a FilterError when that makes no sense. */
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

/** An expression fails on resources that lack what it asks about. They do not match, and that may be meant. */
function noteOf(failures: readonly string[]): string {
  if (failures.length === 0) return ''
  return `the expression could not be answered for ${failures.length}, which do not match, such as ${failures[0]}`
}
