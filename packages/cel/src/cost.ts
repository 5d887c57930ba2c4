import type { Call, Comprehension, Expr } from './ast.js'
import type { DeclType } from './decl-type.js'
import { cover, type Estimate, fixed, one, plus, scale, smaller, times, unknown, unlimited, zero } from './estimate.js'
import { type CostNode, estimateCall } from './library-cost.js'
import { accumulator } from './macros.js'
import { listCost, mapCost, regexFactor, structCost, traversal } from './runtime-cost.js'
import { type Kind, type Type, unwrapOptional } from './types.js'
import { CelDouble, CelUint, codePoints } from './values.js'

interface EntrySize {
  readonly container: Kind
  readonly key: Estimate
  readonly value: Estimate
}

interface LocalVariable {
  readonly path: readonly string[]
  readonly size: Estimate | undefined
  readonly entry: EntrySize | undefined
}

/** Estimates the minimum and maximum cost of a checked expression, given the size limits of its data. */
export function estimateCost(expr: Expr, root: DeclType | undefined): Estimate {
  return new Coster(root).cost(expr)
}

class Coster {
  private readonly paths = new Map<Expr, readonly string[]>()
  private readonly sizes = new Map<Expr, Estimate>()
  private readonly entries = new Map<Expr, EntrySize>()
  private readonly locals = new Map<string, LocalVariable[]>()

  constructor(private readonly root: DeclType | undefined) {}

