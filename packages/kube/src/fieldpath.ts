import { equal, getOwn, isObject, setOwn } from './json.js'

/**
 * A segment of a field path in the syntax of Crossplane: `spec.containers[0].name`,
 * `metadata.annotations['crossplane.io/external-name']`, `tags[*]`.
 *
 * Brackets contain an index if they contain a number, otherwise a field name with or without quotes. Escapes do not
 * exist: a bracket ends at the next `]`.
 */
export type Segment = { readonly field: string } | { readonly index: number }

/** A path that cannot be parsed or followed. `notFound` is true if the path is valid but has no value. */
export class FieldPathError extends Error {
  override readonly name = 'FieldPathError'
  readonly notFound: boolean

  constructor(message: string, notFound = false) {
    super(message)
    this.notFound = notFound
  }
}

const MAX_INDEX = 1024
const UINT32_MAX = 4_294_967_295

/** Parses a path. Throws a FieldPathError with the byte position of the unexpected character. */
export function parseFieldPath(path: string): readonly Segment[] {
  const segments: Segment[] = []
  let at = 0
  while (at < path.length) {
    const end = endOfField(path, at)
    if (end > at) segments.push({ field: trimQuotes(path.slice(at, end)) })
    at = end
    if (path[at] === ']') throw unexpected(path, at)
    if (path[at] === '.') at = afterPeriod(path, at)
    else if (path[at] === '[') {
      const close = closingBracket(path, at)
      segments.push(fieldOrIndex(path.slice(at + 1, close)))
      at = close + 1
    }
  }
  return segments
}

function endOfField(path: string, from: number): number {
  for (let i = from; i < path.length; i++) {
    const c = path[i]
    if (c === '.' || c === '[' || c === ']') return i
  }
  return path.length
}

function afterPeriod(path: string, at: number): number {
  if (at === 0 || at === path.length - 1) throw unexpected(path, at)
  const next = path[at + 1]
  if (next === '.' || next === '[') throw unexpected(path, at + 1)
  return at + 1
}

function closingBracket(path: string, open: number): number {
  const close = path.indexOf(']', open)
  if (close < 0) throw new FieldPathError(`unterminated '[' at position ${byteOffset(path, open)}`)
  if (close === open + 1) throw unexpected(path, close)
  const nested = path.indexOf('[', open + 1)
  if (nested >= 0 && nested < close) throw unexpected(path, nested)
  return close
}

function fieldOrIndex(text: string): Segment {
  if (/^[0-9]+$/.test(text) && Number(text) <= UINT32_MAX) return { index: Number(text) }
  return { field: trimQuotes(text) }
}

