import type { Offset } from './source.js'
import type { Type } from './types.js'
import type { Value } from './values.js'

/** What every node of an expression carries. The checker fills in the type. */
interface Node {
  readonly id: number
  readonly offset: Offset
  type?: Type
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Node {
  readonly kind: 'ident'
  name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(operand.field)` */
  readonly testOnly: boolean
  /** Set by the checker when the whole chain turned out to be one qualified name. */
  resolvedName?: string
}

export interface Call extends Node {
  readonly kind: 'call'
  name: string
  /** Absent for a global function. The checker removes it when `target.name` is a namespaced function. */
  target: Expr | undefined
  readonly args: readonly Expr[]
  /** Set by the checker: the signatures that fit. */
  overloads?: string[]
}

export interface CreateList extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  readonly optional: readonly boolean[]
}

export interface MapEntry {
  readonly offset: Offset
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface CreateMap extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface StructField {
  readonly offset: Offset
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

export interface CreateStruct extends Node {
  readonly kind: 'struct'
  typeName: string
  readonly fields: readonly StructField[]
}

export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly iterVar: string
  /** Empty for a comprehension over one variable. */
  readonly iterVar2: string
  readonly accuVar: string
  readonly accuInit: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

export type Expr = Literal | Ident | Select | Call | CreateList | CreateMap | CreateStruct | Comprehension

/** `a.b.c` as one name, or undefined when the expression is not a plain chain of names. */
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
