import {
  admissionEnvironment,
  CompileError,
  type ExpressionEnvironment,
  type ExpressionProgram,
  type Inputs,
} from '@crosstie/cel'

/** A CEL expression of a webhook or policy, or the reason why it does not compile. */
export type Compiled = { readonly text: string } & (
  | { readonly program: ExpressionProgram }
  | { readonly broken: string }
)

/** The remaining cost of evaluations. */
export interface Budget {
  left: number
}

/** The budget is exhausted. No further expression of this webhook or policy is evaluated. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget'

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

const environments = new Map<string, ExpressionEnvironment>()

/**
 * Returns the environment of admission expressions. It is created once, because declaring all libraries is
 * expensive.
 */
export function environmentFor(params: boolean, authorizer: boolean, stored: boolean): ExpressionEnvironment {
  const key = `${params} ${authorizer} ${stored}`
  let environment = environments.get(key)
  if (!environment) {
    environment = admissionEnvironment({ params, authorizer, stored })
    environments.set(key, environment)
  }
  return environment
}

/**
 * Compiles an expression. One that does not compile, or does not have one of the wanted types, fails at evaluation.
 * An empty list accepts any type.
 */
export function compileIn(environment: ExpressionEnvironment, text: string, wanted: readonly string[]): Compiled {
  try {
    const program = environment.compile(text)
    // The checker prints the type of null in a short form. This is its name.
    const type = program.outputType === 'null' ? 'null_type' : program.outputType
    if (wanted.length === 0 || wanted.includes(type)) return { text, program }
    const types = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`
    return { text, broken: `must evaluate to ${types} but got ${type}` }
  } catch (error) {
    if (!(error instanceof CompileError)) throw error
    const { message } = error
    return { text, broken: message.startsWith('program ') ? message : `compilation failed: ${message}` }
  }
}

/** The value of an expression, or its error. */
export type Result = { readonly value: unknown } | { readonly error: string }

/** Evaluates an expression and subtracts its cost from the budget. Throws OutOfBudget when the budget is exhausted. */
export function evaluate(compiled: Compiled, inputs: Inputs, budget: Budget): Result {
  if ('broken' in compiled) return { error: `compilation error: ${compiled.broken}` }
  const outcome = compiled.program.evaluate(inputs)
  budget.left -= outcome.cost
  if (budget.left < 0) throw new OutOfBudget()
  if (!('error' in outcome)) return outcome
  return { error: `expression '${compiled.text}' resulted in error: ${outcome.error}` }
}