const trimQuotes = (text: string): string => text.replace(/^['"]+|['"]+$/g, '')

function unexpected(path: string, at: number): FieldPathError {
  return new FieldPathError(`unexpected '${path[at]}' at position ${byteOffset(path, at)}`)
}

const byteOffset = (text: string, at: number): number => new TextEncoder().encode(text.slice(0, at)).length

/** Formats a path. Fields that contain a period, and the wildcard, are written in brackets. */
export function formatFieldPath(segments: readonly Segment[]): string {
  let text = ''
  for (const segment of segments) {
    if ('index' in segment) text += `[${segment.index}]`
    else if (segment.field === '*' || segment.field.includes('.')) text += `[${segment.field}]`
    else text += `.${segment.field}`
  }
  return text.startsWith('.') ? text.slice(1) : text
}

/** A path as text or as segments. */
export type FieldPath = string | readonly Segment[]

function segmentsOf(path: FieldPath): readonly Segment[] {
  if (typeof path !== 'string') return path
  try {
    return parseFieldPath(path)
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error
    throw new FieldPathError(`cannot parse path ${JSON.stringify(path)}: ${error.message}`)
  }
}

/** Returns the value at a path. The value at the empty path is null. Throws a FieldPathError if there is no value. */
export function getFieldValue(document: unknown, path: FieldPath): unknown {
  const segments = segmentsOf(path)
  if (segments.length === 0) return null
  let value = document
  segments.forEach((segment, i) => {
    value = step(value, segment, segments, i)
  })
  return value
}

function step(value: unknown, segment: Segment, segments: readonly Segment[], i: number): unknown {
  const here = () => formatFieldPath(segments.slice(0, i))
  const there = () => formatFieldPath(segments.slice(0, i + 1))
  if ('index' in segment) {
    if (!Array.isArray(value)) throw new FieldPathError(`${here()}: not an array`)
    if (segment.index >= value.length) throw new FieldPathError(`${there()}: no such element`, true)
    return value[segment.index]
  }
  if (value === null) throw new FieldPathError(`${here()}: expected map, got nil`, true)
  if (!isObject(value)) throw new FieldPathError(`${here()}: not an object`)
  if (!hasField(value, segment.field)) throw new FieldPathError(`${there()}: no such field`, true)
  return value[segment.field]
}

const hasField = (object: Readonly<Record<string, unknown>>, field: string): boolean =>
  getOwn(object, field) !== undefined

/** Returns the value at a path, or undefined if there is no value for any reason. */
export function findFieldValue(document: unknown, path: FieldPath): unknown {
  let value = document
  for (const segment of segmentsOf(path)) {
    if ('index' in segment) value = Array.isArray(value) ? value[segment.index] : undefined
    else value = isObject(value) ? getOwn(value, segment.field) : undefined
    if (value === undefined) return undefined
  }
  return value
}

/** Returns the string at a path. Throws a FieldPathError if the value is missing or not a string. */
export function getStringAt(document: unknown, path: FieldPath): string {
  return typed(document, path, 'not a string', (v): v is string => typeof v === 'string')
}

/**
 * Returns the int64 at a path, as a bigint if it is not a safe integer. Throws a FieldPathError if the value is
 * missing or not an integer.
 */
export function getIntegerAt(document: unknown, path: FieldPath): number | bigint {
  const isInt64 = (v: unknown): v is number | bigint =>
    typeof v === 'bigint' ? BigInt.asIntN(64, v) === v : Number.isSafeInteger(v)
  return typed(document, path, 'not a (int64) number', isInt64)
}

/** Returns the boolean at a path. Throws a FieldPathError if the value is missing or not a boolean. */
export function getBooleanAt(document: unknown, path: FieldPath): boolean {
  return typed(document, path, 'not a bool', (v): v is boolean => typeof v === 'boolean')
}

/** Returns the list of strings at a path. Throws a FieldPathError if the value is missing or of another type. */
export function getStringsAt(document: unknown, path: FieldPath): readonly string[] {
  const items = typed(document, path, 'not an array', (v): v is unknown[] => Array.isArray(v))
  if (items.some((item) => typeof item !== 'string')) {
    throw new FieldPathError(`${asWritten(path)}: not an array of strings`)
  }
  return items as string[]
}

/** Returns the map of strings at a path. Throws a FieldPathError if the value is missing or of another type. */
export function getStringMapAt(document: unknown, path: FieldPath): Readonly<Record<string, string>> {
  const object = typed(document, path, 'not an object', isObject)
  if (Object.values(object).some((item) => typeof item !== 'string')) {
    throw new FieldPathError(`${asWritten(path)}: not an object with string field values`)
  }
  return object as Record<string, string>
}

function typed<T>(document: unknown, path: FieldPath, complaint: string, is: (value: unknown) => value is T): T {
  const value = getFieldValue(document, path)
  if (!is(value)) throw new FieldPathError(`${asWritten(path)}: ${complaint}`)
  return value
}

const asWritten = (path: FieldPath): string => (typeof path === 'string' ? path : formatFieldPath(path))

/** Options of {@link setFieldValue}. */
export interface SetOptions {
  /** The largest index that may be set, so that a typo does not allocate a gigabyte. 0 allows any index. */
  readonly maxIndex?: number
}

/**
 * Returns a document with the value at the path. Missing objects and arrays are created. The given document is not
 * changed; unchanged parts are shared. Throws a FieldPathError if the path does not fit the document.
 */
export function setFieldValue<T>(document: T, path: FieldPath, value: unknown, options: SetOptions = {}): T {
  const segments = segmentsOf(path)
  const maxIndex = options.maxIndex ?? MAX_INDEX
  for (const segment of segments) {
    if ('index' in segment && maxIndex > 0 && segment.index > maxIndex) {
      throw new FieldPathError(`index ${segment.index} is greater than max allowed index ${maxIndex}`)
    }
  }
  if (segments.length === 0) return document
  return withValue(document, segments, 0, value) as T
}

function withValue(container: unknown, segments: readonly Segment[], i: number, value: unknown): unknown {
  const segment = segments[i]!
  const last = i === segments.length - 1
  const next = segments[i + 1]
  const fresh = () => (next && 'index' in next ? [] : {})
  if ('index' in segment) {
    if (!Array.isArray(container)) throw new FieldPathError(`${formatFieldPath(segments.slice(0, i))} is not an array`)
    const copy = [...container]
    while (copy.length <= segment.index) copy.push(null)
    copy[segment.index] = last ? value : withValue(copy[segment.index] ?? fresh(), segments, i + 1, value)
    return copy
  }
  if (!isObject(container)) throw new FieldPathError(`${formatFieldPath(segments.slice(0, i))} is not an object`)
  const copy = { ...container }
  const held = hasField(container, segment.field) ? container[segment.field] : fresh()
  setOwn(copy, segment.field, last ? value : withValue(held, segments, i + 1, value))
  return copy
}

/**
 * Returns a document without the value at the path, or the same document if there is no such value. Throws a
 * FieldPathError if the path does not fit the document.
 */
export function deleteFieldValue<T>(document: T, path: FieldPath): T {
  const segments = segmentsOf(path)
  return segments.length === 0 ? document : (without(document, segments, 0) as T)
}

function without(container: unknown, segments: readonly Segment[], i: number): unknown {
  const segment = segments[i]!
  const last = i === segments.length - 1
  const complain = (what: string) =>
    new FieldPathError(
      last
        ? `cannot delete ${formatFieldPath(segments)}: not ${what}`
        : `${formatFieldPath(segments.slice(0, i))} is not ${what}`,
    )
  if ('index' in segment) {
    if (!Array.isArray(container)) throw complain('an array')
    if (segment.index >= container.length) return container
    if (last) return container.filter((_, index) => index !== segment.index)
    const inner = without(container[segment.index], segments, i + 1)
    return inner === container[segment.index] ? container : container.with(segment.index, inner)
  }
  if (!isObject(container)) throw complain('an object')
  if (!hasField(container, segment.field)) return container
  const held = container[segment.field]
  const inner = last ? undefined : without(held, segments, i + 1)
  if (!last && inner === held) return container
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(container)) {
    if (key !== segment.field) setOwn(copy, key, container[key])
    else if (!last) setOwn(copy, key, inner)
  }
  return copy
}

/**
 * Returns every path of the document that matches a pattern. A segment `*` matches each field of an object or each
 * element of an array. Throws a FieldPathError if the pattern does not fit the document.
 */
export function expandWildcards(document: unknown, path: FieldPath): readonly string[] {
  const segments = segmentsOf(path)
  try {
    return expand(document, segments).map(formatFieldPath)
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error
    const where = JSON.stringify(formatFieldPath(segments))
    throw new FieldPathError(`cannot expand wildcards for segments: ${where}: ${error.message}`, error.notFound)
  }
}

function expand(document: unknown, segments: readonly Segment[]): (readonly Segment[])[] {
  const star = segments.findIndex((segment) => 'field' in segment && segment.field === '*')
  const before = star < 0 ? segments : segments.slice(0, star)
  let value: unknown
  try {
    value = star === 0 ? document : getFieldValue(document, before)
  } catch (error) {
    if (error instanceof FieldPathError && error.notFound) return []
    throw error
  }
  if (star < 0) return [segments]
  return choices(value, before).flatMap((choice) => {
    const chosen = [...before, choice, ...segments.slice(star + 1)]
    try {
      return expand(document, chosen)
    } catch (error) {
      if (!(error instanceof FieldPathError)) throw error
      const where = JSON.stringify(formatFieldPath(chosen))
      throw new FieldPathError(`${where}: cannot expand wildcards: ${error.message}`, error.notFound)
    }
  })
}

function choices(value: unknown, at: readonly Segment[]): readonly Segment[] {
  const where = JSON.stringify(formatFieldPath(at))
  if (Array.isArray(value)) return value.map((_, index) => ({ index }))
  if (isObject(value)) return Object.keys(value).map((field) => ({ field }))
  if (value === null) throw new FieldPathError(`wildcard field ${where} is not found in the path`, true)
  throw new FieldPathError(`${where}: unexpected wildcard usage`)
}

/** Options of {@link mergeFieldValue}. */
export interface MergeOptions {
  /** Keep existing values, at every depth. */
  readonly keepMapValues?: boolean
  /** Append new elements to arrays instead of replacing them. Elements that exist already are not added again. */
  readonly appendSlice?: boolean
}

/**
 * Merges a value into the value at the path. Without options, it replaces the existing value. Throws a
 * FieldPathError if the path does not fit the document.
 */
export function mergeFieldValue<T>(document: T, path: FieldPath, value: unknown, options?: MergeOptions | null): T {
  if (!options) return setFieldValue(document, path, value)
  let held: unknown
  try {
    held = getFieldValue(document, path)
  } catch (error) {
    if (!(error instanceof FieldPathError) || !error.notFound) throw error
  }
  return setFieldValue(document, path, mergeValues(held, value, options))
}

function mergeValues(held: unknown, given: unknown, options: MergeOptions): unknown {
  if (given === null || held === null || held === undefined) return given
  const isNew = (item: unknown) => !(held as unknown[]).some((other) => equal(item, other))
  const both = options.appendSlice && Array.isArray(held) && Array.isArray(given)
  return mergeMember(held, both ? given.filter(isNew) : given, options)
}

/** Merges one member of an object. Empty values count as absent, as in Crossplane. */
function mergeMember(held: unknown, given: unknown, options: MergeOptions): unknown {
  const { keepMapValues, appendSlice } = options
  if (given === null) return keepMapValues && held !== undefined ? held : given
  if (held === undefined || held === null) return given
  if (Array.isArray(given) && appendSlice) {
    if (Array.isArray(held)) return [...held, ...given]
    const types = `[]interface {}, ${goTypeOf(held)}`
    throw new FieldPathError(`failed to merge values: cannot append two slices with different type (${types})`)
  }
  if (isObject(held) && isObject(given)) {
    const merged = { ...held }
    for (const key of Object.keys(given)) {
      const member = mergeMember(getOwn(held, key), given[key], options)
      if (member !== null || !keepMapValues || Object.hasOwn(held, key)) setOwn(merged, key, member)
    }
    return merged
  }
  return keepMapValues && !isBlank(held) ? held : given
}

function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) ? Object.keys(value).length === 0 : !value
}

function goTypeOf(value: unknown): string {
  if (isObject(value)) return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : 'string'
}
