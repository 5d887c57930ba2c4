import type { Type } from './types.js'
import { CelList, CelMap, CelOptional, EvaluationError, noSuchOverload, typeOf, type Value } from './values.js'

/** The implementation of an overload. */
// biome-ignore lint/suspicious/noExplicitAny: the signature of the overload determines the arguments.
export type Implementation = (...args: any[]) => Value

/** One signature of a function. */
export interface Overload {
  readonly id: string
  /** Whether it is called as `target.name(…)`. The target is the first argument. */
  readonly member: boolean
  readonly args: readonly Type[]
  readonly result: Type
  readonly run?: Implementation | undefined
}

/** A function with its overloads. */
export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
  /** One implementation for all overloads. It must accept every value. */
  readonly run?: Implementation | undefined
  /** Whether the implementations check their arguments themselves. */
  readonly unguarded?: boolean
}

/** Declares an overload that is called as a global function. */
export const overload = (id: string, args: readonly Type[], result: Type, run?: Implementation): Overload => ({
  id,
  member: false,
  args,
  result,
  run,
})

/** Declares an overload that is called as a method. */
export const member = (id: string, args: readonly Type[], result: Type, run?: Implementation): Overload => ({
  id,
  member: true,
  args,
  result,
  run,
})

/** Declares a function with its overloads. */
export function declare(
  name: string,
  overloads: readonly Overload[],
  options: { run?: Implementation; unguarded?: boolean } = {},
): FunctionDeclaration {
  return { name, overloads, ...options }
}

/** Reports whether a value is accepted for a parameter at run time. Lists and maps are judged by their first item. */
export function matches(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'param':
      return true
    case 'list':
      return value instanceof CelList && (value.size === 0 || matches(value.at(0), type.params[0]!))
    case 'map':
      return value instanceof CelMap && matchesFirstEntry(value, type)
    case 'opaque':
      if (type.name === 'optional_type') return value instanceof CelOptional
      return typeOf(value).name === type.name
    default:
      return typeOf(value).name === type.name
  }
}

function matchesFirstEntry(map: CelMap, { params: [key, element] }: Type): boolean {
  if (key!.kind === 'param' && element!.kind === 'param') return true
  const first = map.keys()[0]
  return first === undefined || (matches(first, key!) && matches(map.find(first)!, element!))
}

function mismatch(name: string, args: readonly Value[]): never {
  throw new EvaluationError(`no such overload: ${name}(${args.map((arg) => typeOf(arg).name).join(', ')})`)
}

function guard(name: string, candidate: Overload): Implementation {
  const run = candidate.run ?? noSuchOverload
  const expected = candidate.args
  return (...args: Value[]) => {
    for (let i = 0; i < expected.length; i++) if (!matches(args[i]!, expected[i]!)) mismatch(name, args)
    return run(...args)
  }
}

/** Returns the implementation for the overloads that the checker selected. */
export function implementation(declaration: FunctionDeclaration, overloads: readonly string[]): Implementation {
  if (declaration.run) return declaration.run
  const bound = declaration.overloads.filter((candidate) => candidate.run)
  const only = overloads.length === 1 ? bound.find((candidate) => candidate.id === overloads[0]) : undefined
  const single = only ?? (bound.length === 1 ? bound[0] : undefined)
  if (single) return declaration.unguarded ? single.run! : guard(declaration.name, single)
  return (...args: Value[]) => {
    const fits = bound.find(
      (candidate) =>
        candidate.args.length === args.length && candidate.args.every((type, i) => matches(args[i]!, type)),
    )
    return fits ? fits.run!(...args) : mismatch(declaration.name, args)
  }
}

/** Merges declarations that extend the same function. */
export function mergeFunctions(
  ...libraries: readonly (readonly FunctionDeclaration[])[]
): ReadonlyMap<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>()
  for (const declaration of libraries.flat()) {
    const known = functions.get(declaration.name)
    if (!known) functions.set(declaration.name, declaration)
    else functions.set(declaration.name, { ...known, overloads: [...known.overloads, ...declaration.overloads] })
  }
  return functions
}
