/** The kind of a type. */
export type Kind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'param'
  | 'uint'

/** A type of the expression language. */
export class Type {
  constructor(
    readonly kind: Kind,
    /** The name that `type(x)` prints. */
    readonly name: string,
    readonly params: readonly Type[] = [],
  ) {}

  /** Prints the type as messages of the checker do. */
  toString(): string {
    switch (this.kind) {
      case 'any':
        return 'any'
      case 'duration':
        return 'duration'
      case 'timestamp':
        return 'timestamp'
      case 'error':
        return '!error!'
      case 'null':
        return 'null'
      default:
        return this.params.length === 0 ? this.name : `${this.name}(${this.params.join(', ')})`
    }
  }
}

const simple = (kind: Kind, name: string = kind) => new Type(kind, name)

/** The simple types. */
export const types = {
  any: simple('any', 'google.protobuf.Any'),
  bool: simple('bool'),
  bytes: simple('bytes'),
  double: simple('double'),
  duration: simple('duration', 'google.protobuf.Duration'),
  dyn: simple('dyn'),
  error: simple('error', '*error*'),
  int: simple('int'),
  null: simple('null', 'null_type'),
  string: simple('string'),
  timestamp: simple('timestamp', 'google.protobuf.Timestamp'),
  type: simple('type'),
  uint: simple('uint'),
}

/** Returns the type of a list. */
export const listOf = (element: Type): Type => new Type('list', 'list', [element])
/** Returns the type of a map. */
export const mapOf = (key: Type, value: Type): Type => new Type('map', 'map', [key, value])
/** Returns the type of a type value. */
export const typeOfType = (type: Type): Type => new Type('type', 'type', [type])
/** Returns the type of an optional. */
export const optionalOf = (type: Type): Type => new Type('opaque', 'optional_type', [type])
/** Returns the type of an opaque library value. */
export const opaqueType = (name: string, ...params: Type[]): Type => new Type('opaque', name, params)
/** Returns the type of a message or an object. */
export const structType = (name: string): Type => new Type('struct', name)
/** Returns a type parameter. */
export const typeParam = (name: string): Type => new Type('param', name)

/** The list and map types as `type(x)` returns them. */
export const bareTypes = { list: listOf(types.dyn), map: mapOf(types.dyn, types.dyn), optional: optionalOf(types.dyn) }

/** Reports whether a type is `dyn`. */
export function isDyn(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'any'
}

/** Reports whether a type is `dyn` or the error type. */
export function isDynOrError(type: Type): boolean {
  return type.kind === 'error' || isDyn(type)
}

/** Returns the element of an optional type, or undefined for any other type. */
export function unwrapOptional(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined
}

/** Reports whether two types are equal. */
export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((param, i) => sameType(param, b.params[i]!))
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'param') return true
  if (isDyn(b) || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      if (a.name !== b.name || a.params.length !== b.params.length) return false
      return a.params.every((param, i) => isEqualOrLessSpecific(param, b.params[i]!))
    case 'type':
      return true
    default:
      return sameType(a, b)
  }
}

/** Returns the more general of two types that unify. */
export function mostGeneral(a: Type, b: Type): Type {
  return isEqualOrLessSpecific(a, b) ? a : b
}

function isNullable(type: Type): boolean {
  return ['opaque', 'struct', 'any', 'duration', 'timestamp', 'null'].includes(type.kind)
}

/** The inferred values of type parameters. */
export class Substitution {
  /** The previous values of the assignment in progress, newest last. */
  private readonly undo: (readonly [string, Type | undefined])[] = []

  private constructor(private readonly known: Map<string, Type>) {}

  static empty(): Substitution {
    return new Substitution(new Map())
  }

  find(type: Type): Type | undefined {
    return type.kind === 'param' ? this.known.get(type.name) : undefined
  }

  add(param: Type, type: Type): void {
    this.undo.push([param.name, this.known.get(param.name)])
    this.known.set(param.name, type)
  }

  /** Reports whether the types can be assigned pairwise. Inferences are kept only if they can. */
  assignAll(from: readonly Type[], to: readonly Type[]): boolean {
    this.undo.length = 0
    if (this.assignableList(from, to)) return true
    for (const [name, type] of this.undo.reverse()) {
      if (type) this.known.set(name, type)
      else this.known.delete(name)
    }
    return false
  }

  assign(from: Type, to: Type): boolean {
    return this.assignAll([from], [to])
  }

  private assignableList(from: readonly Type[], to: readonly Type[]): boolean {
    return from.length === to.length && from.every((type, i) => this.assignable(type, to[i]!))
  }

  private assignable(a: Type, b: Type): boolean {
    if (b.kind === 'param') {
      const { valid, known } = this.substitutes(a, b)
      if (valid) return true
      if (known) return false
    }
    if (a.kind === 'param') return this.substitutes(b, a).valid
    if (isDynOrError(a) || isDynOrError(b)) return true
    if (a.kind === 'null') return isNullable(b)
    if (b.kind === 'null') return isNullable(a)
    if (a.kind === 'type') return b.kind === 'type'
    if (a.kind !== b.kind || a.name !== b.name) return false
    return this.assignableList(a.params, b.params)
  }

  /** Reports whether the parameter can be replaced by the type. */
  private substitutes(type: Type, param: Type): { valid: boolean; known: boolean } {
    if (sameType(type, param)) return { valid: true, known: true }
    const known = this.find(param)
    if (known) {
      if (sameType(type, known)) return { valid: true, known: true }
      if (!this.assignable(type, known)) return { valid: false, known: true }
      const general = mostGeneral(type, known)
      if (this.isFree(param, general)) this.add(param, general)
      return { valid: true, known: true }
    }
    if (!this.isFree(param, type)) return { valid: false, known: false }
    this.add(param, type)
    return { valid: true, known: false }
  }

  /** Reports whether the parameter does not occur in the type. A type cannot contain itself. */
  private isFree(param: Type, within: Type): boolean {
    if (sameType(param, within)) return false
    if (within.kind === 'param') {
      const known = this.find(within)
      return !known || this.isFree(param, known)
    }
    return within.params.every((inner) => this.isFree(param, inner))
  }

  /** Replaces known parameters. With `unknownToDyn`, the other parameters become dyn. */
  apply(type: Type, unknownToDyn: boolean): Type {
    const known = this.find(type)
    if (known) return this.apply(known, unknownToDyn)
    if (type.kind === 'param') return unknownToDyn ? types.dyn : type
    if (type.params.length === 0) return type
    const params = type.params.map((param) => this.apply(param, unknownToDyn))
    return params.every((param, i) => param === type.params[i]) ? type : new Type(type.kind, type.name, params)
  }
}
