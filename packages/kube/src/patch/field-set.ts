import { isObject, stringify } from '../json.js'

/**
 * A set of field paths, as the trie in which `fieldsV1` is encoded: `f:name` leads to a field, `k:{…}` to a list
 * element with these keys, `v:…` to an element of a set, `i:0` to an index. A node without children is a member; one
 * with children is a member if it has a `.`. Nodes are immutable, so that sets share them. The keys of a node are in
 * the order of structured-merge-diff, so that the JSON of a set equals that of kube-apiserver byte for byte.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** A node without children, which is a member of its set. */
export const LEAF: FieldSet = Object.freeze({})
/** The empty set. */
export const EMPTY: FieldSet = LEAF

/** The reason why bytes are not a set of fields. */
export class FieldSetError extends Error {
  override readonly name = 'FieldSetError'
}

/** Reports whether a set is empty. */
export function isEmpty(set: FieldSet): boolean {
  for (const key in set) if (key !== '.') return false
  return true
}

/** Reports whether the path that leads to this node is in the set. */
export function isMember(node: FieldSet): boolean {
  if ('.' in node) return true
  for (const _ in node) return false
  return true
}

function withMembership(node: FieldSet): FieldSet {
  return isMember(node) ? node : { '.': LEAF, ...node }
}

/** Returns the paths that are in one of the sets. */
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

/** Returns the paths that are in both sets. */
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

/** Returns the paths of `a` that are not in `b`. Removing a parent keeps its children. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, differenceOfNodes)
}

/** Like {@link difference}, but removing a parent removes its children too. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, (left, other) => {
    if (isMember(other)) return undefined
    const rest = recursiveDifference(left, other)
    return rest === left ? left : node(isMember(left), rest)
  })
}

function differenceOfNodes(left: FieldSet, other: FieldSet): FieldSet | undefined {
  const member = isMember(left)
  const kept = member && !isMember(other)
  const rest = difference(left, other)
  return rest === left && kept === member ? left : node(kept, rest)
}

/** Returns `a` with `take` applied to the nodes that both have, or `a` itself if that changes nothing. */
function without(a: FieldSet, b: FieldSet, take: (left: FieldSet, other: FieldSet) => FieldSet | undefined): FieldSet {
  let common = false
  for (const key in b) {
    if (key !== '.' && key in a) {
      common = true
      break
    }
  }
  if (!common) return a
  // A new object is built, since objects from which properties were deleted stay slow.
  const out: Record<string, FieldSet> = {}
  let same = true
  for (const key in a) {
    const left = a[key]!
    const other = key === '.' ? undefined : b[key]
    const kept = other === undefined ? left : take(left, other)
    if (kept !== undefined) out[key] = kept
    if (kept !== left) same = false
  }
  return same ? a : out
}

/** Returns a node with its membership and children, or undefined if it is empty. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return member ? LEAF : undefined
  if (member) return withMembership(children)
  if (!('.' in children)) return children
  const { '.': _, ...bare } = children
  return bare
}

const INTERNED_MAX = 20_000
/** Longer elements are rare, and a client could fill the memory with them. */
const INTERNED_LENGTH_MAX = 128
const interned = new Map<string, string>()
let overflows = 0

/** Returns the path element `f:name`. Names repeat often, and creating the same string each time is expensive. */
export function fieldElement(name: string): string {
  if (name.length > INTERNED_LENGTH_MAX) return `f:${name}`
  let element = interned.get(name)
  if (element === undefined) {
    element = `f:${name}`
    // The cache is cleared rarely: one object with many names must not clear it repeatedly.
    if (interned.size >= INTERNED_MAX && ++overflows % INTERNED_MAX === 0) interned.clear()
    if (interned.size < INTERNED_MAX) interned.set(name, element)
  }
  return element
}

/** Returns the set of one path, given by its elements. */
export function singleton(path: readonly string[]): FieldSet {
  let set = LEAF
  for (let i = path.length - 1; i >= 0; i--) set = { [path[i]!]: set }
  return set
}

/** Returns a set of plain fields, such as `[['metadata', 'name']]`. */
export function fieldPaths(paths: readonly (readonly string[])[]): FieldSet {
  return paths.map((path) => singleton(path.map(fieldElement))).reduce(union, EMPTY)
}

/** Reports whether a path is in the set. */
export function has(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set
  for (const element of path) {
    at = at[element]
    if (at === undefined) return false
  }
  return path.length > 0 && isMember(at)
}

/** Returns every path of the set, parents first. */
export function paths(set: FieldSet): string[][] {
  const found: string[][] = []
  const walk = (at: FieldSet, prefix: readonly string[]) => {
    for (const key in at) if (key !== '.' && isMember(at[key]!)) found.push([...prefix, key])
    for (const key in at) if (key !== '.' && !isEmpty(at[key]!)) walk(at[key]!, [...prefix, key])
  }
  walk(set, [])
  return found
}

/** Formats a path as messages do, such as `.spec.containers[name="a"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('')
}

/** Formats a path element as messages do. */
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

