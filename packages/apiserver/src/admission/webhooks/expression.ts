/** What an expression speaks of, by name: `object`, `request`, `authorizer.requestResource`, `variables.x` … */
export type Bind = (name: string) => unknown

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

export type ResultType = 'bool' | 'string' | 'null'

export interface ExpressionOptions {
  /** Empty: any. */
  readonly wanted: readonly ResultType[]
  /** May it use `params`? */
  readonly params: boolean
  readonly authorizer: boolean
  /** Expressions that it may use as `variables.<name>`. */
  readonly variables?: ReadonlyMap<string, Expression | undefined>
}

/** A CEL expression of a webhook or policy, compiled. */
export interface Expression {
  /**
   * JSON in, JSON or another CEL value out (booleans, strings and null are
   * themselves). Takes what it costs from the budget. Throws OutOfBudget, or an
   * error whose message is the evaluation's.
   */
  evaluate(bind: Bind, budget: Budget): unknown
}

/** Throws an error whose message is the compiler's: `compilation failed: ERROR: <input>:1:1: …`. */
export type CompileExpression = (text: string, options: ExpressionOptions) => Expression
