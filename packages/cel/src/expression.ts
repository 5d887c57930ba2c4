import { baseEnvironments } from './base.js'
import { estimateCost } from './cost.js'
import type { Environment, StructFields } from './environment.js'
import type { Estimate } from './estimate.js'
import { type AuthorizationChecker, authorizerTypes, CelAuthorizer, ResourceCheck } from './library/authorizer.js'
import { PlanError } from './plan.js'
import { type Binding, CompileError, compile, outputType, Program } from './program.js'
import { toJson } from './to-json.js'
import { listOf, mapOf, structType, type Type, types } from './types.js'
import { CelMap, EvaluationError, fromJson, noSuchOverload, type Value } from './values.js'

/** The default cost limit of one evaluation. */
const expressionCostLimit = 1_000_000

type SimpleType =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'authorizer'
  | 'resourceCheck'

/** The type of a variable. The fields of an object are declared; the checker reports every other field. */
export type VariableType =
  | SimpleType
  | { readonly list: VariableType }
  | { readonly map: VariableType }
  | { readonly object: Readonly<Record<string, VariableType>>; readonly name: string }

/** Options of {@link ExpressionEnvironment}. */
export interface ExpressionEnvironmentOptions {
  readonly variables: Readonly<Record<string, VariableType>>
  /** Whether the expressions were accepted before, so that they may use features that are new in this release. */
  readonly stored?: boolean
}

/** The result of an evaluation. Its cost includes that of composed variables that it evaluated first. */
export type Evaluation =
  | { readonly value: unknown; readonly cost: number }
  | { readonly error: string; readonly cost: number }

/** A compiled expression. */
export interface ExpressionProgram {
  /** The result type as the checker prints it, such as `bool` or `list(string)`. */
  readonly outputType: string
  /**
   * The name of the result type, such as `null_type` or `google.protobuf.Timestamp`, as messages about results
   * print it.
   */
  readonly outputTypeName: string
  /** The minimum and maximum cost, if the size of the inputs is not limited. */
  readonly cost: Estimate
  evaluate(inputs: Inputs, options?: { readonly costLimit?: number }): Evaluation
}

interface Composed {
  readonly type: Type
  readonly program: Program | undefined
  readonly error: string | undefined
}

/**
 * The variables and functions of expressions outside of CRDs. Environments are immutable; composing a variable
 * returns a new environment.
 */
export class ExpressionEnvironment {
  private constructor(
    private readonly environment: Environment,
    /** Variables that are defined by expressions, by name. */
    readonly composed: ReadonlyMap<string, Composed>,
  ) {}

  static create({ variables, stored = false }: ExpressionEnvironmentOptions): ExpressionEnvironment {
    const structs = new Map<string, StructFields>()
    const declared = new Map(Object.entries(variables).map(([name, spec]) => [name, declareVariable(spec, structs)]))
    const base = baseEnvironments[stored ? 'stored' : 'new']
    return new ExpressionEnvironment({ ...base, variables: declared, structs }, new Map())
  }

  /**
   * Compiles an expression. Throws a CompileError that lists the issues, or says why the expression cannot be
   * planned.
   */
  compile(source: string): ExpressionProgram {
    const { checked, program } = this.program(source)
    return {
      outputType: outputType(checked).toString(),
      outputTypeName: fullName(outputType(checked)),
      cost: estimateCost(checked.expr, undefined),
      evaluate: (inputs, { costLimit = expressionCostLimit } = {}) => evaluate(program, inputs, costLimit),
    }
  }

  private program(source: string) {
    const checked = compile(source, this.environment)
    try {
      return { checked, program: new Program(checked) }
    } catch (error) {
      if (error instanceof PlanError) throw new CompileError(`program instantiation failed: ${error.message}`)
      throw error
    }
  }

  /**
   * Returns an environment in which `variables.<name>` is the value of an expression, evaluated on first use. A
   * source that does not compile fails where the variable is used.
   */
  compose(name: string, source: string): { readonly environment: ExpressionEnvironment; readonly error?: string } {
    let composed: Composed
    try {
      const { checked, program } = this.program(source)
      composed = { type: composable(outputType(checked)), program, error: undefined }
    } catch (error) {
      if (!(error instanceof CompileError)) throw error
      composed = { type: types.dyn, program: undefined, error: `compilation failed: ${error.message}` }
    }
    const next = this.#withComposed(new Map([...this.composed, [name, composed]]))
    return composed.error === undefined ? { environment: next } : { environment: next, error: composed.error }
  }

  /** Returns an environment that declares `variables` without fields. */
  withVariables(): ExpressionEnvironment {
    return this.#withComposed(this.composed)
  }