/** Formats a float64 as Go's `%v`: with an exponent after six digits. */
export function floatText(value: number): string {
  const [digits, power] = value.toExponential().split('e') as [string, string]
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  const size = power.replace(/^[+-]/, '')
  return `${digits}e${power.startsWith('-') ? '-' : '+'}${size.padStart(2, '0')}`
}

const awkward = /[<>&\u2028\u2029\\]/

/** Returns the JSON of a value inside a path element, with the escapes of Go's encoder. */
export function elementJson(value: unknown): string {
  const text = stringify(value) ?? 'null'
  if (!awkward.test(text)) return text
  return text.replace(/\\.|[<>&\u2028\u2029]/g, (found) => {
    if (found === '\\b') return '\\u0008'
    if (found === '\\f') return '\\u000c'
    return found[0] === '\\' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Returns the node with its keys in order, or the same object if they are in order. */
export function sorted(set: Record<string, FieldSet>): FieldSet {
  const keys = Object.keys(set)
  if (inOrder(keys)) return set
  const out: Record<string, FieldSet> = {}
  for (const key of sortElements(keys)) out[key] = set[key]!
  return out
}

function inOrder(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (isMisplaced(keys[i - 1]!, keys[i]!)) return false
  return true
}

function isMisplaced(before: string, after: string): boolean {
  if (before[0] === 'f' && after[0] === 'f') return before > after
  if (after === '.') return true
  if (before === '.') return false
  if (isPlainText(before) && isPlainText(after)) return textOf(before) > textOf(after)
  return compareElements(before, after) > 0
}

/** Whether an element is a string of a set whose JSON has no escapes. */
function isPlainText(element: string): boolean {
  return element.startsWith('v:"') && !element.includes('\\')
}

/** The string of an element for which `isPlainText` holds. */
function textOf(element: string): string {
  return element.slice(3, -1)
}

/** Puts the elements of one node in upstream's order. */
function sortElements(elements: string[]): string[] {
  if (elements.every((element) => element[0] === 'f')) return elements.sort()
  if (elements.every(isPlainText)) {
    const texts = elements.map(textOf).sort()
    return texts.map((text) => `v:"${text}"`)
  }
  // Parsed once each, not in every comparison.
  const keyed = elements.map((element) => ({ element, content: contentOf(element) }))
  keyed.sort((a, b) => compareContents(a.element, a.content, b.element, b.content))
  return keyed.map(({ element }) => element)
}

const ranks: Readonly<Record<string, number>> = { '.': -1, f: 0, k: 1, v: 2, i: 3 }

function compareElements(a: string, b: string): number {
  return compareContents(a, contentOf(a), b, contentOf(b))
}

/** Returns the parsed keys or value of a list element, which define its order. */
function contentOf(element: string): unknown {
  return element[0] === 'k' || element[0] === 'v' ? parsed(element) : undefined
}

function compareContents(a: string, contentA: unknown, b: string, contentB: unknown): number {
  if (a[0] !== b[0]) return (ranks[a[0]!] ?? 4) - (ranks[b[0]!] ?? 4)
  switch (a[0]) {
    case 'k':
      return compareKeys(contentA as Record<string, unknown>, contentB as Record<string, unknown>)
    case 'v':
      return compareValues(contentA, contentB)
    case 'i':
      return Number(a.slice(2)) - Number(b.slice(2))
    default:
      return compareText(a, b)
  }
}

const contents = new Map<string, unknown>()

function parsed(element: string): unknown {
  if (element.length > INTERNED_LENGTH_MAX) return JSON.parse(element.slice(2)) as unknown
  let content = contents.get(element)
  if (content === undefined) {
    content = JSON.parse(element.slice(2)) as unknown
    if (contents.size >= INTERNED_MAX && ++overflows % INTERNED_MAX === 0) contents.clear()
    if (contents.size < INTERNED_MAX) contents.set(element, content)
  }
  return content
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
 * Decodes `fieldsV1`. A set in canonical form, such as one that this package encoded, is returned as it is. Throws
 * a FieldSetError.
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

const SHARED_MAX = 1_000
const SHARED_LETTERS_MAX = 4_096
const sharedSets = new Map<string, FieldSet>()

/**
 * Returns one shared set for all equal sets. Most objects of a kind have equal sets, so this saves memory and
 * decoding. The set must be canonical.
 */
export function shared(set: FieldSet): FieldSet {
  if (decoded.get(set) === set) return set
  if (isLarge(set, { left: SHARED_LETTERS_MAX / 8 })) {
    decoded.set(set, set)
    return set
  }
  const text = JSON.stringify(set)
  const known = sharedSets.get(text)
  if (known) return known
  if (text.length <= SHARED_LETTERS_MAX) {
    if (sharedSets.size >= SHARED_MAX) sharedSets.delete(sharedSets.keys().next().value!)
    sharedSets.set(text, set)
  }
  if (set !== LEAF) decoded.set(set, set)
  return set
}

/** Reports whether a set has more elements than the budget. Large sets are rarely equal and expensive to compare. */
function isLarge(set: FieldSet, budget: { left: number }): boolean {
  for (const key in set) {
    if (--budget.left < 0 || isLarge(set[key]!, budget)) return true
  }
  return false
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

/** Returns the canonical element, or undefined for elements of an unknown kind, which are dropped. */
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
