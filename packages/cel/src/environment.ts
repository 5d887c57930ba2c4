import type { FunctionDeclaration } from './functions.js'
import { listOf, mapOf, opaqueType, type Type, typeOfType, typeParam, types } from './types.js'

/** The fields of a struct type of the environment. */
export interface StructFields {
  /** Returns the type of a field, or undefined if the field does not exist. */
  field(name: string): Type | undefined
}

/** The variables, functions and types that an expression may refer to. */
export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly variables: ReadonlyMap<string, Type>
  readonly structs: ReadonlyMap<string, StructFields>
  /** Whether the lists extension (and its macro `sortBy`) is enabled. */
  readonly lists: boolean
}

/** The types that have a name in every environment. */
export const namedTypes: ReadonlyMap<string, Type> = new Map(
  [
    types.bool,
    types.bytes,
    types.double,
    types.duration,
    types.int,
    listOf(typeParam('A')),
    mapOf(typeParam('A'), typeParam('B')),
    types.null,
    types.string,
    types.timestamp,
    types.type,
    types.uint,
    opaqueType('optional_type'),
    opaqueType('net.IP'),
    opaqueType('net.CIDR'),
  ].map((type) => [type.name, type]),
)

/** The meaning of an identifier: a variable, or a type. */
export interface Resolved {
  readonly type: Type
  /** The type, if the identifier names one. */
  readonly named?: Type
}

/** Resolves an identifier. Returns undefined if it is not declared. */
export function resolveIdent(environment: Environment, name: string): Resolved | undefined {
  const variable = environment.variables.get(name)
  if (variable) return { type: variable }
  const named = namedTypes.get(name)
  return named && { type: typeOfType(named), named }
}
