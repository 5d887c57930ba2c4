import type { Expr } from './ast.js'
import { cover, type Estimate, fixed, one, plus, scale, times, unknown, unlimited, zero } from './estimate.js'
import { listCost, regexFactor, structCost, traversal } from './runtime-cost.js'
import type { Type } from './types.js'

/** The properties of an argument that matter for costs. */
export interface CostNode {
  /** The path from a variable to it, if it is part of one. */
  readonly path: readonly string[]
  readonly type: Type
  readonly expr?: Expr
  /** The size, if the expression itself determines it. */
  readonly size?: Estimate | undefined
}

/** The estimated cost of a call. */
export interface CallEstimate {
  readonly cost: Estimate
  /** The size of the result, if the call limits it. */
  readonly size?: Estimate | undefined
}

type SizeOf = (node: Pick<CostNode, 'path' | 'type'>) => Estimate | undefined

interface CallFacts {
  readonly overload: string
  readonly target: CostNode | undefined
  readonly args: readonly CostNode[]
  readonly sizeOf: (node: CostNode) => Estimate
}

type Estimator = (call: CallFacts) => CallEstimate | undefined

const nominal: Estimator = () => ({ cost: one })

/** Estimates one pass over the first argument. */
const overFirst =
  (factor: number, keepsSize = false): Estimator =>
  ({ args, sizeOf }) => {
    if (args.length === 0) return undefined
    const size = sizeOf(args[0]!)
    return { cost: scale(size, factor), ...(keepsSize ? { size } : {}) }
  }

const overTarget: Estimator = ({ target, sizeOf }) => {
  if (!target) return undefined
  const size = sizeOf(target)
  return { cost: scale(size, traversal), size }
}

function elementOf(list: CostNode): CostNode | undefined {
  const type = list.type.params[0]
  return type && { type, path: list.path.length > 0 ? [...list.path, '@items'] : [] }
}

const selector: Estimator = ({ args, sizeOf }) => {
  if (args.length !== 1) return undefined
  const length = sizeOf(args[0]!)
  const requirements = scale(scale(length, 0.5), listCost + structCost)
  return { cost: plus(fixed(listCost), scale(length, traversal), requirements) }
}

/** Estimates a visit to every element of a list or every character of a text. */
const overElements: Estimator = ({ target, sizeOf }) => {
  if (!target) return undefined
  const element = elementOf(target)
  if (!element) return { cost: scale(sizeOf(target), traversal) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  const each = isText ? plus(one, scale(sizeOf(element), traversal)) : one
  return { cost: times(sizeOf(target), each) }
}

const replace: Estimator = ({ target, args, sizeOf }) => {
  if (!target || args.length < 2) return undefined
  const size = sizeOf(target)
  const from = sizeOf(args[0]!)
  const to = sizeOf(args[1]!)
  const longest = replacements(size.max, from.min, to.max <= from.min)
  const shortest = replacements(size.min, from.max, from.max <= to.min)
  const count = { min: shortest.count, max: longest.count }
  const kept = { min: shortest.kept, max: longest.kept }
  return { cost: scale(size, 2 * traversal), size: plus(times(count, to), kept) }
}

/** Returns how many parts of a text may be replaced, and the size of the rest. */
function replacements(size: bigint, part: bigint, unchanged: boolean): { count: bigint; kept: bigint } {
  if (part === 0n) return { count: size < unlimited ? size + 1n : size, kept: size }
  if (unchanged) return { count: 0n, kept: size }
  const count = Math.ceil(Number(size) / Number(part))
  return { count: count >= 2 ** 64 ? unlimited : BigInt(count), kept: 0n }
}

const split: Estimator = ({ target, args, sizeOf }) => {
  if (!target) return undefined
  const size = sizeOf(target)
  const limit = args[1]?.expr
  const isLimit = limit?.kind === 'literal' && (typeof limit.value === 'number' || typeof limit.value === 'bigint')
  const max = isLimit ? BigInt.asUintN(64, BigInt(limit.value as number)) : size.max
  return { cost: scale(size, 2 * traversal), size: { min: 0n, max } }
}

const join: Estimator = ({ target, args, sizeOf }) => {
  if (!target) return undefined
  const list = sizeOf(target)
  const element = elementOf(target)
  let size = element ? times(list, sizeOf(element)) : zero
  if (args.length > 0) {
    const separators = { min: list.min > 0n ? list.min - 1n : 0n, max: list.max > 0n ? list.max - 1n : 0n }
    size = plus(size, times(sizeOf(args[0]!), separators))
  }
  return { cost: scale(size, traversal), size }
}

const find: Estimator = ({ target, args, sizeOf }) => {
  if (!target || args.length === 0) return undefined
  const size = sizeOf(target)
  const cost = times(scale(plus(size, one), traversal), scale(sizeOf(args[0]!), regexFactor))
  return { cost, size: { min: 0n, max: size.max } }
}

const address: Estimate = { min: 4n, max: 16n }

const containsAddress =
  (cidr: boolean): Estimator =>
  ({ overload, args, sizeOf }) => {
    if (args.length === 0) return undefined
    let cost = scale(plus(address, address), traversal)
    if (cidr) cost = plus(cost, scale(address, traversal), one)
    if (overload.endsWith('_string')) cost = plus(cost, scale(sizeOf(args[0]!), traversal))
    return { cost }
  }

const validate: Estimator = ({ args, sizeOf }) => {
  if (args.length === 0) return undefined
  return { cost: scale(scale(sizeOf(args[0]!), traversal), 128 * regexFactor) }
}

const ip: Estimator = (call) => (call.overload === 'cidr_ip' ? { cost: one } : overFirst(traversal)(call))

const structEquality = new Set([
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
])

const equality: Estimator = ({ args }) => {
  const [left, right] = args as [CostNode, CostNode]
  const { kind, name } = left.type
  if (args.length !== 2 || kind !== right.type.kind || name !== right.type.name) return undefined
  if (kind === 'opaque' && (name === 'net.IP' || name === 'net.CIDR')) return { cost: one }
  if (kind !== 'struct') return undefined
  if (structEquality.has(name)) return { cost: one }
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1n, max: 64n }, traversal) }
  if (name !== 'kubernetes.URL') return undefined
  const size = right.size ? cover(right.size, right.size) : one
  return { cost: scale({ min: 1n, max: size.max }, traversal) }
}

