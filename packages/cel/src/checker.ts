import {
  type Call,
  type Comprehension,
  type CreateList,
  type CreateMap,
  type CreateStruct,
  type Expr,
  type Ident,
  qualifiedName,
  type Select,
  walk,
} from './ast.js'
import { type Environment, type Resolved, resolveIdent } from './environment.js'
import type { FunctionDeclaration } from './functions.js'
import type { Issue, Offset } from './source.js'
import {
  isDyn,
  isDynOrError,
  listOf,
  mapOf,
  mostGeneral,
  optionalOf,
  Substitution,
  sameType,
  type Type,
  typeParam,
  types,
  unwrapOptional,
} from './types.js'
import { typeOf, type Value } from './values.js'

/**
 * Sets the type of every node and the overloads of every call. Returns the issues that were found; the list is
 * empty if the types agree.
 */
export function check(expr: Expr, environment: Environment): Issue[] {
  const checker = new Checker(environment)
  checker.check(expr)
  checker.finish(expr)
  return checker.issues
}

class Checker {
  readonly issues: Issue[] = []
  private readonly known = Substitution.empty()
  private readonly scopes: Map<string, Type>[] = []
  private variables = 0

  constructor(private readonly environment: Environment) {}

  /** Replaces type parameters by the inferred types. Parameters without an inferred type become `dyn`. */
  finish(expr: Expr): void {
    walk(expr, (node) => {
      node.type = this.known.apply(node.type ?? types.error, true)
    })
  }

  private complain(offset: Offset, message: string): void {
    this.issues.push({ offset, message })
  }

  private undeclared(offset: Offset, name: string): Type {
    this.complain(offset, `undeclared reference to '${name}' (in container '')`)
    return types.error
  }

  private mismatch(offset: Offset, expected: Type, actual: Type): void {
    this.complain(offset, `expected type '${expected}' but found '${actual}'`)
  }

  private newVariable(): Type {
    return typeParam(`_var${this.variables++}`)
  }

  check(expr: Expr): Type {
    const type = this.infer(expr)
    expr.type = type
    return type
  }

