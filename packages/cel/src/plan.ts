import type { Call, CreateList, CreateMap, Expr, Ident, Select } from './ast.js'
import {
  type Attribute,
  evaluator,
  type Frame,
  isKey,
  presenceTest,
  type Qualifier,
  resolver,
  type Step,
  spend,
} from './attribute.js'
import { planComprehension } from './comprehension.js'
import type { Environment } from './environment.js'
import { namedTypes } from './environment.js'
import { implementation } from './functions.js'
import { equality, invocation, logical, notStrictlyFalse, optionalOr, setMembership, variadic } from './operators.js'
import { compileRegex } from './regex.js'
import { callCost, listCost, mapCost } from './runtime-cost.js'
import type { SchemaNode } from './schema-node.js'
import type { Type } from './types.js'
import {
  ArrayList,
  CelDouble,
  type CelList,
  CelOptional,
  CelUint,
  EvaluationError,
  fail,
  goTypeName,
  noSuchOverload,
  typeOf,
  type Value,
  ValueMap,
} from './values.js'

/** A compiled part of an expression. */
export interface Plan {
  readonly run: Step
  /** The value, if it is known at planning time. Evaluating it costs nothing. */
  readonly constant?: { readonly value: Value }
  /**
   * The attribute, if the part is a variable or a selection from one. Attributes cost less where they are not
   * evaluated on their own.
   */
  readonly attribute?: Attribute
}

/** The expression is well typed, but cannot be planned. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
}

const conversionFunctions = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '))

/** Functions whose constant pattern is compiled at planning time. The plan fails if the pattern is not valid. */
const regexFunctions = new Set(['matches', 'find', 'findAll'])

/** A planned expression. */
export interface PlannedProgram {
  readonly run: Step
  /** The variables of the environment, in the order of their slots. */
  readonly variables: readonly string[]
  readonly slotCount: number
}

/** Compiles a checked expression into closures. Throws a PlanError if a constant part cannot be evaluated. */
export function plan(
  expr: Expr,
  environment: Environment,
  schemaOf: (type: Type) => SchemaNode | undefined,
): PlannedProgram {
  const planner = new Planner(environment, schemaOf)
  const { run } = planner.plan(expr)
  return { run, variables: planner.variables, slotCount: planner.slotCount }
}

/** Compiles nodes of a checked expression into steps. */
export class Planner {
  readonly variables: string[]
  slotCount: number
  private readonly scope: { readonly name: string; readonly slot: number }[] = []

  constructor(
    private readonly environment: Environment,
    private readonly schemaOf: (type: Type) => SchemaNode | undefined,
  ) {
    this.variables = [...environment.variables.keys()]
    this.slotCount = this.variables.length
  }

