import type { Loose } from './http.js'

/**
 * Makes the answers of two servers, or of two runs, comparable: what a server chooses freely (uids, revisions, times,
 * tokens) becomes a symbol, numbered by first appearance, so that what must be equal within one case still must be.
 */
export class Normalizer {
  readonly #symbols = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(
    /** The random part of every name that this case made up. */
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
        // A message that quotes a whole object repeats everything that differs anyway.
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

  /** The revision of a list moves with whatever else happens on the server. */
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

/**
 * Go walks maps in random order, and with them the faults that it finds in them: causes are compared in an order of
 * their own, and so is the message that repeats them.
 */
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

/** What a built-in column means is told in words of the server's own; those of a CRD are the CRD's. */
function withoutDocumentation(column: Loose): Loose {
  const { description } = column
  if (typeof description !== 'string' || description === 'A string' || description.startsWith('Custom')) return column
  return { ...column, description: 'TEXT' }
}

/** The server orders managers by second and then by name: which second it was is chance. */
function byManager(entries: readonly Loose[]): Loose[] {
  const key = (entry: Loose) => `${entry.manager} ${entry.operation} ${entry.apiVersion} ${entry.subresource ?? ''}`
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** How old an object of the case is depends on how fast it runs. */
const withoutAge = (cell: Loose): Loose =>
  typeof cell === 'string' && /^(\d+s|\d+m(\d+s)?)$/.test(cell) ? 'AGE' : cell

/** Only times of this run are the server's choice; those that the case made up stay. */
function timeSymbol(time: string, fraction: string | undefined): string {
  if (Math.abs(Date.now() - Date.parse(time)) > 86_400_000) return time
  return fraction === undefined ? 'TIME' : `TIME with ${fraction.length - 1} digits`
}

/** Where two values differ, one line each, at most twenty. */
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