  #withComposed(all: ReadonlyMap<string, Composed>): ExpressionEnvironment {
    const type = structType('kubernetes.variables')
    const environment = {
      ...this.environment,
      variables: new Map([...this.environment.variables, ['variables', type]]),
      structs: new Map([...this.environment.structs, [type.name, { field: (field: string) => all.get(field)?.type }]]),
    }
    return new ExpressionEnvironment(environment, all)
  }

  /**
   * Binds variables to plain data for any number of evaluations. Composed variables are evaluated once for all of
   * them.
   */
  inputs(bindings: Readonly<Record<string, unknown>>): Inputs {
    return new Inputs(bindings, this.composed)
  }
}

/** Compiles an expression. Throws a CompileError that lists the issues. */
export function compileExpression(source: string, environment: ExpressionEnvironment): ExpressionProgram {
  return environment.compile(source)
}

/** The variables of one request, bound to data. */
export class Inputs {
  private readonly values = new Map<string, Value>()
  private readonly variables: ComposedVariables
  /** The cost of composed variables that is not yet charged to an expression. */
  private uncharged = 0

  constructor(
    private readonly bindings: Readonly<Record<string, unknown>>,
    composed: ReadonlyMap<string, Composed>,
  ) {
    this.variables = new ComposedVariables(composed, this)
  }

  readonly bind = (name: string): Binding => {
    if (name === 'variables' && !Object.hasOwn(this.bindings, name)) return this.variables
    let value = this.values.get(name)
    if (value === undefined) {
      const bound = Object.hasOwn(this.bindings, name) ? this.bindings[name] : undefined
      if (bound === undefined) return undefined
      value = fromJson(bound)
      this.values.set(name, value)
    }
    return value
  }

  charge(cost: number): void {
    this.uncharged += cost
  }

  takeCharges(): number {
    const cost = this.uncharged
    this.uncharged = 0
    return cost
  }
}

class ComposedVariables extends CelMap {
  private readonly known = new Map<string, Value | EvaluationError>()

  constructor(
    private readonly composed: ReadonlyMap<string, Composed>,
    private readonly inputs: Inputs,
  ) {
    super()
  }

  get size(): number {
    return this.composed.size
  }

  keys(): Value[] {
    return [...this.composed.keys()]
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload()
    const variable = this.composed.get(key)
    if (!variable) return undefined
    let value = this.known.get(key)
    if (value === undefined) {
      value = this.compute(key, variable)
      this.known.set(key, value)
    }
    if (value instanceof EvaluationError) throw value
    return value
  }

  private compute(name: string, { program, error }: Composed): Value | EvaluationError {
    const what = `composited variable ${JSON.stringify(name)}`
    if (!program) return new EvaluationError(`${what} fails to compile: ${error}`)
    const outcome = program.run(this.inputs.bind, expressionCostLimit)
    this.inputs.charge(outcome.cost)
    return 'error' in outcome ? new EvaluationError(`${what} fails to evaluate: ${outcome.error}`) : outcome.value
  }
}

function evaluate(program: Program, inputs: Inputs, limit: number): Evaluation {
  const outcome = program.run(inputs.bind, limit)
  const cost = outcome.cost + inputs.takeCharges()
  return 'error' in outcome ? { error: outcome.error, cost } : { value: toJson(outcome.value), cost }
}

function fullName({ name, params }: Type): string {
  return params.length === 0 ? name : `${name}(${params.map(fullName).join(', ')})`
}

/** Returns the type that a composed variable has in expressions: simple types are kept, all others become `dyn`. */
function composable(type: Type): Type {
  if (type.kind === 'list') return listOf(composable(type.params[0]!))
  if (type.kind === 'map') return mapOf(composable(type.params[0]!), composable(type.params[1]!))
  const kept = ['any', 'bool', 'bytes', 'double', 'duration', 'int', 'null', 'string', 'timestamp', 'uint']
  return kept.includes(type.kind) ? type : types.dyn
}

function declareVariable(spec: VariableType, structs: Map<string, StructFields>): Type {
  if (typeof spec === 'string') {
    if (spec === 'authorizer' || spec === 'resourceCheck') return authorizerTypes[spec]
    return types[spec]
  }
  if ('list' in spec) return listOf(declareVariable(spec.list, structs))
  if ('map' in spec) return mapOf(types.string, declareVariable(spec.map, structs))
  const fields = new Map(Object.entries(spec.object).map(([name, field]) => [name, declareVariable(field, structs)]))
  structs.set(spec.name, { field: (name) => fields.get(name) })
  return structType(spec.name)
}

/** Returns a value for variables of type `authorizer`. The checker answers its checks. */
export function authorizerInput(check: AuthorizationChecker): unknown {
  return new CelAuthorizer(check)
}

/** Returns a value for `authorizer.requestResource`: a check about the resource of the request. */
export function requestResourceInput(
  check: AuthorizationChecker,
  request: {
    readonly group: string
    readonly resource: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  },
): unknown {
  const { group, resource, ...narrowing } = request
  return new ResourceCheck(new CelAuthorizer(check), group, resource, narrowing)
}
