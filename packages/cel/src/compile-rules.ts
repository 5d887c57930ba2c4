import { baseEnvironments } from './base.js'
import { estimateCost } from './cost.js'
import { type DeclType, declareType, structsOf } from './decl-type.js'
import type { Environment } from './environment.js'
import type { ValidationRule } from './kubernetes/schema.js'
import { PlanError } from './plan.js'
import { type Checked, CompileError, compile, mentions, outputType, Program } from './program.js'
import { resolveFieldPath } from './rule-path.js'
import type { SchemaNode } from './schema-node.js'
import { optionalOf, type Type } from './types.js'

/** A compiled rule, or the error of its compilation. */
export interface CompiledRule {
  readonly rule: ValidationRule
  /** Undefined if the rule is empty or does not compile. */
  readonly program?: Program
  readonly error?: string
  readonly usesOldSelf: boolean
  readonly message?: Program
  readonly messageError?: string
  /** The path at which failures are reported, relative to the place of the rule. */
  readonly fieldPath?: string
  /** The maximum cost of the rule and its message. Only set if costs are requested. */
  readonly maxCost: bigint
  readonly messageMaxCost: bigint
}

/** Options of {@link compileRulesOf}. */
export interface RuleCompilation {
  /** Whether to estimate costs. Evaluation does not need them. */
  readonly costs?: boolean
  /** Reports whether an expression was accepted before. By default all expressions count as accepted. */
  readonly isStored?: (expression: string, kind: 'rule' | 'message') => boolean
}

/** The environments for the rules of one place in a schema. */
class RuleScope {
  private readonly environments = new Map<string, Environment>()
  readonly schemas: ReadonlyMap<string, SchemaNode>
  private readonly structs: Environment['structs']
  private readonly self: Type

  constructor(declared: DeclType) {
    this.self = declared.type
    const { structs, nodes } = structsOf(declared)
    this.structs = structs
    this.schemas = nodes
  }

  environment(stored: boolean, optionalOldSelf: boolean): Environment {
    const key = `${stored}:${optionalOldSelf}`
    let environment = this.environments.get(key)
    if (!environment) {
      const variables = new Map([
        ['self', this.self],
        ['oldSelf', optionalOldSelf ? optionalOf(this.self) : this.self],
      ])
      environment = { ...baseEnvironments[stored ? 'stored' : 'new'], variables, structs: this.structs }
      this.environments.set(key, environment)
    }
    return environment
  }
}

/** Compiles the rules of one place in a schema. Does not throw: compilation errors are part of the result. */
export function compileRulesOf(
  rules: readonly ValidationRule[],
  node: SchemaNode,
  declared: DeclType,
  options: RuleCompilation = {},
): CompiledRule[] {
  // Types are named by their path below the rules, not by their path in the whole schema.
  const self = declareType(declared.node, false, 'selfType') ?? declared
  const scope = new RuleScope(self)
  return rules.map((rule) => compileRule(rule, node, self, scope, options))
}

function compileRule(
  rule: ValidationRule,
  node: SchemaNode,
  declared: DeclType,
  scope: RuleScope,
  { costs = false, isStored = () => true }: RuleCompilation,
): CompiledRule {
  const base = { rule, usesOldSelf: false, maxCost: 0n, messageMaxCost: 0n }
  if (rule.rule.trim() === '') return base
  const optional = rule.optionalOldSelf ?? false
  const compiled = compileOne(rule.rule, scope, scope.environment(isStored(rule.rule, 'rule'), optional), 'bool')
  if ('error' in compiled) {
    return {
      ...base,
      error: compiled.error,
      usesOldSelf: compiled.checked ? mentions(compiled.checked, 'oldSelf') : false,
    }
  }
  const cost = (checked: Checked) => (costs ? estimateCost(checked.expr, declared).max : 0n)
  const result = {
    ...base,
    program: compiled.program,
    usesOldSelf: mentions(compiled.checked, 'oldSelf'),
    maxCost: cost(compiled.checked),
  }
  const fieldPath = rule.fieldPath ? resolveFieldPath(rule.fieldPath, node) : undefined
  const placed = fieldPath === undefined ? result : { ...result, fieldPath }
  if (!rule.messageExpression) return placed
  const stored = isStored(rule.messageExpression, 'message')
  const message = compileOne(rule.messageExpression, scope, scope.environment(stored, optional), 'string')
  if ('error' in message) return { ...result, messageError: message.error }
  return { ...placed, message: message.program, messageMaxCost: cost(message.checked) }
}

type CompiledOne = { program: Program; checked: Checked } | { error: string; checked?: Checked }

function compileOne(text: string, scope: RuleScope, environment: Environment, wanted: 'bool' | 'string'): CompiledOne {
  const isMessage = wanted === 'string'
  let checked: Checked
  try {
    checked = compile(text, environment)
  } catch (error) {
    if (!(error instanceof CompileError)) throw error
    return { error: `${isMessage ? 'messageExpression compilation' : 'compilation'} failed: ${error.message}` }
  }
  if (outputType(checked).kind !== wanted) {
    return {
      error: isMessage ? 'messageExpression must evaluate to a string' : 'cel expression must evaluate to a bool',
    }
  }
  try {
    return { program: new Program(checked, scope.schemas), checked }
  } catch (error) {
    if (!(error instanceof PlanError)) throw error
    return { error: `${isMessage ? 'messageExpression' : 'program'} instantiation failed: ${error.message}`, checked }
  }
}