  /** Gives the variables of a comprehension slots while `within` is planned. */
  withVariables<T>(names: readonly string[], within: (slots: readonly number[]) => T): T {
    const slots = names.map((name) => {
      const slot = this.slotCount++
      this.scope.push({ name, slot })
      return slot
    })
    const result = within(slots)
    this.scope.length -= names.length
    return result
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value)
      case 'ident':
        return this.ident(expr)
      case 'select':
        return this.select(expr)
      case 'call':
        return this.call(expr)
      case 'list':
        return this.list(expr)
      case 'map':
        return this.map(expr)
      case 'comprehension':
        return { run: planComprehension(expr, this) }
      case 'struct':
        throw new PlanError(`unknown type: ${expr.typeName}`)
    }
  }

  private ident(expr: Ident): Plan {
    return this.variable(expr.name)
  }

  private variable(name: string): Plan {
    const local = this.scope.findLast((variable) => variable.name === name)
    const slot = local?.slot ?? this.variables.indexOf(name)
    if (slot < 0) {
      const named = namedTypes.get(name)
      if (!named) throw new PlanError(`reference to undefined type: ${name}`)
      return constant(named)
    }
    return fromAttribute({ root: readSlot(slot, name), qualifiers: [], ownCost: 1 })
  }

  private select(expr: Select): Plan {
    if (expr.resolvedName !== undefined) return this.variable(expr.resolvedName)
    const attribute = qualified(this.plan(expr.operand), this.fieldQualifier(expr.operand.type!, expr.field, false))
    return expr.testOnly ? { run: presenceTest(attribute) } : fromAttribute(attribute)
  }

  private fieldQualifier(operand: Type, field: string, optional: boolean): Qualifier {
    const node = operand.kind === 'struct' && !optional ? this.schemaOf(operand) : undefined
    const known = node?.fields.get(field)
    return { constant: field, key: () => field, optional, ...(known ? { field: known } : {}) }
  }

  private call(expr: Call): Plan {
    switch (expr.name) {
      case '_&&_':
        return { run: logical(this.plan(expr.args[0]!).run, this.plan(expr.args[1]!).run, false) }
      case '_||_':
        return { run: logical(this.plan(expr.args[0]!).run, this.plan(expr.args[1]!).run, true) }
      case '_?_:_':
        return this.conditional(expr)
      case '_==_':
      case '_!=_':
        return { run: equality(this.plan(expr.args[0]!).run, this.plan(expr.args[1]!).run, expr.name === '_!=_') }
      case '_[_]':
        return fromAttribute(qualified(this.plan(expr.args[0]!), this.indexQualifier(expr.args[1]!, false)))
      case '_[?_]':
        return fromAttribute(qualified(this.plan(expr.args[0]!), this.indexQualifier(expr.args[1]!, true)))
      case '_?._':
        return this.optionalSelect(expr)
      case '@not_strictly_false':
        return { run: notStrictlyFalse(this.plan(expr.args[0]!).run) }
    }
    const args = expr.target ? [expr.target, ...expr.args] : expr.args
    return this.function(
      expr,
      args.map((arg) => this.plan(arg)),
    )
  }

  private optionalSelect(expr: Call): Plan {
    const [operand, field] = expr.args as [Expr, Expr]
    const name = field.kind === 'literal' ? String(field.value) : ''
    return fromAttribute(qualified(this.plan(operand), this.fieldQualifier(operand.type!, name, true)))
  }

  private indexQualifier(index: Expr, optional: boolean): Qualifier {
    const key = this.plan(index)
    if (key.constant) {
      const { value } = key.constant
      if (!isKey(value)) throw new PlanError(`invalid qualifier type: ${goTypeName(value)}`)
      return { constant: value, key: key.run, optional }
    }
    return { key: key.attribute ? resolver(key.attribute) : key.run, optional }
  }

  private conditional(expr: Call): Plan {
    const [condition, whenTrue, whenFalse] = expr.args.map((arg) => this.plan(arg)) as [Plan, Plan, Plan]
    const test = condition.run
    const yes = whenTrue.attribute ? resolver(whenTrue.attribute) : whenTrue.run
    const no = whenFalse.attribute ? resolver(whenFalse.attribute) : whenFalse.run
    const root: Step = (frame) => {
      const holds = test(frame)
      return holds === true ? yes(frame) : holds === false ? no(frame) : noSuchOverload()
    }
    return fromAttribute({ root, qualifiers: [], ownCost: 0 })
  }

  private function(expr: Call, args: readonly Plan[]): Plan {
    const overload = expr.overloads?.length === 1 ? expr.overloads[0]! : ''
    if (overload === 'in_list' && args[1]!.constant) {
      const list = args[1]!.constant.value as CelList
      if (list.size === 0) return constant(false)
      const member = setMembership(args[0]!.run, list)
      if (member) return { run: member }
    }
    if (overload === 'optional_or_optional' || overload === 'optional_orValue_value') {
      return { run: optionalOr(args[0]!.run, args[1]!.run, overload === 'optional_orValue_value') }
    }
    const declaration = this.environment.functions.get(expr.name)!
    const pattern = regexFunctions.has(expr.name) ? args[1]?.constant?.value : undefined
    const regex = typeof pattern === 'string' ? fold(() => compileRegex(pattern)) : undefined
    const run =
      regex && expr.name === 'matches'
        ? (text: Value) => (typeof text === 'string' ? regex.test(text) : noSuchOverload())
        : implementation(declaration, expr.overloads ?? [])
    if (args.length === 1 && args[0]!.constant && conversionFunctions.has(expr.name)) {
      return constant(fold(() => run(args[0]!.constant!.value)))
    }
    const steps = args.map((arg) => arg.run)
    const invoke = regex || expr.name === 'format' ? variadic : invocation
    return { run: invoke(run, steps, callCost(expr.name, overload)) }
  }

  private list(expr: CreateList): Plan {
    const elements = expr.elements.map((element) => this.plan(element))
    if (elements.every((element) => element.constant)) {
      return constant(fold<Value>(() => new ArrayList(elements.map((element) => element.constant!.value))))
    }
    const runs = elements.map((element) => element.run)
    const { optional } = expr
    const build: Step = (frame) => {
      const items: Value[] = []
      for (let i = 0; i < runs.length; i++) {
        let item = runs[i]!(frame)
        if (optional[i]) {
          if (!(item instanceof CelOptional)) {
            fail(`cannot initialize optional list element from non-optional value ${show(item)}`)
          }
          if (item.value === undefined) continue
          item = item.value
        }
        items.push(item)
      }
      return new ArrayList(items)
    }
    return { run: charged(build, listCost) }
  }

  private map(expr: CreateMap): Plan {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }))
    const build: Step = (frame) => {
      const map = new ValueMap()
      for (const entry of entries) {
        const key = entry.key.run(frame)
        if (!isKey(key)) fail(`unsupported key type: ${typeOf(key).name}`)
        let value = entry.value.run(frame)
        if (entry.optional) {
          if (!(value instanceof CelOptional)) {
            fail(`cannot initialize optional entry '${show(key)}' from non-optional value ${show(value)}`)
          }
          if (value.value === undefined) {
            map.delete(key)
            continue
          }
          value = value.value
        }
        map.set(key, value)
      }
      return map
    }
    const known = entries.every(({ key, value }) => key.constant && value.constant)
    if (known) return constant(fold(() => build({ cost: 0, limit: Infinity, slots: [] })))
    return { run: charged(build, mapCost) }
  }
}

