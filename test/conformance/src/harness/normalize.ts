import type { Loose } from './http.js'

/**
 * Normalizes responses for the comparison of servers or runs. Values that a server chooses (uids, revisions, times,
 * tokens) become symbols, numbered by first appearance, so that equal values in one case remain equal.
 */
export class Normalizer {
  readonly #symbols = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(
    /** The random part of all names in this case. */
    readonly id: string,
    readonly options: { managedFields?: boolean } = {},
  ) {}

  value(value: Loose): Loose {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.value(item))
    if (value === null || typeof value !== 'object') return value
    return this.#object(value)
  }

  text(text: string): string {
    return (
      text
        .replaceAll(this.id, 'ID')
        .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (uid) => this.#symbol('uid', uid))
        .replace(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time, fraction) => timeSymbol(time, fraction))
        .replace(/\bselfType\d+/g, 'selfType')
        // A message that quotes a whole object repeats all variable values.
        .replace(/"\{\\"(apiVersion|kind|metadata)\\".*?\}"(?=: )/gs, '"OBJECT"')
        .replace(/\bhttps:\/\/127\.0\.0\.1:\d+/g, 'https://HOST')
        .replace(/\b127\.0\.0\.1:\d+/g, 'HOST')
    )
  }

  #object(given: Record<string, Loose>): Record<string, Loose> {
    const value = sortCauses(given)
    const isList = 'items' in value || value['kind'] === 'Table'
    const out: Record<string, Loose> = {}
    for (const [key, field] of Object.entries(value)) {
      if (key === 'managedFields' && !this.options.managedFields) continue
      if (key === 'managedFields' && Array.isArray(field)) out[key] = byManager(field).map((entry) => this.value(entry))
      else if (key === 'metadata' && isList && field) out[key] = this.#listMeta(field)
      else if (key === 'columnDefinitions' && Array.isArray(field))
        out[key] = field.map((column: Loose) => this.value(withoutDocumentation(column)))
      else if (key === 'cells' && Array.isArray(field)) out[key] = this.value(field.map(withoutAge))
      else if (key === 'resourceVersion' && typeof field === 'string') out[key] = this.#revision(field)
      else out[this.text(key)] = this.value(field)
    }
    return out
  }

  /** Removes the revision of a list, which changes with other writes on the server. */
  #listMeta(meta: Record<string, Loose>): Record<string, Loose> {
    const { resourceVersion: _, ...rest } = meta
    const out = this.value(rest)
    if (meta['resourceVersion']) out.resourceVersion = 'REVISION'
    if (meta['continue']) out.continue = 'CONTINUE'
    return out
  }

  #revision(text: string): string {
    return /^[1-9]\d*$/.test(text) ? this.#symbol('rv', text) : text
  }

  #symbol(kind: string, text: string): string {
    const key = `${kind}:${text}`
    const known = this.#symbols.get(key)
    if (known) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const symbol = `${kind}-${count}`
    this.#symbols.set(key, symbol)
    return symbol
  }
}

/** Sorts the causes and the message that repeats them, because Go iterates over maps in random order. */
function sortCauses(status: Record<string, Loose>): Record<string, Loose> {
  const causes: Loose[] = status['causes'] ?? status['details']?.causes
  if (!Array.isArray(causes) || causes.length < 2 || typeof status['message'] !== 'string') return status
  const line = (cause: Loose) => `${cause.field}: ${cause.message}`
  const sorted = [...causes].sort((a, b) => (line(a) < line(b) ? -1 : 1))
  const unsortedText = `[${causes.map(line).join(', ')}]`
  const message = status['message'].replace(unsortedText, () => `[${sorted.map(line).join(', ')}]`)
  if (status['causes']) return { ...status, message, causes: sorted }
  return { ...status, message, details: { ...status['details'], causes: sorted } }
}

/** Removes the descriptions of built-in columns, which are specific to the server. Those of a CRD are kept. */
function withoutDocumentation(column: Loose): Loose {
  const { description } = column
  if (typeof description !== 'string' || description === 'A string' || description.startsWith('Custom')) return column
  return { ...column, description: 'TEXT' }
}

/** Sorts managers by name. The server sorts them by second first, and the second varies. */
function byManager(entries: readonly Loose[]): Loose[] {
  const key = (entry: Loose) => `${entry.manager} ${entry.operation} ${entry.apiVersion} ${entry.subresource ?? ''}`
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Removes the age of an object, which depends on the speed of the run. */
const withoutAge = (cell: Loose): Loose =>
  typeof cell === 'string' && /^(\d+s|\d+m(\d+s)?)$/.test(cell) ? 'AGE' : cell

/** Replaces times of this run. Times that the case chose are kept. */
function timeSymbol(time: string, fraction: string | undefined): string {
  if (Math.abs(Date.now() - Date.parse(time)) > 86_400_000) return time
  return fraction === undefined ? 'TIME' : `TIME with ${fraction.length - 1} digits`
}

/** Returns the differences of two values, one line each, at most twenty. */
export function differences(expected: Loose, actual: Loose, path = ''): string[] {
  const found: string[] = []
  compare(expected, actual, path, found)
  return found.length > 20 ? [...found.slice(0, 20), `and ${found.length - 20} more`] : found
}

function compare(expected: Loose, actual: Loose, path: string, found: string[]): void {
  if (Object.is(expected, actual)) return
  if (isRecord(expected) && isRecord(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compare(expected[key], actual[key], path ? `${path}.${key}` : key, found)
    }
    return
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length)
    for (let index = 0; index < length; index++) compare(expected[index], actual[index], `${path}[${index}]`, found)
    return
  }
  found.push(`${path || 'value'}: expected ${show(expected)}, got ${show(actual)}`)
}

const isRecord = (value: Loose): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function show(value: Loose): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
