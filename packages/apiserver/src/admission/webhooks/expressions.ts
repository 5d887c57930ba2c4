import {
  admissionEnvironment,
  CompileError,
  type ExpressionEnvironment,
  type ExpressionProgram,
  type Inputs,
} from '@crosstie/cel'

/** A CEL expression of a webhook or policy, or why there is none. */
export type Compiled = { readonly text: string } & (
  | { readonly program: ExpressionProgram }
  | { readonly broken: string }
)

/** What evaluations may still cost together. */
export interface Budget {
  left: number
}

/** The budget is used up; nothing else of this webhook or policy is evaluated. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget'

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

const environments = new Map<string, ExpressionEnvironment>()

/** What expressions of admission may speak of. Made once: declaring all libraries is not cheap. */
export function environmentFor(params: boolean, authorizer: boolean, stored: boolean): ExpressionEnvironment {
  const key = `${params} ${authorizer} ${stored}`
  let environment = environments.get(key)
  if (!environment) {
    environment = admissionEnvironment({ params, authorizer, stored })
    environments.set(key, environment)
  }
  return environment
}

/** An expression that does not compile, or has another type than those wanted (none: any), fails whenever it is used. */
export function compileIn(environment: ExpressionEnvironment, text: string, wanted: readonly string[]): Compiled {
  try {
    const program = environment.compile(text)
    // The checker prints null's type in short; this is its name.
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

export type Result = { readonly value: unknown } | { readonly error: string }

/** Takes what it costs from the budget; throws OutOfBudget when that was not enough. */
export function evaluate(compiled: Compiled, inputs: Inputs, budget: Budget): Result {
  if ('broken' in compiled) return { error: `compilation error: ${compiled.broken}` }
  const outcome = compiled.program.evaluate(inputs)
  budget.left -= outcome.cost
  if (budget.left < 0) throw new OutOfBudget()
  if (!('error' in outcome)) return outcome
  return { error: `expression '${compiled.text}' resulted in error: ${outcome.error}` }
}