function show(value: Value): string {
  return value instanceof CelUint || value instanceof CelDouble ? String(value.value) : String(value)
}

/** Charges the cost, even if the step fails. */
function charged(step: Step, cost: number): Step {
  return (frame) => {
    try {
      return step(frame)
    } finally {
      spend(frame, cost)
    }
  }
}

function constant(value: Value): Plan {
  return { run: () => value, constant: { value } }
}

/** Computes at planning time. A failure fails the plan. */
function fold<T>(compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    if (error instanceof EvaluationError) throw new PlanError(error.message)
    throw error
  }
}

function fromAttribute(attribute: Attribute): Plan {
  return { run: evaluator(attribute), attribute }
}

function qualified(operand: Plan, qualifier: Qualifier): Attribute {
  const base = operand.attribute ?? { root: operand.run, qualifiers: [], ownCost: 1 }
  return { ...base, qualifiers: [...base.qualifiers, qualifier] }
}

function readSlot(slot: number, name: string): Step {
  return (frame) => {
    const value = frame.slots[slot]
    if (typeof value === 'function') return readLazy(frame, slot, value)
    if (value === undefined) return fail(`no such attribute(s): ${name}`)
    if (value instanceof EvaluationError) throw value
    return value
  }
}

/** Evaluates a lazy variable on first use. The value or the failure is cached. */
function readLazy(frame: Frame, slot: number, compute: () => Value): Value {
  try {
    const value = compute()
    frame.slots[slot] = value
    return value
  } catch (error) {
    if (error instanceof EvaluationError) frame.slots[slot] = error
    throw error
  }
}
