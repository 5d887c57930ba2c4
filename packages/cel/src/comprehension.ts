import type { Comprehension, Expr } from './ast.js'
import { type Frame, type Step, spend } from './attribute.js'
import { attempt } from './operators.js'
import type { Planner } from './plan.js'
import { listCost } from './runtime-cost.js'
import {
  ArrayList,
  CelList,
  CelMap,
  EvaluationError,
  fail,
  goTypeName,
  typeOf,
  type Value,
  ValueMap,
} from './values.js'

/** Calls `visit` with the variables of each iteration until it returns false. */
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

/** The purpose of a loop, recognized by its shape. Macros create only these shapes. */
type Shape =
  | { readonly kind: 'all' | 'exists'; readonly predicate: Expr }
  | { readonly kind: 'collect'; readonly filter: Expr | undefined; readonly item: Expr }
  | { readonly kind: 'collectMap'; readonly filter: Expr | undefined; readonly args: readonly Expr[] }
  | { readonly kind: 'bind' }
  | { readonly kind: 'fold' }

function isAccu(expr: Expr | undefined, name: string): boolean {
  return expr?.kind === 'ident' && expr.name === name
}

function shapeOf(expr: Comprehension): Shape {
  const { step, accuVar, accuInit, condition, range, result } = expr
  if (range.kind === 'list' && range.elements.length === 0) return { kind: 'bind' }
  const fold: Shape = { kind: 'fold' }
  if (!isAccu(result, accuVar) || step.kind !== 'call') return fold
  if (condition.kind === 'call' && isAccu(step.args[0], accuVar)) {
    const predicate = step.args[1]!
    if (step.name === '_&&_') return { kind: 'all', predicate }
    if (step.name === '_||_') return { kind: 'exists', predicate }
  }
  const filter = step.name === '_?_:_' ? step.args[0] : undefined
  const grow = filter ? step.args[1]! : step
  if (grow.kind !== 'call' || !isAccu(grow.args[0], accuVar)) return fold
  const args = grow.args.slice(1)
  if (accuInit.kind === 'map' && grow.name === 'cel.@mapInsert') return { kind: 'collectMap', filter, args }
  const [added] = args
  if (accuInit.kind !== 'list' || grow.name !== '_+_' || added?.kind !== 'list') return fold
  if (added.elements.length !== 1 || added.optional[0]) return fold
  return { kind: 'collect', filter, item: added.elements[0]! }
}

/** The costs of a quantifier, equal to those of its expanded form. */
const quantifiers = {
  all: { decisive: false, condition: 2 },
  exists: { decisive: true, condition: 3 },
}

/**
 * Plans a macro that loops. The cost is that of the comprehension that it expands to, independent of the actual
 * loop.
 */
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
    if (shape.kind === 'collectMap') return planCollectMap(shape.args, shape.filter, planner, range, loop, set)
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
  // The accumulator, the list with one element, and the addition.
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

/** Plans `transformMap`, which adds a key and a value per iteration, or `transformMapEntry`, which adds a map. */
function planCollectMap(
  args: readonly Expr[],
  filter: Expr | undefined,
  planner: Planner,
  range: Step,
  loop: Loop,
  set: SetVariables,
): Step {
  const accept = filter && planner.plan(filter).run
  const parts = args.map((arg) => planner.plan(arg).run)
  const addTo = (map: ValueMap, frame: Frame) => {
    spend(frame, 1)
    const values = parts.map((part) => attempt(part, frame))
    // The addition costs one unit, even if the added value failed.
    spend(frame, 1)
    const failed = values.find((value) => value instanceof EvaluationError)
    if (failed) throw failed
    if (values.length === 2) insert(map, values[0] as Value, values[1] as Value)
    else insertAll(map, values[0] as Value)
  }
  return (frame) => {
    const map = new ValueMap()
    let failure: EvaluationError | undefined
    loop(range(frame), (first, second) => {
      set(frame, first, second)
      const accepted = accept ? attempt(accept, frame) : true
      if (accepted === false) return true
      if (accepted !== true) {
        failure = accepted instanceof EvaluationError ? accepted : new EvaluationError('no such overload')
      } else if (failure && parts.length === 2) spend(frame, 1)
      else {
        const added = attempt(() => {
          addTo(map, frame)
          return null
        }, frame)
        if (added instanceof EvaluationError) failure ??= added
      }
      return true
    })
    spend(frame, 1)
    if (failure) throw failure
    return map
  }
}

function insert(map: ValueMap, key: Value, value: Value): void {
  if (map.find(key) !== undefined) fail(`insert failed: key ${String(key)} already exists`)
  map.set(key, value)
}

function insertAll(map: ValueMap, added: Value): void {
  if (!(added instanceof CelMap)) fail(`no such overload: cel.@mapInsert(map, ${typeOf(added).name})`)
  for (const key of added.keys()) insert(map, key, added.find(key)!)
}

/** Plans a comprehension over an empty range, which binds a name to a value that is computed on first use. */
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
