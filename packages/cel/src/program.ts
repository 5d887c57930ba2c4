import type { Expr } from './ast.js'
import { walk } from './ast.js'
import type { Frame } from './attribute.js'
import { check } from './checker.js'
import type { Environment } from './environment.js'
import { parse } from './parser.js'
import { type PlannedProgram, plan } from './plan.js'
import type { SchemaNode } from './schema-node.js'
import { displayIssues, type Issue } from './source.js'
import type { Type } from './types.js'
import { validateLiterals } from './validators.js'
import { CostError, EvaluationError, InternalError, type Value } from './values.js'

/** An expression that does not compile. The message lists all issues as kube-apiserver prints them. */
export class CompileError extends Error {
  override readonly name = 'CompileError'
}

/** A checked expression. */
export interface Checked {
  readonly expr: Expr
  readonly environment: Environment
}

/** Parses and checks an expression. Throws a CompileError that lists the issues. */
export function compile(text: string, environment: Environment): Checked {
  const fail = (issues: readonly Issue[]): never => {
    throw new CompileError(displayIssues(text, issues))
  }
  const { expr, issues } = parse(text, { lists: environment.lists })
  if (!expr || issues.length > 0) return fail(issues)
  const typeIssues = check(expr, environment)
  if (typeIssues.length > 0) return fail(typeIssues)
  const literalIssues = validateLiterals(expr)
  if (literalIssues.length > 0) return fail(literalIssues)
  return { expr, environment }
}

/** Returns the type of the result. */
export function outputType(checked: Checked): Type {
  return checked.expr.type!
}

/** Reports whether a checked expression refers to a variable of its environment. */
export function mentions({ expr }: Checked, variable: string): boolean {
  let found = false
  walk(expr, (node) => {
    found ||=
      (node.kind === 'ident' && node.name === variable) || (node.kind === 'select' && node.resolvedName === variable)
  })
  return found
}

/** The result of an evaluation: a value or an error, with its cost. */
export type Outcome =
  | { readonly value: Value; readonly cost: number }
  | { readonly error: string; readonly cost: number }

/**
 * The binding of a variable: a value, an error to report on use, or a function that computes the value on first
 * use.
 */
export type Binding = Value | EvaluationError | (() => Value) | undefined

/** A planned expression that can be evaluated any number of times. */
export class Program {
  private readonly planned: PlannedProgram

  /** Plans the expression. Throws a PlanError if a constant part of the expression cannot be evaluated. */
  constructor(checked: Checked, schemas: ReadonlyMap<string, SchemaNode> = new Map()) {
    this.planned = plan(checked.expr, checked.environment, (type) => schemas.get(type.name))
  }

  run(bind: (variable: string) => Binding, limit: number): Outcome {
    const { run, variables, slotCount } = this.planned
    const slots: Frame['slots'] = new Array(slotCount)
    for (let i = 0; i < variables.length; i++) slots[i] = bind(variables[i]!)
    const frame: Frame = { cost: 0, limit, slots }
    try {
      return { value: run(frame), cost: frame.cost }
    } catch (error) {
      if (isFailure(error)) return { error: error.message, cost: frame.cost }
      throw error
    }
  }
}

function isFailure(error: unknown): error is { readonly message: string } {
  return error instanceof EvaluationError || error instanceof CostError || error instanceof InternalError
}
