import type { Call, Comprehension, CreateList, CreateMap, Expr, Ident, Literal } from './ast.js'
import type { Offset } from './source.js'
import type { Value } from './values.js'

/** The variable in which comprehensions accumulate. Source text cannot contain this name. */
export const accumulator = '@result'

/** Creates nodes for macros. All nodes have the position of the macro call. */
export class MacroBuilder {
  constructor(
    private readonly nextId: () => number,
    private readonly offset: Offset,
  ) {}

  literal(value: Value): Literal {
    return { kind: 'literal', id: this.nextId(), offset: this.offset, value }
  }

  ident(name: string): Ident {
    return { kind: 'ident', id: this.nextId(), offset: this.offset, name }
  }

  accu(): Ident {
    return this.ident(accumulator)
  }

  list(...elements: Expr[]): CreateList {
    const optional = elements.map(() => false)
    return { kind: 'list', id: this.nextId(), offset: this.offset, elements, optional }
  }

  emptyMap(): CreateMap {
    return { kind: 'map', id: this.nextId(), offset: this.offset, entries: [] }
  }

  call(name: string, ...args: Expr[]): Call {
    return { kind: 'call', id: this.nextId(), offset: this.offset, name, target: undefined, args }
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): Call {
    return { kind: 'call', id: this.nextId(), offset: this.offset, name, target, args }
  }

  presenceTest(operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.nextId(), offset: this.offset, operand, field, testOnly: true }
  }

  comprehension(parts: Omit<Comprehension, 'kind' | 'id' | 'offset' | 'type'>): Comprehension {
    return { kind: 'comprehension', id: this.nextId(), offset: this.offset, ...parts }
  }

  /** Returns the same expression with new nodes. */
  copy(expr: Expr): Expr {
    const base = { id: this.nextId(), offset: expr.offset }
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, ...base }
      case 'select':
        return { ...expr, ...base, operand: this.copy(expr.operand) }
      case 'call': {
        const args = expr.args.map((arg) => this.copy(arg))
        return { ...expr, ...base, args, target: expr.target && this.copy(expr.target) }
      }
      case 'list':
        return { ...expr, ...base, elements: expr.elements.map((element) => this.copy(element)) }
      case 'map': {
        const entries = expr.entries.map((e) => ({ ...e, key: this.copy(e.key), value: this.copy(e.value) }))
        return { ...expr, ...base, entries }
      }
      case 'struct':
        return { ...expr, ...base, fields: expr.fields.map((f) => ({ ...f, value: this.copy(f.value) })) }
      case 'comprehension': {
        const { range, accuInit, condition, step, result } = expr
        return {
          ...expr,
          ...base,
          range: this.copy(range),
          accuInit: this.copy(accuInit),
          condition: this.copy(condition),
          step: this.copy(step),
          result: this.copy(result),
        }
      }
    }
  }
}

/** An invalid macro call. */
export class MacroError {
  constructor(
    readonly offset: Offset,
    readonly message: string,
  ) {}
}

type Expander = (make: MacroBuilder, target: Expr, args: readonly Expr[]) => Expr | MacroError

function iterationVariable(arg: Expr, complaint: string): string | MacroError {
  if (arg.kind !== 'ident') return new MacroError(arg.offset, complaint)
  if (arg.name === accumulator || arg.name === '__result__') {
    return new MacroError(arg.offset, 'iteration variable overwrites accumulator variable')
  }
  return arg.name
}

/** Returns the variables of a comprehension: one, or a pair if `two` is set. */
function variables(args: readonly Expr[], two: boolean, complaint: string): [string, string] | MacroError {
  if (!two) {
    const name = iterationVariable(args[0]!, complaint)
    return name instanceof MacroError ? name : [name, '']
  }
  const [first, second] = args as [Expr, Expr]
  for (const arg of [first, second]) if (arg.kind !== 'ident') return new MacroError(arg.offset, complaint)
  if ((first as Ident).name === (second as Ident).name) {
    return new MacroError(second.offset, `duplicate variable name: ${(first as Ident).name}`)
  }
  const one = iterationVariable(first, complaint)
  if (one instanceof MacroError) return one
  const other = iterationVariable(second, complaint)
  return other instanceof MacroError ? other : [one, other]
}

const simpleName = 'argument must be a simple name'

/** The parts of a comprehension that a macro defines, besides its variables. */
type Folding = Pick<Parameters<MacroBuilder['comprehension']>[0], 'accuInit' | 'condition' | 'step' | 'result'>

/** Folds the range into one value. `body` is evaluated for each item. */
function fold(two: boolean, folding: (make: MacroBuilder, body: Expr) => Folding): Expander {
  return (make, range, args) => {
    const vars = variables(args, two, simpleName)
    if (vars instanceof MacroError) return vars
    const [iterVar, iterVar2] = vars
    return make.comprehension({ range, iterVar, iterVar2, accuVar: accumulator, ...folding(make, args.at(-1)!) })
  }
}

const all = (two: boolean) =>
  fold(two, (make, body) => ({
    accuInit: make.literal(true),
    condition: make.call('@not_strictly_false', make.accu()),
    step: make.call('_&&_', make.accu(), body),
    result: make.accu(),
  }))

const exists = (two: boolean) =>
  fold(two, (make, body) => ({
    accuInit: make.literal(false),
    condition: make.call('@not_strictly_false', make.call('!_', make.accu())),
    step: make.call('_||_', make.accu(), body),
    result: make.accu(),
  }))