  cost(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'literal':
        return zero
      case 'ident':
        this.paths.set(expr, this.local(expr.name)?.path ?? [expr.name])
        return one
      case 'select':
        return this.select(expr)
      case 'call':
        return this.call(expr)
      case 'list':
        return this.list(expr)
      case 'map':
        return this.map(expr)
      case 'struct':
        return plus(...expr.fields.map((field) => this.cost(field.value)), fixed(structCost))
      case 'comprehension':
        return isBind(expr) ? this.bind(expr) : this.comprehension(expr)
    }
  }

  private select(expr: Expr & { kind: 'select' }): Estimate {
    if (expr.resolvedName !== undefined) {
      this.paths.set(expr, [expr.resolvedName])
      return one
    }
    const operand = this.cost(expr.operand)
    if (expr.testOnly) return operand
    this.paths.set(expr, [...this.path(expr.operand), expr.field])
    const selects = ['map', 'struct', 'param'].includes(expr.operand.type!.kind)
    return selects ? plus(operand, one) : operand
  }

  private call(expr: Call): Estimate {
    if (expr.name === 'dyn') {
      const cost = this.cost(expr.args[0]!)
      this.copySizes(expr, expr.args[0]!)
      return plus(one, cost)
    }
    const argCosts: Estimate[] = []
    const args = expr.args.map((arg) => {
      argCosts.push(this.cost(arg))
      return this.node(arg)
    })
    const overloads = expr.overloads ?? []
    if (overloads.length === 0) return zero
    const targetCost = expr.target ? this.cost(expr.target) : zero
    const target = expr.target && this.node(expr.target)
    let cost: Estimate = { min: unlimited, max: 0n }
    let resultSize: Estimate | undefined
    for (const overload of overloads) {
      const call = this.functionCost(expr, overload, target, args, argCosts)
      cost = cover(cost, call.cost)
      if (call.size) resultSize = resultSize ? cover(resultSize, call.size) : call.size
      if (overload === 'index_list' || overload === 'index_map') {
        resultSize = this.entrySize(expr.args[0]!)?.value
        this.paths.set(expr, [...this.path(expr.args[0]!), overload === 'index_list' ? '@items' : '@values'])
      }
      resultSize ??= this.size(expr)
    }
    if (resultSize) this.sizes.set(expr, resultSize)
    return plus(targetCost, cost)
  }

  private list(expr: Expr & { kind: 'list' }): Estimate {
    const costs = expr.elements.map((element) => this.cost(element))
    const value = coverAll(expr.elements.map((element) => this.sizeOrUnknown(element)))
    this.entries.set(expr, { container: 'list', key: one, value })
    return plus(...costs, fixed(listCost))
  }

  private map(expr: Expr & { kind: 'map' }): Estimate {
    const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
    const key = coverAll(expr.entries.map((entry) => this.sizeOrUnknown(entry.key)))
    const value = coverAll(expr.entries.map((entry) => this.sizeOrUnknown(entry.value)))
    this.entries.set(expr, { container: 'map', key, value })
    return plus(...costs, fixed(mapCost))
  }

  private comprehension(expr: Comprehension): Estimate {
    const range = this.cost(expr.range)
    const init = this.cost(expr.accuInit)
    this.push(expr.accuVar, {
      path: this.path(expr.accuInit),
      size: this.size(expr.accuInit),
      entry: this.entrySize(expr.accuInit),
    })
    if (expr.iterVar2) {
      this.pushIteration(expr.iterVar, expr.range, 'key')
      this.pushIteration(expr.iterVar2, expr.range, 'value')
    } else this.pushIteration(expr.iterVar, expr.range, 'single')
    const condition = this.cost(expr.condition)
    const step = this.cost(expr.step)
    this.pop(expr.iterVar)
    if (expr.iterVar2) this.pop(expr.iterVar2)
    const result = this.cost(expr.result)
    this.pop(expr.accuVar)
    const turns = this.sizeOrUnknown(expr.range)
    if (expr.accuInit.kind === 'literal') this.setSize(expr, this.size(expr.accuInit))
    else if (expr.accuInit.kind === 'list' || expr.accuInit.kind === 'map') {
      this.setSize(expr, turns)
      const entry = this.entrySize(expr.step)
      if (entry) this.entries.set(expr, entry)
    }
    return plus(range, init, result, times(turns, plus(step, condition)))
  }

  private bind(expr: Comprehension): Estimate {
    const range = this.cost(expr.range)
    const init = this.cost(expr.accuInit)
    this.push(expr.accuVar, {
      path: this.path(expr.accuInit),
      size: this.size(expr.accuInit),
      entry: this.entrySize(expr.accuInit),
    })
    const result = this.cost(expr.result)
    this.pop(expr.accuVar)
    this.copySizes(expr, expr.result)
    return plus(range, init, result)
  }

  private pushIteration(name: string, range: Expr, what: 'key' | 'value' | 'single'): void {
    const entry = this.entrySize(range)
    const isList = (entry?.container ?? range.type!.kind) === 'list'
    const asValue = what === 'value' || (what === 'single' && isList)
    const part = asValue ? (isList ? '@items' : '@values') : what === 'key' && isList ? '@indices' : '@keys'
    const path = [...this.path(range), part]
    this.push(name, { path, size: asValue ? entry?.value : entry?.key, entry: undefined })
  }

  private functionCost(
    expr: Call,
    overload: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    argCosts: readonly Estimate[],
  ): { readonly cost: Estimate; readonly size?: Estimate | undefined } {
    const special = estimateCall(expr.name, overload, target, args, (node) => this.estimateSize(node))
    if (special) return { ...special, cost: plus(special.cost, ...argCosts) }
    const standard = this.standardCost(expr, overload, target, args, argCosts)
    return standard ?? { cost: plus(one, ...argCosts) }
  }

  private standardCost(
    expr: Call,
    overload: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    argCosts: readonly Estimate[],
  ): { readonly cost: Estimate; readonly size?: Estimate | undefined } | undefined {
    const sizes = args.map((arg) => arg.size ?? unknown)
    const [first, second] = sizes as [Estimate, Estimate]
    const targetSize = target?.size ?? unknown
    const passes = (size: Estimate) => plus(scale(size, traversal), ...argCosts)
    switch (overload) {
      case 'string_format':
        return { cost: passes(targetSize) }
      case 'string_to_bytes':
        return { cost: passes(first), size: { min: first.min, max: wrap(first.max * 4n) } }
      case 'bytes_to_string':
        return { cost: passes(first), size: { min: first.min / 4n, max: first.max } }
      case 'strings_quote':
        return { cost: passes(first), size: { min: wrap(first.min + 2n), max: wrap(first.max * 2n + 2n) } }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: passes(first) }
      case 'in_list':
        return { cost: plus(scale(second, 1), ...argCosts) }
      case 'matches_string': {
        const cost = times(scale(plus(targetSize, one), traversal), scale(first, regexFactor))
        return { cost: plus(cost, ...argCosts) }
      }
      case 'contains_string':
        return { cost: plus(times(scale(targetSize, traversal), scale(first, traversal)), ...argCosts) }
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: argCosts[0]!.min, max: plus(argCosts[0]!, argCosts[1]!).max } }
      case 'conditional':
        this.setEntry(expr, coverEntries(this.entrySize(expr.args[1]!), this.entrySize(expr.args[2]!)))
        return { cost: plus(argCosts[0]!, cover(argCosts[1]!, argCosts[2]!)), size: cover(second, sizes[2]!) }
      case 'add_string':
      case 'add_bytes':
      case 'add_list': {
        this.setEntry(expr, coverEntries(this.entrySize(expr.args[0]!), this.entrySize(expr.args[1]!)))
        const size = plus(first, second)
        return { cost: overload === 'add_list' ? plus(one, ...argCosts) : passes(size), size }
      }
    }
    if (!/^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/.test(overload)) return undefined
    const max = smaller(first.max, second.max)
    return { cost: passes({ min: max > 0n ? 1n : 0n, max }) }
  }

  private local(name: string): LocalVariable | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private push(name: string, variable: LocalVariable): void {
    const stack = this.locals.get(name)
    if (stack) stack.push(variable)
    else this.locals.set(name, [variable])
  }

  private pop(name: string): void {
    this.locals.get(name)!.pop()
  }

  private path(expr: Expr): readonly string[] {
    return (expr.kind === 'ident' ? this.local(expr.name)?.path : undefined) ?? this.paths.get(expr) ?? []
  }

  private node(expr: Expr): CostNode {
    const path = this.path(expr)
    return { path: path[0] === accumulator ? [] : path, type: expr.type!, expr, size: this.size(expr) }
  }

  private setSize(expr: Expr, size: Estimate | undefined): void {
    if (size) this.sizes.set(expr, size)
  }

  private setEntry(expr: Expr, entry: EntrySize | undefined): void {
    if (entry) this.entries.set(expr, entry)
  }

  private copySizes(to: Expr, from: Expr): void {
    this.setSize(to, this.size(from))
    this.setEntry(to, this.entrySize(from))
  }

  private sizeOrUnknown(expr: Expr): Estimate {
    return this.size(expr) ?? unknown
  }

  private size(expr: Expr): Estimate | undefined {
    const known = this.sizes.get(expr) ?? literalSize(expr)
    if (known) return known
    const estimated = this.estimateSize({ path: this.path(expr), type: expr.type! })
    if (estimated) {
      this.sizes.set(expr, estimated)
      return estimated
    }
    if (isScalar(expr.type!)) return one
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined
  }

  private entrySize(expr: Expr): EntrySize | undefined {
    return this.entries.get(expr) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entry : undefined)
  }

  /** Returns the size limits that the schema sets for the data at a path. */
  private estimateSize(node: Pick<CostNode, 'path' | 'type'>): Estimate | undefined {
    if (!this.root || node.path.length === 0) return undefined
    let declared: DeclType | undefined = this.root
    for (const name of node.path.slice(1)) {
      if (name === '@items' || name === '@values') declared = declared.element
      else if (name === '@keys') {
        if (!declared.isMap) return undefined
        // Keys of maps are strings without a limit. The declaration in Kubernetes leaves their size at zero.
        return { min: 0n, max: 0n }
      } else declared = declared.fields?.get(name)
      if (!declared) return undefined
    }
    return { min: 0n, max: BigInt(declared.maxElements) }
  }
}

/** Wraps around like unchecked uint64 arithmetic, which the estimator of Kubernetes uses in these places. */
function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}

function coverAll(sizes: readonly Estimate[]): Estimate {
  return sizes.length === 0 ? zero : sizes.reduce(cover)
}

function coverEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  return a && b && { container: a.container, key: cover(a.key, b.key), value: cover(a.value, b.value) }
}

function literalSize(expr: Expr): Estimate | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length)
  if (expr.kind === 'map') return fixed(expr.entries.length)
  if (expr.kind !== 'literal') return undefined
  const { value } = expr
  if (typeof value === 'string') return fixed(codePoints(value))
  if (value instanceof Uint8Array) return fixed(value.length)
  return value === null || typeof value !== 'object' || value instanceof CelUint || value instanceof CelDouble
    ? one
    : undefined
}

function isScalar(type: Type): boolean {
  const inner = unwrapOptional(type)
  if (inner) return isScalar(inner)
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)
}

function isBind({ range, condition, accuVar }: Comprehension): boolean {
  const empty = range.kind === 'list' && range.elements.length === 0
  return empty && condition.kind === 'literal' && condition.value === false && accuVar !== accumulator
}
