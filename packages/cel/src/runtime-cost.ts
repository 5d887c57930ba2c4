import { CelList, CelMap, CelObject, costSize, InternalError, type Value } from './values.js'

/** The cost of creating a list. */
export const listCost = 10
/** The cost of creating a map. */
export const mapCost = 30
/** The cost of creating a message. */
export const structCost = 40
/** The cost per character of one pass over a text. */
export const traversal = 0.1
/** The cost per character of a pattern that is matched with a text of cost 1. */
export const regexFactor = 0.25

/** The cost of one call: a constant, or a function of its arguments and its result. */
export type CallCost = number | ((args: readonly Value[], result: Value) => number)

const passes = (size: number, count = 1) => Math.ceil(size * count * traversal)

/** One pass over the first argument. */
const overFirst: CallCost = (args) => passes(costSize(args[0]!))
const overFirstTwice: CallCost = (args) => passes(costSize(args[0]!), 2)

function regexCost(textSize: number, patternSize: number): number {
  return Math.ceil((1 + textSize) * traversal) * Math.ceil(patternSize * regexFactor)
}

const overBoth: CallCost = ([a, b]) => regexCost(costSize(a!), costSize(b!))

/** Returns the cost of visiting everything in a value. */
function wholeTraversal(value: Value): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * traversal)
  if (value instanceof Uint8Array) return Math.trunc(value.length * traversal)
  if (value instanceof CelList) return value.values().reduce<number>((sum, item) => sum + wholeTraversal(item), 0)
  if (value instanceof CelMap) {
    return value.keys().reduce<number>((sum, key) => sum + wholeTraversal(key) + wholeTraversal(value.find(key)!), 0)
  }
  return 1
}

const selectorCost: CallCost = (args) => {
  const length = costSize(args[1]!)
  return listCost + passes(length) + Math.ceil(Math.ceil(length * 0.5) * (listCost + structCost))
}

function containsCost(inner: 'ip' | 'cidr', parses: boolean): CallCost {
  return (args) => {
    const size = costSize(args[0]!)
    const extra = inner === 'cidr' ? passes(size) + 1 : 0
    return Math.ceil((size + size) * traversal) + extra + (parses ? passes(costSize(args[1]!)) : 0)
  }
}

const byFunction = new Map<string, CallCost>()
const costs = (cost: CallCost, ...names: string[]) => {
  for (const name of names) byFunction.set(name, cost)
}
costs(350000, 'check')
costs(1, 'serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed', 'reason')
costs(1, 'error', 'errored', 'format.named')
costs(selectorCost, 'fieldSelector', 'labelSelector')
costs((args) => wholeTraversal(args[0]!), 'isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf')
costs(overFirst, 'url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'cidr', 'isIP', 'isCIDR', 'ip')
costs(overFirst, 'quantity', 'isQuantity', 'semver', 'isSemver')
costs(overFirstTwice, 'replace', 'split', 'ip.isCanonical')
costs((_, result) => passes(costSize(result), 2), 'join')
costs(overBoth, 'find', 'findAll')
costs(1, 'masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast')
costs(1, 'isLinkLocalUnicast', 'isGlobalUnicast', 'sign', 'asInteger', 'isInteger', 'asApproximateFloat')
costs(1, 'isGreaterThan', 'isLessThan', 'compareTo', 'add', 'sub', 'major', 'minor', 'patch')
costs(1, 'getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery')

const byOverload = new Map<string, CallCost>([
  ['cidr_ip', 1],
  ['cidr_contains_ip_ip', containsCost('ip', false)],
  ['cidr_contains_ip_string', containsCost('ip', true)],
  ['cidr_contains_cidr', containsCost('cidr', false)],
  ['cidr_contains_cidr_string', containsCost('cidr', true)],
])

/** The cost of a call that creates a list. The factor is the cost per element. */
const allocating = (size: number, factor = 1) => Math.trunc(size * factor) + 1 + listCost

/** Returns the cost of comparing every element of a list with every other. */
function selfComparison(list: Value): number {
  // cel-go panics if it computes the comparison cost of a failed argument.
  if (!(list instanceof CelList)) throw new InternalError('*types.Err is not traits.Lister: missing method Add')
  if (list.size === 0) return allocating(0)
  const first = list.at(0)
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return allocating(list.size * list.size, isText ? 2 + traversal : 2)
}

const product =
  (factor: number): CallCost =>
  ([a, b]) =>
    1 + Math.trunc(costSize(a!) * costSize(b!) * factor)

byOverload.set('list_sets_contains_list', product(1))
byOverload.set('list_sets_intersects_list', product(1))
byOverload.set('list_sets_equivalent_list', product(2))
for (const id of ['list_slice', 'lists_range', 'list_reverse']) {
  byOverload.set(id, (_, result) => allocating(costSize(result)))
}
byOverload.set('list_flatten', ([list]) => allocating(costSize(list!)))
byOverload.set('list_flatten_int', ([list, depth]) => allocating(costSize(list!), Number(depth)))
byOverload.set('list_distinct', ([list]) => selfComparison(list!))
for (const name of 'int uint double bool string bytes google.protobuf.Duration google.protobuf.Timestamp'.split(' ')) {
  byOverload.set(`list_${name}_sort`, ([list]) => selfComparison(list!))
  byOverload.set(`list_${name}_sortByAssociatedKeys`, (args) => selfComparison(args[1]!))
}

const smaller: CallCost = ([a, b]) => passes(Math.min(costSize(a!), costSize(b!)))

const byStandardOverload = new Map<string, CallCost>([
  ['in_list', (args) => costSize(args[1]!)],
  ['add_string', ([a, b]) => passes(costSize(a!) + costSize(b!))],
  ['add_bytes', ([a, b]) => passes(costSize(a!) + costSize(b!))],
  ['matches_string', overBoth],
  ['contains_string', ([a, b]) => passes(costSize(a!)) * passes(costSize(b!))],
])
for (const id of ['starts_with_string', 'ends_with_string', 'string_to_bytes', 'bytes_to_string']) {
  byStandardOverload.set(id, overFirst)
}
for (const id of ['strings_quote', 'string_format']) byStandardOverload.set(id, overFirst)
for (const word of ['less', 'less_equals', 'greater', 'greater_equals']) {
  byStandardOverload.set(`${word}_string`, smaller)
  byStandardOverload.set(`${word}_bytes`, smaller)
}

/** Returns the cost of `a == b` or `a != b`. Values of library types cost one unit with `==`. */
export function equalityCost(a: Value, b: Value, negated: boolean): number {
  if (!negated && a instanceof CelObject) return 1
  return Math.ceil(Math.min(costSize(a), costSize(b)) * traversal)
}

/** Returns the cost of a function call. The overload is empty if several match. */
export function callCost(name: string, overload: string): CallCost {
  if (name === 'validate') return validateCost
  if (name === 'containsIP' || name === 'containsCIDR') {
    return byOverload.get(overload) ?? containsCost(name === 'containsIP' ? 'ip' : 'cidr', false)
  }
  return byOverload.get(overload) ?? byFunction.get(name) ?? byStandardOverload.get(overload) ?? 1
}

const validateCost: CallCost = ([format, text]) => {
  const size = format instanceof CelObject && 'maxRegexSize' in format ? Number(format.maxRegexSize) : 0
  return regexCost(costSize(text!), size)
}