const byFunction = new Map<string, Estimator>()
const estimates = (estimator: Estimator, ...names: string[]) => {
  for (const name of names) byFunction.set(name, estimator)
}
estimates(() => ({ cost: fixed(350000) }), 'check')
estimates(nominal, 'serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed')
estimates(nominal, 'reason', 'error', 'errored', 'masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback')
estimates(nominal, 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast', 'format.named', 'sign')
estimates(nominal, 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo')
estimates(nominal, 'add', 'sub', 'major', 'minor', 'patch', 'getScheme', 'getHostname', 'getHost', 'getPort')
estimates(nominal, 'getEscapedPath', 'getQuery')
estimates(selector, 'fieldSelector', 'labelSelector')
estimates(overElements, 'isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf')
estimates(({ args, ...rest }) => (args.length === 1 ? overFirst(traversal, true)({ args, ...rest }) : undefined), 'url')
estimates(overTarget, 'lowerAscii', 'upperAscii', 'substring', 'trim')
estimates(replace, 'replace')
estimates(split, 'split')
estimates(join, 'join')
estimates(find, 'find', 'findAll')
estimates(overFirst(traversal), 'cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver')
estimates(overFirst(2 * traversal), 'ip.isCanonical')
estimates(ip, 'ip')
estimates(containsAddress(false), 'containsIP')
estimates(containsAddress(true), 'containsCIDR')
estimates(validate, 'validate')
estimates(equality, '_==_')

/** The estimators of extensions. They are selected by overload and take precedence. */
const byOverload = new Map<string, Estimator>()

function allocating(factor: number, size: Estimate): CallEstimate {
  return { cost: plus(scale(size, factor), one, fixed(listCost)), size }
}

const product =
  (factor: number): Estimator =>
  ({ args, sizeOf }) => ({ cost: plus(scale(times(sizeOf(args[0]!), sizeOf(args[1]!)), factor), one) })

byOverload.set('list_sets_contains_list', product(1))
byOverload.set('list_sets_intersects_list', product(1))
byOverload.set('list_sets_equivalent_list', product(2))

/** Returns the value of an int literal as a count, or the alternative for any other expression. */
function literalCount(node: CostNode, otherwise: bigint): bigint {
  const value = node.expr?.kind === 'literal' ? node.expr.value : undefined
  if (typeof value !== 'number' && typeof value !== 'bigint') return otherwise
  return value < 0 ? 0n : BigInt(value)
}

byOverload.set('list_slice', ({ target, args, sizeOf }) => {
  const end = literalCount(args[1]!, sizeOf(target!).max)
  return allocating(1, fixed(BigInt.asUintN(64, end - literalCount(args[0]!, 0n))))
})
byOverload.set('lists_range', ({ args }) => allocating(1, fixed(literalCount(args[0]!, unlimited))))
byOverload.set('list_reverse', ({ target, sizeOf }) => allocating(1, sizeOf(target!)))
const flatten: Estimator = ({ target, args, sizeOf }) =>
  allocating(args.length === 1 ? Number(literalCount(args[0]!, unlimited)) : 1, sizeOf(target!))
byOverload.set('list_flatten', flatten)
byOverload.set('list_flatten_int', flatten)

const selfCompare = (factor: number, node: CostNode, sizeOf: CallFacts['sizeOf']) => {
  const size = sizeOf(node)
  return allocating(factor, times(size, size))
}
byOverload.set('list_distinct', ({ target, sizeOf }) => selfCompare(2, target!, sizeOf))
for (const name of ['int', 'uint', 'double', 'bool', 'string', 'bytes']) {
  registerSort(name, name === 'string' || name === 'bytes' ? 2 + traversal : 2)
}
registerSort('google.protobuf.Duration', 2)
registerSort('google.protobuf.Timestamp', 2)

function registerSort(name: string, factor: number): void {
  byOverload.set(`list_${name}_sort`, ({ target, sizeOf }) => selfCompare(factor, target!, sizeOf))
  byOverload.set(`list_${name}_sortByAssociatedKeys`, ({ args, sizeOf }) => selfCompare(factor, args[0]!, sizeOf))
}

/** Estimates a call of a library function. Returns undefined if the standard cost applies. */
export function estimateCall(
  name: string,
  overload: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
  estimateSize: SizeOf,
): CallEstimate | undefined {
  const sizeOf = (node: CostNode) => node.size ?? estimateSize(node) ?? unknown
  const call = { overload, target, args, sizeOf }
  return byOverload.get(overload)?.(call) ?? byFunction.get(name)?.(call)
}
