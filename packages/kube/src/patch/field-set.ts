import { isObject, stringify } from '../json.js'

/**
 * A set of field paths, as the trie that `fieldsV1` is on the wire: `f:name` leads to a field, `k:{…}` to a list
 * element with these keys, `v:…` to an element of a set, `i:0` to an index. A node without children is a member; one
 * with children is a member if it has a `.`. Nodes are never changed, so sets share them; the keys of a node are in
 * upstream's order, so that a set's JSON is the same bytes as the real server's.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

export const LEAF: FieldSet = Object.freeze({})
export const EMPTY: FieldSet = LEAF

/** Why bytes are no set of fields. */
export class FieldSetError extends Error {
  override readonly name = 'FieldSetError'
}

export function isEmpty(set: FieldSet): boolean {
  for (const key in set) if (key !== '.') return false
  return true
}

/** Whether the path that leads to this node is in the set. */
export function isMember(node: FieldSet): boolean {
  if ('.' in node) return true
  for (const _ in node) return false
  return true
}

function withMembership(node: FieldSet): FieldSet {
  return isMember(node) ? node : { '.': LEAF, ...node }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  const out: Record<string, FieldSet> = {}
  let grown = false
  for (const key in a) {
    const other = b[key]
    if (other === undefined || key === '.') out[key] = a[key]!
    else {
      out[key] = unionNodes(a[key]!, other)
      if (out[key] !== a[key]) grown = true
    }
  }
  let extra = false
  for (const key in b) {
    if (key in a) continue
    out[key] = b[key]!
    extra = true
  }
  return extra ? sorted(out) : grown ? out : a
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  const joined = union(a, b)
  return isMember(a) || isMember(b) ? withMembership(joined) : joined
}

/** Paths that are in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const out: Record<string, FieldSet> = {}
  for (const key in a) {
    const other = b[key]
    if (other === undefined || key === '.') continue
    const left = a[key]!
    const common = node(isMember(left) && isMember(other), intersection(left, other))
    if (common) out[key] = common
  }
  return out
}

/** Paths of `a` that are not in `b`. Taking a parent away leaves its children. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let out: Record<string, FieldSet> | undefined
  for (const key in b) {
    const left = a[key]
    if (left === undefined || key === '.') continue
    const other = b[key]!
    const member = isMember(left)
    const rest = difference(left, other)
    if (rest === left && !(member && isMember(other))) continue
    const kept = node(member && !isMember(other), rest)
    out ??= { ...a }
    if (kept) out[key] = kept
    else delete out[key]
  }
  return out ?? a
}

/** Like difference, but taking a parent away takes its children too. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  let out: Record<string, FieldSet> | undefined
  for (const key in b) {
    const left = a[key]
    if (left === undefined || key === '.') continue
    const other = b[key]!
    const rest = isMember(other) ? EMPTY : recursiveDifference(left, other)
    if (rest === left && !isMember(other)) continue
    const kept = isMember(other) ? undefined : node(isMember(left), rest)
    out ??= { ...a }
    if (kept) out[key] = kept
    else delete out[key]
  }
  return out ?? a
}

/** A node from whether it is a member and from its children; undefined when it is nothing. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return member ? LEAF : undefined
  if (member) return withMembership(children)
  if (!('.' in children)) return children
  const { '.': _, ...bare } = children
  return bare
}

/** The set that has one path, given by its elements. */
export function singleton(path: readonly string[]): FieldSet {
  let set = LEAF
  for (let i = path.length - 1; i >= 0; i--) set = { [path[i]!]: set }
  return set
}

/** A set of plain fields, such as `[['metadata', 'name']]`. */
export function fieldPaths(paths: readonly (readonly string[])[]): FieldSet {
  return paths.map((path) => singleton(path.map((name) => `f:${name}`))).reduce(union, EMPTY)
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set
  for (const element of path) {
    at = at[element]
    if (at === undefined) return false
  }
  return path.length > 0 && isMember(at)
}

/** Every path of the set, parents first. */
export function paths(set: FieldSet): string[][] {
  const found: string[][] = []
  const walk = (at: FieldSet, prefix: readonly string[]) => {
    for (const key in at) if (key !== '.' && isMember(at[key]!)) found.push([...prefix, key])
    for (const key in at) if (key !== '.' && !isEmpty(at[key]!)) walk(at[key]!, [...prefix, key])
  }
  walk(set, [])
  return found
}

/** `.spec.containers[name="a"].image`: how messages write a path. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('')
}

export function elementText(element: string): string {
  const content = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${content}`
    case 'k': {
      const key = JSON.parse(content) as Record<string, unknown>
      const parts = Object.keys(key).map((name) => `${name}=${valueText(key[name])}`)
      return `[${parts.join(',')}]`
    }
    case 'v':
      return `[=${valueText(JSON.parse(content))}]`
    default:
      return `[${content}]`
  }
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`
  if (isObject(value)) {
    return Object.keys(value)
      .map((key) => `${key}=${valueText(value[key])}`)
      .join('')
  }
  return typeof value === 'number' ? floatText(value) : JSON.stringify(value)
}

/** Go's `%v` of a float64: six digits before it turns to an exponent. */
export function floatText(value: number): string {
  const [digits, power] = value.toExponential().split('e') as [string, string]
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  const size = power.replace(/^[+-]/, '')
  return `${digits}e${power.startsWith('-') ? '-' : '+'}${size.padStart(2, '0')}`
}

const awkward = /[<>&\u2028\u2029\\]/

