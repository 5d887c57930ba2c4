import type { Comprehension, Expr } from './ast.js'
import { type Frame, type Step, spend } from './attribute.js'
import { attempt } from './operators.js'
import type { Planner } from './plan.js'
import { listCost } from './runtime-cost.js'
import { ArrayList, CelList, CelMap, EvaluationError, fail, goTypeName, type Value } from './values.js'

/** Calls `visit` with the variables of each turn until it returns false. */
type Loop = (range: Value, visit: (first: Value, second: Value) => boolean) => void

const overOne: Loop = (range, visit) => {
  if (range instanceof CelList) {
    for (let i = 0; i < range.size; i++) if (!visit(range.at(i), null)) return
  } else if (range instanceof CelMap) {
    for (const key of range.keys()) if (!visit(key, null)) return
  } else fail(`got '${goTypeName(range)}', expected iterable type`)
}

const overTwo: Loop = (range, visit) => {
  if (range instanceof CelList) {
    for (let i = 0; i < range.size; i++) if (!visit(i, range.at(i))) return
  } else if (range instanceof CelMap) {
    for (const key of range.keys()) if (!visit(key, range.find(key)!)) return
  } else fail(`unsupported comprehension range type: ${goTypeName(range)}`)
}

/** What the loop is for, recognized by its shape; macros make no other. */
type Shape =
  | { readonly kind: 'all' | 'exists'; readonly predicate: Expr }
  | { readonly kind: 'collect'; readonly filter: Expr | undefined; readonly item: Expr }
  | { readonly kind: 'bind' }
  | { readonly kind: 'fold' }

function isAccu(expr: Expr | undefined, name: string): boolean {
  return expr?.kind === 'ident' && expr.name === name
}

function shapeOf(expr: Comprehension): Shape {
  const { step, accuVar, accuInit, condition, range, result } = expr
  if (range.kind === 'list' && range.elements.length === 0) return { kind: 'bind' }
  if (!isAccu(result, accuVar) || step.kind !== 'call') return { kind: 'fold' }
  if (condition.kind === 'call' && isAccu(step.args[0], accuVar)) {
    if (step.name === '_&&_') return { kind: 'all', predicate: step.args[1]! }
    if (step.name === '_||_') return { kind: 'exists', predicate: step.args[1]! }
  }
  if (accuInit.kind !== 'list') return { kind: 'fold' }
  const filtered = step.name === '_?_:_'
  const append = filtered ? step.args[1]! : step
  if (append.kind !== 'call' || append.name !== '_+_' || !isAccu(append.args[0], accuVar)) return { kind: 'fold' }
  const added = append.args[1]!
  if (added.kind !== 'list' || added.elements.length !== 1 || added.optional[0]) return { kind: 'fold' }
  return { kind: 'collect', filter: filtered ? step.args[0] : undefined, item: added.elements[0]! }
}

/** The costs of a quantifier, as its expanded form would add up. */
const quantifiers = {
  all: { decisive: false, condition: 2 },
  exists: { decisive: true, condition: 3 },
}

/** Plans a macro that loops. Its cost is that of the comprehension it stands for, whatever the loop really does. */
export function planComprehension(expr: Comprehension, planner: Planner): Step {
  const range = planner.plan(expr.range).run
  const shape = shapeOf(expr)
  if (shape.kind === 'bind') return planBind(expr, planner)
  const two = expr.iterVar2 !== ''
  const loop = two ? overTwo : overOne
  const names = two ? [expr.iterVar, expr.iterVar2] : [expr.iterVar]
  if (shape.kind === 'fold') return planFold(expr, planner, range, loop)
  return planner.withVariables(names, (slots) => {
    const set = (frame: Frame, first: Value, second: Value) => {
      frame.slots[slots[0]!] = first
      if (two) frame.slots[slots[1]!] = second
    }
    if (shape.kind === 'collect') return planCollect(shape.item, shape.filter, planner, range, loop, set)
    return planQuantifier(shape.predicate, quantifiers[shape.kind], planner, range, loop, set)
  })
}

type SetVariables = (frame: Frame, first: Value, second: Value) => void

function planQuantifier(
  predicate: Expr,
  { decisive, condition }: { decisive: boolean; condition: number },
  planner: Planner,
  range: Step,
  loop: Loop,
  set: SetVariables,
): Step {
  const test = planner.plan(predicate).run
  return (frame) => {
    let decided = false
    let failure: EvaluationError | undefined
    loop(range(frame), (first, second) => {
      spend(frame, condition)
      if (decided) return false
      spend(frame, 1)
      set(frame, first, second)
      const value = attempt(test, frame)
      if (value === decisive) decided = true
      else if (value instanceof EvaluationError) failure ??= value
      else if (typeof value !== 'boolean') failure ??= new EvaluationError('no such overload')
      return true
    })
    spend(frame, 1)
    if (decided) return decisive
    if (failure) throw failure
    return !decisive
  }
}

function planCollect(
  item: Expr,
  filter: Expr | undefined,
  planner: Planner,
  range: Step,
  loop: Loop,
  set: SetVariables,
): Step {
  const accept = filter && planner.plan(filter).run
  const { run: make, constant } = planner.plan(item)
  // The accumulator, the list of one, and adding them.
  const stepCost = 1 + (constant ? 0 : listCost) + 1
  return (frame) => {
    const items: Value[] = []
    let failure: EvaluationError | undefined
    loop(range(frame), (first, second) => {
      set(frame, first, second)
      const accepted = accept ? attempt(accept, frame) : true
      if (accepted === false) return true
      if (accepted !== true) {
        failure = accepted instanceof EvaluationError ? accepted : new EvaluationError('no such overload')
        return true
      }
      const item = attempt(make, frame)
      spend(frame, stepCost)
      if (item instanceof EvaluationError) failure ??= item
      else items.push(item)
      return true
    })
    spend(frame, 1)
    if (failure) throw failure
    return new ArrayList(items)
  }
}

/** A range of nothing binds a name to a value that is computed when first used. */
function planBind(expr: Comprehension, planner: Planner): Step {
  const init = planner.plan(expr.accuInit).run
  return planner.withVariables([expr.accuVar], ([slot]) => {
    const result = planner.plan(expr.result).run
    return (frame) => {
      frame.slots[slot!] = () => init(frame)
      return result(frame)
    }
  })
}

function planFold(expr: Comprehension, planner: Planner, range: Step, loop: Loop): Step {
  const init = planner.plan(expr.accuInit).run
  return planner.withVariables([expr.accuVar], ([accu]) => {
    const names = expr.iterVar2 ? [expr.iterVar, expr.iterVar2] : [expr.iterVar]
    const [condition, step, slots] = planner.withVariables(names, (slots) => [
      planner.plan(expr.condition).run,
      planner.plan(expr.step).run,
      slots,
    ])
    const result = planner.plan(expr.result).run
    return (frame) => {
      frame.slots[accu!] = () => init(frame)
      loop(range(frame), (first, second) => {
        frame.slots[slots[0]!] = first
        if (expr.iterVar2) frame.slots[slots[1]!] = second
        if (attempt(condition, frame) === false) return false
        frame.slots[accu!] = attempt(step, frame)
        return true
      })
      return result(frame)
    }
  })
}