const existsOne = (two: boolean) =>
  fold(two, (make, body) => ({
    accuInit: make.literal(0),
    condition: make.literal(true),
    step: make.call('_?_:_', body, make.call('_+_', make.accu(), make.literal(1)), make.accu()),
    result: make.call('_==_', make.accu(), make.literal(1)),
  }))

/** Folds the range into a list or map. `grow` returns what one step adds. The filter, if any, selects the steps. */
function collect(
  two: boolean,
  complaint: string,
  init: (make: MacroBuilder) => Expr,
  grow: (make: MacroBuilder, args: readonly Expr[], iterVar: string) => Expr,
  filterOf: (args: readonly Expr[]) => Expr | undefined,
): Expander {
  return (make, range, args) => {
    const vars = variables(args, two, complaint)
    if (vars instanceof MacroError) return vars
    const filter = filterOf(args)
    const accuInit = init(make)
    const condition = make.literal(true)
    let step = grow(make, args, vars[0])
    if (filter) step = make.call('_?_:_', filter, step, make.accu())
    const [iterVar, iterVar2] = vars
    const result = make.accu()
    return make.comprehension({ range, iterVar, iterVar2, accuVar: accumulator, accuInit, condition, step, result })
  }
}

const notIdentifier = 'argument is not an identifier'
const emptyList = (make: MacroBuilder) => make.list()
const emptyMap = (make: MacroBuilder) => make.emptyMap()
const append = (make: MacroBuilder, item: Expr) => make.call('_+_', make.accu(), make.list(item))
const lastOf = (args: readonly Expr[]) => args.at(-1)!

const map = collect(
  false,
  notIdentifier,
  emptyList,
  (make, args) => append(make, lastOf(args)),
  (args) => (args.length === 3 ? args[1] : undefined),
)

const filter = collect(
  false,
  notIdentifier,
  emptyList,
  (make, args) => append(make, args[0]!),
  (args) => args[1],
)

const transformFilter = (args: readonly Expr[]) => (args.length === 4 ? args[2] : undefined)

const transformList = collect(true, simpleName, emptyList, (make, args) => append(make, lastOf(args)), transformFilter)

const transformMap = collect(
  true,
  simpleName,
  emptyMap,
  (make, args, iterVar) => make.call('cel.@mapInsert', make.accu(), make.ident(iterVar), lastOf(args)),
  transformFilter,
)

const transformMapEntry = collect(
  true,
  simpleName,
  emptyMap,
  (make, args) => make.call('cel.@mapInsert', make.accu(), lastOf(args)),
  transformFilter,
)

function optional(name: string, wrap: (make: MacroBuilder, bound: Expr) => Expr): Expander {
  return (make, target, args) => {
    const [variable, body] = args as [Expr, Expr]
    if (variable.kind !== 'ident') {
      return new MacroError(variable.offset, `${name}() variable name must be a simple identifier`)
    }
    const hasValue = make.memberCall('hasValue', target)
    const bound = make.comprehension({
      range: make.list(),
      iterVar: '#unused',
      iterVar2: '',
      accuVar: variable.name,
      accuInit: make.memberCall('value', make.copy(target)),
      condition: make.literal(false),
      step: make.ident(variable.name),
      result: body,
    })
    return make.call('_?_:_', hasValue, wrap(make, bound), make.call('optional.none'))
  }
}

const receiverMacros: ReadonlyMap<string, Expander> = new Map<string, Expander>([
  ['all:2', all(false)],
  ['exists:2', exists(false)],
  ['exists_one:2', existsOne(false)],
  ['map:2', map],
  ['map:3', map],
  ['filter:2', filter],
  ['all:3', all(true)],
  ['exists:3', exists(true)],
  ['exists_one:3', existsOne(true)],
  ['existsOne:3', existsOne(true)],
  ['transformList:3', transformList],
  ['transformList:4', transformList],
  ['transformMap:3', transformMap],
  ['transformMap:4', transformMap],
  ['transformMapEntry:3', transformMapEntry],
  ['transformMapEntry:4', transformMapEntry],
  ['optMap:2', optional('optMap', (make, bound) => make.call('optional.of', bound))],
  ['optFlatMap:2', optional('optFlatMap', (_, bound) => bound)],
])

const sortBy: Expander = (make, target, args) => {
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
    const what = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression'
    return new MacroError(target.offset, what)
  }
  const varIdent = make.ident('@__sortBy_input__')
  const keys = map(make, varIdent, args)
  if (keys instanceof MacroError) return keys
  return make.comprehension({
    range: make.list(),
    iterVar: '#unused',
    iterVar2: '',
    accuVar: '@__sortBy_input__',
    accuInit: target,
    condition: make.literal(false),
    step: varIdent,
    result: make.memberCall('@sortByAssociatedKeys', make.ident('@__sortBy_input__'), keys),
  })
}

/**
 * Expands a macro call. Returns undefined if the call does not name a macro, and a MacroError for invalid
 * arguments.
 */
export function expandMacro(
  make: MacroBuilder,
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
  lists: boolean,
): Expr | MacroError | undefined {
  if (target) {
    const expand = receiverMacros.get(`${name}:${args.length}`) ?? (lists && name === 'sortBy' ? sortBy : undefined)
    return name === 'sortBy' && args.length !== 2 ? undefined : expand?.(make, target, args)
  }
  if (name !== 'has' || args.length !== 1) return undefined
  const [arg] = args as [Expr]
  if (arg.kind === 'select' && !arg.testOnly) return make.presenceTest(arg.operand, arg.field)
  return new MacroError(arg.offset, 'invalid argument to has() macro')
}