/** JSON of a value inside a path element, with the escapes that Go's encoder makes. */
export function elementJson(value: unknown): string {
  const text = stringify(value) ?? 'null'
  if (!awkward.test(text)) return text
  return text.replace(/\\.|[<>&\u2028\u2029]/g, (found) => {
    if (found === '\\b') return '\\u0008'
    if (found === '\\f') return '\\u000c'
    return found[0] === '\\' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** The node with its keys in order; the same object when they already are. */
export function sorted(set: Record<string, FieldSet>): FieldSet {
  const keys = Object.keys(set)
  if (inOrder(keys)) return set
  const out: Record<string, FieldSet> = {}
  for (const key of sortElements(keys)) out[key] = set[key]!
  return out
}

function inOrder(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) {
    const before = keys[i - 1]!
    const after = keys[i]!
    if (before[0] === 'f' && after[0] === 'f') {
      if (before > after) return false
    } else if (before !== '.' && compareElements(before, after) > 0) return false
    else if (after === '.') return false
  }
  return true
}

/** Puts the elements of one node in upstream's order. */
export function sortElements(elements: string[]): string[] {
  if (elements.every((element) => element[0] === 'f')) return elements.sort()
  return elements.sort(compareElements)
}

const ranks: Readonly<Record<string, number>> = { '.': -1, f: 0, k: 1, v: 2, i: 3 }

function compareElements(a: string, b: string): number {
  if (a[0] !== b[0]) return (ranks[a[0]!] ?? 4) - (ranks[b[0]!] ?? 4)
  switch (a[0]) {
    case 'k':
      return compareKeys(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)))
    case 'v':
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)))
    case 'i':
      return Number(a.slice(2)) - Number(b.slice(2))
    default:
      return compareText(a, b)
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareKeys(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const left = Object.keys(a).sort()
  const right = Object.keys(b).sort()
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = compareText(left[i]!, right[i]!) || compareValues(a[left[i]!], b[right[i]!])
    if (order !== 0) return order
  }
  return left.length - right.length
}

const types = ['number', 'string', 'boolean', 'list', 'map', 'null']

function compareValues(a: unknown, b: unknown): number {
  const type = typeOf(a)
  if (type !== typeOf(b)) return types.indexOf(type) - types.indexOf(typeOf(b))
  switch (type) {
    case 'number':
    case 'boolean':
      return Number(a) - Number(b)
    case 'string':
      return compareText(a as string, b as string)
    case 'list':
      return compareLists(a as unknown[], b as unknown[])
    case 'map':
      return compareKeys(a as Record<string, unknown>, b as Record<string, unknown>)
    default:
      return 0
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' ? 'map' : typeof value
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

const decoded = new WeakMap<object, FieldSet | FieldSetError>()

/**
 * Reads `fieldsV1`. Sets in canonical form, such as those this package wrote, come back as they are.
 * Throws a FieldSetError.
 */
export function decodeFields(fieldsV1: unknown): FieldSet {
  if (fieldsV1 === undefined || fieldsV1 === null) return EMPTY
  if (!isObject(fieldsV1)) throw new FieldSetError('ReadMapCB: expect { or n')
  let set = decoded.get(fieldsV1)
  if (set === undefined) {
    try {
      set = decodeNode(fieldsV1)
      if ('.' in set) set = node(false, set) ?? EMPTY
    } catch (error) {
      if (!(error instanceof FieldSetError)) throw error
      set = error
    }
    decoded.set(fieldsV1, set)
  }
  if (set instanceof FieldSetError) throw set
  return set
}

/** Tells that a set is canonical, so that decoding it is free. */
export function rememberCanonical(set: FieldSet): void {
  if (set !== LEAF) decoded.set(set, set)
}

function decodeNode(given: Record<string, unknown>): FieldSet {
  const out: Record<string, FieldSet> = {}
  let same = true
  let children = false
  for (const key of Object.keys(given)) {
    if (key === '.') {
      out['.'] = LEAF
      same &&= isObject(given[key]) && isEmpty(given[key] as FieldSet)
      continue
    }
    const element = canonicalElement(key)
    if (element === undefined) {
      same = false
      continue
    }
    const child = given[key]
    if (child !== null && !isObject(child)) throw new FieldSetError('ReadMapCB: expect { or n')
    const canonical = child === null ? LEAF : decodeNode(child)
    same &&= element === key && canonical === child
    out[element] = canonical
    children = true
  }
  if (!children) return same && !('.' in out) ? (given as FieldSet) : LEAF
  const ordered = sorted(out)
  return same && ordered === out ? (given as FieldSet) : ordered
}

/** Undefined for elements of a kind that is not known: these are dropped. */
function canonicalElement(key: string): string | undefined {
  if (Buffer.byteLength(key) < 2) throw new FieldSetError('key must be 2 characters long:')
  if (key[1] !== ':') throw new FieldSetError(`missing colon: ${key}`)
  switch (key[0]) {
    case 'f':
      return key
    case 'k': {
      const parsed = parseElement(key)
      if (!isObject(parsed)) throw new FieldSetError(`expect { in ${key}`)
      const names = Object.keys(parsed).sort()
      return `k:{${names.map((name) => `${JSON.stringify(name)}:${elementJson(parsed[name])}`).join(',')}}`
    }
    case 'v':
      return `v:${elementJson(parseElement(key))}`
    case 'i':
      if (!/^[+-]?[0-9]+$/.test(key.slice(2))) {
        throw new FieldSetError(`strconv.Atoi: parsing ${JSON.stringify(key.slice(2))}: invalid syntax`)
      }
      return `i:${Number(key.slice(2))}`
    default:
      return undefined
  }
}

function parseElement(key: string): unknown {
  try {
    return JSON.parse(key.slice(2))
  } catch (cause) {
    throw new FieldSetError(`parsing key as path element: ${key}`, { cause })
  }
}