  private infer(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return typeOf(expr.value as Value)
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
      case 'struct':
        return this.struct(expr)
      case 'comprehension':
        return this.comprehension(expr)
    }
  }

  private lookup(name: string): Resolved | undefined {
    const bare = name.startsWith('.') ? name.slice(1) : name
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const type = this.scopes[i]!.get(bare)
      if (type) return { type }
    }
    return resolveIdent(this.environment, bare)
  }

  private ident(expr: Ident): Type {
    const found = this.lookup(expr.name)
    if (!found) return this.undeclared(expr.offset, expr.name)
    if (expr.name.startsWith('.')) expr.name = expr.name.slice(1)
    return found.type
  }

  private select(expr: Select): Type {
    const name = qualifiedName(expr)
    const found = name === undefined ? undefined : this.lookup(name)
    if (found) {
      expr.resolvedName = name!.startsWith('.') ? name!.slice(1) : name!
      return found.type
    }
    const type = this.selectField(expr.offset, expr.operand, expr.field, false)
    return expr.testOnly ? types.bool : this.known.apply(type, false)
  }

  private selectField(offset: Offset, operand: Expr, field: string, optional: boolean): Type {
    const operandType = this.known.apply(this.check(operand), false)
    const inner = unwrapOptional(operandType)
    const target = inner ?? operandType
    const result = this.fieldType(offset, target, field)
    return inner || optional ? optionalOf(result) : result
  }

  private fieldType(offset: Offset, target: Type, field: string): Type {
    switch (target.kind) {
      case 'map':
        return target.params[1]!
      case 'struct': {
        const struct = this.environment.structs.get(target.name)
        const type = struct?.field(field)
        if (type) return type
        this.complain(offset, `undefined field '${field}'`)
        return types.error
      }
      case 'param':
        this.known.assign(types.dyn, target)
        return types.dyn
      default:
        if (!isDynOrError(target)) this.complain(offset, `type '${target}' does not support field selection`)
        return types.dyn
    }
  }

  private optionalSelect(expr: Call): Type {
    const [operand, field] = expr.args as [Expr, Expr]
    const name = field.kind === 'literal' ? String(field.value) : ''
    field.type = types.string
    expr.overloads = ['select_optional_field']
    return this.known.apply(this.selectField(expr.offset, operand, name, true), false)
  }

  private call(expr: Call): Type {
    if (expr.name === '_?._') return this.optionalSelect(expr)
    for (const arg of expr.args) this.check(arg)
    if (!expr.target) {
      const name = expr.name.startsWith('.') ? expr.name.slice(1) : expr.name
      const declaration = this.environment.functions.get(name)
      if (!declaration) return this.undeclared(expr.offset, expr.name)
      expr.name = name
      return this.resolve(expr, declaration, undefined)
    }
    const prefix = qualifiedName(expr.target)
    if (prefix !== undefined) {
      const name = `${prefix.startsWith('.') ? prefix.slice(1) : prefix}.${expr.name}`
      const declaration = this.environment.functions.get(name)
      if (declaration) {
        expr.name = name
        expr.target = undefined
        return this.resolve(expr, declaration, undefined)
      }
    }
    this.check(expr.target)
    const declaration = this.environment.functions.get(expr.name)
    if (!declaration) return this.undeclared(expr.offset, expr.name)
    return this.resolve(expr, declaration, expr.target)
  }

  private resolve(expr: Call, declaration: FunctionDeclaration, target: Expr | undefined): Type {
    const args = target ? [target, ...expr.args] : [...expr.args]
    if (expr.name === '_&&_' || expr.name === '_||_') return this.resolveLogical(expr, declaration, args)
    const argTypes = args.map((arg) => arg.type!)
    let result: Type | undefined
    const fitting: string[] = []
    for (const overload of declaration.overloads) {
      if (overload.member !== (target !== undefined)) continue
      const [returns, ...expected] = this.instantiate([overload.result, ...overload.args])
      if (!this.known.assignAll(argTypes, expected)) continue
      fitting.push(overload.id)
      const type = this.known.apply(returns!, false)
      if (!result) result = type
      else if (!isDyn(result) && !sameType(type, result)) result = types.dyn
    }
    if (!result) {
      const shown = argTypes.map((type) => this.known.apply(type, true))
      const signature = target ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      this.complain(expr.offset, `found no matching overload for '${declaration.name}' applied to '${signature}'`)
      return types.error
    }
    expr.overloads = fitting
    return result
  }

  private resolveLogical(expr: Call, declaration: FunctionDeclaration, args: readonly Expr[]): Type {
    let agree = true
    for (const arg of args) {
      if (this.known.assign(arg.type!, types.bool)) continue
      this.mismatch(arg.offset, types.bool, arg.type!)
      agree = false
    }
    if (!agree) return types.error
    expr.overloads = [declaration.overloads[0]!.id]
    return types.bool
  }

  /** Returns the types with fresh type parameters. */
  private instantiate(signature: readonly Type[]): Type[] {
    const fresh = Substitution.empty()
    const seen = new Set<string>()
    const visit = (type: Type) => {
      if (type.kind === 'param' && !seen.has(type.name)) {
        seen.add(type.name)
        fresh.add(type, this.newVariable())
      }
      type.params.forEach(visit)
    }
    signature.forEach(visit)
    return seen.size === 0 ? [...signature] : signature.map((type) => fresh.apply(type, false))
  }

  /**
   * Returns a common type of literal elements. A later check requires that they agree, since arguments of `format`
   * are exempt.
   */
  private join(previous: Type | undefined, current: Type): Type {
    if (!previous) return current
    return this.known.assign(previous, current) ? mostGeneral(previous, current) : types.dyn
  }

  /** Returns the type of an element that may be marked as optional. */
  private elementType(expr: Expr, optional: boolean): Type {
    const type = this.check(expr)
    if (!optional) return type
    const inner = unwrapOptional(type)
    if (!inner && !isDyn(type)) this.mismatch(expr.offset, optionalOf(type), type)
    return inner ?? type
  }

  private list(expr: CreateList): Type {
    let element: Type | undefined
    expr.elements.forEach((item, i) => {
      const type = this.elementType(item, expr.optional[i]!)
      element = this.join(element, type)
    })
    return listOf(element ?? this.newVariable())
  }

  private map(expr: CreateMap): Type {
    let key: Type | undefined
    let value: Type | undefined
    for (const entry of expr.entries) {
      key = this.join(key, this.check(entry.key))
      value = this.join(value, this.elementType(entry.value, entry.optional))
    }
    return mapOf(key ?? this.newVariable(), value ?? this.newVariable())
  }

  private struct(expr: CreateStruct): Type {
    const found = this.lookup(expr.typeName)
    if (!found) return this.undeclared(expr.offset, expr.typeName)
    if (found.type.kind !== 'type') this.complain(expr.offset, `'${found.type}' is not a type`)
    else this.complain(expr.offset, `'${found.named ?? found.type}' is not a message type`)
    for (const field of expr.fields) {
      this.check(field.value)
      this.complain(field.offset, `unexpected failed resolution of '${expr.typeName}'`)
    }
    return types.error
  }

  private comprehension(expr: Comprehension): Type {
    this.check(expr.range)
    const accuType = this.check(expr.accuInit)
    const range = this.known.apply(expr.range.type!, false)
    const [first, second] = this.iterationTypes(expr, range)
    this.scopes.push(new Map([[expr.accuVar, accuType]]))
    const loop = new Map([[expr.iterVar, first]])
    if (expr.iterVar2) loop.set(expr.iterVar2, second)
    this.scopes.push(loop)
    this.check(expr.condition)
    this.assert(expr.condition, types.bool)
    this.check(expr.step)
    this.assert(expr.step, accuType)
    this.scopes.pop()
    const result = this.check(expr.result)
    this.scopes.pop()
    return this.known.apply(result, false)
  }

  private iterationTypes(expr: Comprehension, range: Type): [Type, Type] {
    const two = expr.iterVar2 !== ''
    switch (range.kind) {
      case 'list':
        return two ? [types.int, range.params[0]!] : [range.params[0]!, types.dyn]
      case 'map':
        return [range.params[0]!, range.params[1]!]
      case 'dyn':
      case 'any':
      case 'error':
      case 'param':
        this.known.assign(types.dyn, range)
        return [types.dyn, types.dyn]
      default: {
        const wanted = 'cannot be range of a comprehension (must be list, map, or dynamic)'
        this.complain(expr.range.offset, `expression of type '${range}' ${wanted}`)
        return [types.error, types.error]
      }
    }
  }

  private assert(expr: Expr, type: Type): void {
    if (!this.known.assign(type, expr.type!)) this.mismatch(expr.offset, type, expr.type!)
  }
}
