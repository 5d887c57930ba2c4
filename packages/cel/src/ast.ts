import type { Offset } from './source.js'
import type { Type } from './types.js'
import type { Value } from './values.js'

/** Properties that every node of an expression has. The checker sets the type. */
interface Node {
  readonly id: number
  readonly offset: Offset
  type?: Type
}

/** A constant, such as `1` or `"a"`. */
export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

/** An identifier. */
export interface Ident extends Node {
  readonly kind: 'ident'
  name: string
}

/** A field selection: `operand.field`, or `has(operand.field)`. */
export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(operand.field)` */
  readonly testOnly: boolean
  /** The qualified name, set by the checker if the whole chain is one name. */
  resolvedName?: string
}

/** A function call, a method call or an operator. */
export interface Call extends Node {
  readonly kind: 'call'
  name: string
  /** Absent for a global function. The checker removes it when `target.name` is a namespaced function. */
  target: Expr | undefined
  readonly args: readonly Expr[]
  /** The matching overloads, set by the checker. */
  overloads?: string[]
}

/** A list literal. */
export interface CreateList extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  readonly optional: readonly boolean[]
}

/** An entry of a map literal. */
export interface MapEntry {
  readonly offset: Offset
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

/** A map literal. */
export interface CreateMap extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

/** A field of a message literal. */
export interface StructField {
  readonly offset: Offset
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/** A message literal, such as `Object{name: "a"}`. */
export interface CreateStruct extends Node {
  readonly kind: 'struct'
  typeName: string
  readonly fields: readonly StructField[]
}

/** A loop over a range. Macros such as `all` and `map` expand to comprehensions. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly iterVar: string
  /** The second variable. Empty for a comprehension with one variable. */
  readonly iterVar2: string
  readonly accuVar: string
  readonly accuInit: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** A node of a parsed expression. */
export type Expr = Literal | Ident | Select | Call | CreateList | CreateMap | CreateStruct | Comprehension

/** Returns `a.b.c` as one name, or undefined if the expression is not a plain chain of names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const prefix = qualifiedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

/** Calls `visit` for every node, parents first. */
export function walk(expr: Expr, visit: (expr: Expr, parents: readonly Expr[]) => void): void {
  const parents: Expr[] = []
  const go = (node: Expr) => {
    visit(node, parents)
    parents.push(node)
    for (const child of childrenOf(node)) go(child)
    parents.pop()
  }
  go(expr)
}

function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value])
    case 'struct':
      return expr.fields.map((field) => field.value)
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result]
  }
}
