import { type CompiledRule, compileRulesOf } from './compile-rules.js'
import { Correlation, KeyedItems, Ratchet } from './correlation.js'
import { type DeclType, declareType } from './decl-type.js'
import { type FieldError, fieldErrors } from './kubernetes/field-error.js'
import { getOwn, isObject } from './kubernetes/json.js'
import type { JSONSchemaProps, ValidationRule } from './kubernetes/schema.js'
import { escapeName } from './names.js'
import type { Binding } from './program.js'
import { SchemaNode } from './schema-node.js'
import { typedValue } from './typed.js'
import { CelOptional, EvaluationError, type Value } from './values.js'

/** The cost limit of one evaluation of a rule. */
const ruleCostLimit = 1_000_000
/** The cost limit of all rules for one object. */
const objectCostBudget = 10_000_000

const messageBytesMax = 5 * 1024
const costExceeded = 'operation cancelled: actual cost limit exceeded'

/** Options of {@link Rules.validate}. */
export interface ValidateOptions {
  /** The path of the object, such as `status`. */
  readonly path?: string
  /** The cost limit of all rules together. */
  readonly budget?: number
  /** Called for failures that are tolerated because the update did not change the value. */
  readonly onTolerated?: (error: FieldError) => void
}

/** The compiled `x-kubernetes-validations` of a schema. */
export interface Rules {
  /**
   * Returns the errors of an object, worded as kube-apiserver words them. With an old object, transition rules run
   * too, and failures on unchanged values are tolerated.
   */
  validate(object: unknown, oldObject?: unknown, options?: ValidateOptions): FieldError[]
}

/** Returns the rules of a schema, or undefined if it does not have any. Each rule is compiled on first use. */
export function compileRules(schema: JSONSchemaProps, options: { readonly isRoot?: boolean } = {}): Rules | undefined {
  const node = new SchemaNode(schema)
  if (!hasRules(node)) return undefined
  const isRoot = options.isRoot ?? true
  let root: RuleNode | undefined | null = null
  return {
    validate(object, oldObject, validate = {}) {
      if (root === null) root = buildNode(node, node, isRoot, declareType(node, isRoot, 'selfType'))
      if (!root) return []
      const old = oldObject ?? undefined
      const ratchet = old === undefined ? Ratchet.none : Ratchet.of(new Correlation(object, old, node))
      const run = new Run(validate.budget ?? objectCostBudget, validate.onTolerated)
      run.visit(root, validate.path ?? '', object, old, ratchet)
      return run.errors
    },
  }
}

function hasRules(node: SchemaNode): boolean {
  if (node.rules.length > 0) return true
  if (node.items && hasRules(node.items)) return true
  if (node.additional && hasRules(node.additional)) return true
  return node.properties !== undefined && [...node.properties.values()].some(hasRules)
}

/** A part of a schema that has rules at or below it. */
class RuleNode {
  private cached: readonly CompiledRule[] | undefined
  readonly valueNode: SchemaNode

  constructor(
    private readonly rules: readonly ValidationRule[],
    readonly node: SchemaNode,
    isRoot: boolean,
    private readonly declared: DeclType | undefined,
    readonly items: RuleNode | undefined,
    readonly properties: ReadonlyMap<string, RuleNode>,
    readonly additional: RuleNode | undefined,
    readonly allOf: readonly RuleNode[],
  ) {
    this.valueNode = isRoot ? node.withTypeAndObjectMeta() : node
  }

  get hasOwnRules(): boolean {
    return this.rules.length > 0
  }

  /** Undefined if the schema does not declare the type of the value. */
  compiled(): readonly CompiledRule[] | undefined {
    if (!this.declared) return undefined
    this.cached ??= compileRulesOf(this.rules, this.node, this.declared)
    return this.cached
  }
}

/**
 * `rules` is the schema that states the rules and `node` the one that describes the values. They differ only within
 * allOf.
 */
function buildNode(
  rules: SchemaNode,
  node: SchemaNode,
  isRoot: boolean,
  declared: DeclType | undefined,
): RuleNode | undefined {
  const element = declared?.element
  const items = rules.items && node.items && buildNode(rules.items, node.items, node.items.embedded, element)
  const additional =
    rules.additional &&
    node.additional &&
    buildNode(rules.additional, node.additional, node.additional.embedded, element)
  const properties = new Map<string, RuleNode>()
  for (const [name, child] of rules.properties ?? []) {
    const childNode = node.properties?.get(name)
    const childType = childNode && fieldType(name, childNode, declared)
    const built = childType && buildNode(child, childNode, childNode.embedded, childType)
    if (built) properties.set(name, built)
  }
  const allOf = (rules.schema.allOf ?? []).flatMap((branch) => {
    const built = buildNode(new SchemaNode(branch), node, isRoot, declared)
    return built ? [built] : []
  })
  if (rules.rules.length === 0 && !items && !additional && properties.size === 0 && allOf.length === 0) return undefined
  return new RuleNode(rules.rules, node, isRoot, declared, items, properties, additional, allOf)
}

/** Returns the type of a property. A property that expressions cannot name may still have rules. */
function fieldType(name: string, node: SchemaNode, parent: DeclType | undefined): DeclType | undefined {
  const escaped = escapeName(name)
  return escaped === undefined ? declareType(node, node.embedded, 'selfType') : parent?.fields?.get(escaped)
}

/** One validation of one object, with its errors and its remaining budget. */
class Run {
  readonly errors: FieldError[] = []
  private exhausted = false

  constructor(
    private budget: number,
    private readonly onTolerated: ((error: FieldError) => void) | undefined,
  ) {}

  visit(node: RuleNode, path: string, value: unknown, old: unknown, ratchet: Ratchet): void {
    if (value === null || value === undefined) return
    if (node.hasOwnRules) this.check(node, path, value, old ?? undefined, ratchet)
    if (this.exhausted) return
    for (const branch of node.allOf) {
      this.visit(branch, path, value, old, ratchet.withinAllOf())
      if (this.exhausted) return
    }
    if (Array.isArray(value)) this.visitItems(node, path, value, old, ratchet)
    else if (isObject(value)) this.visitFields(node, path, value, isObject(old) ? old : undefined, ratchet)
  }

  private visitItems(node: RuleNode, path: string, value: readonly unknown[], old: unknown, ratchet: Ratchet): void {
    if (!node.items) return
    const oldItems = KeyedItems.of(node.node, old)
    for (let i = 0; i < value.length && !this.exhausted; i++) {
      this.visit(node.items, `${path}[${i}]`, value[i], oldItems?.get(value[i]), ratchet.index(i))
    }
  }

  private visitFields(
    node: RuleNode,
    path: string,
    value: Readonly<Record<string, unknown>>,
    old: Readonly<Record<string, unknown>> | undefined,
    ratchet: Ratchet,
  ): void {
    const oldOf = (name: string) => (old ? getOwn(old, name) : undefined)
    if (node.additional) {
      for (const name of Object.keys(value)) {
        this.visit(node.additional, `${path}[${name}]`, value[name], oldOf(name), ratchet.key(name))
        if (this.exhausted) return
      }
    }
    for (const [name, child] of node.properties) {
      if (!Object.hasOwn(value, name)) continue
      this.visit(child, path === '' ? name : `${path}.${name}`, value[name], oldOf(name), ratchet.key(name))
      if (this.exhausted) return
    }
  }

  private check(node: RuleNode, path: string, value: unknown, old: unknown, ratchet: Ratchet): void {
    const field = path === '' ? '<nil>' : path
    const { type } = node.node
    const rules = node.compiled()
    if (!rules) {
      const why = 'failed to convert to declType for CEL validation rules'
      this.errors.push(fieldErrors.invalid(field, type, `rule compiler initialization error: ${why}`))
      return
    }
    if (this.budget <= 0) {
      this.stop(fieldErrors.invalid(field, type, outOfBudget))
      return
    }
    const self = bindValue(value, node.valueNode)
    const oldSelf = old === undefined ? undefined : bindValue(old, node.valueNode)
    for (const rule of rules) {
      this.checkRule(rule, { field, path, type, self, oldSelf, ratchet })
      if (this.exhausted) return
    }
  }

  private stop(error: FieldError): void {
    this.errors.push(error)
    this.exhausted = true
  }

  private checkRule(compiled: CompiledRule, at: Place): void {
    const { field, type } = at
    const { rule, program } = compiled
    if (compiled.error !== undefined) {
      this.errors.push(fieldErrors.invalid(field, type, `rule compile error: ${compiled.error}`))
      return
    }
    if (!program || (compiled.usesOldSelf && at.oldSelf === undefined && !rule.optionalOldSelf)) return
    const bind = bindings(at, rule.optionalOldSelf ?? false)
    const outcome = program.run(bind, ruleCostLimit)
    if (outcome.cost > this.budget) {
      this.stop(fieldErrors.invalid(field, type, outOfBudget))
      return
    }
    this.budget -= outcome.cost
    if ('error' in outcome) this.ruleError(outcome.error, rule, at)
    else if (outcome.value !== true) this.ruleFailed(compiled, at, bind)
  }

  private ruleError(error: string, rule: ValidationRule, { field, type }: Place): void {
    const shown = shownRule(rule)
    if (error.startsWith('no such overload')) {
      const why = 'call arguments did not match a supported operator, function or macro signature for rule'
      this.errors.push(fieldErrors.invalid(field, type, `'${error}': ${why}: ${shown}`))
    } else if (error.startsWith(costExceeded)) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for rule'
      this.stop(fieldErrors.invalid(field, type, `'${error}': ${why}: ${shown}`))
    } else this.errors.push(fieldErrors.invalid(field, type, `${error} evaluating rule: ${shown}`))
  }

  private ruleFailed(compiled: CompiledRule, at: Place, bind: (name: string) => Binding): void {
    const { rule, fieldPath } = compiled
    const full = fieldPath ? (at.path === '' ? fieldPath : `${at.path}.${fieldPath}`) : at.field
    const report = (error: FieldError) => {
      if (!compiled.usesOldSelf && at.ratchet.tolerates()) this.onTolerated?.(error)
      else this.errors.push(error)
    }
    const message = compiled.message && this.message(compiled, bind)
    if (message && 'fatal' in message) {
      report(fieldErrors.invalid(full, at.type, message.fatal))
      this.exhausted = true
      return
    }
    report(failure(rule, full, at.type, message?.text ?? defaultMessage(rule)))
  }

  /** Evaluates the message. Returns undefined if the result is not usable. */
  private message(
    { rule, message }: CompiledRule,
    bind: (name: string) => Binding,
  ): { readonly fatal: string } | { readonly text?: string } {
    const outcome = message!.run(bind, ruleCostLimit)
    if (outcome.cost > this.budget) {
      return {
        fatal:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      }
    }
    if ('error' in outcome && outcome.error.startsWith(costExceeded)) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression'
      return { fatal: `${why}: ${JSON.stringify(rule.messageExpression)}` }
    }
    this.budget -= outcome.cost
    if ('error' in outcome || typeof outcome.value !== 'string') return {}
    const text = outcome.value.trim()
    const usable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= messageBytesMax
    return usable ? { text } : {}
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

interface Place {
  /** The path as field errors write it. */
  readonly field: string
  readonly path: string
  readonly type: string
  readonly self: Value | EvaluationError
  readonly oldSelf: Value | EvaluationError | undefined
  readonly ratchet: Ratchet
}

function bindValue(data: unknown, node: SchemaNode): Value | EvaluationError {
  try {
    return typedValue(data, node)
  } catch (error) {
    if (error instanceof EvaluationError) return error
    throw error
  }
}

function bindings(at: Place, optionalOldSelf: boolean): (name: string) => Binding {
  return (name) => {
    if (name === 'self') return at.self
    if (!optionalOldSelf || at.oldSelf instanceof EvaluationError) return at.oldSelf
    return at.oldSelf === undefined ? CelOptional.none : CelOptional.of(at.oldSelf)
  }
}

function shownRule(rule: ValidationRule): string {
  return (rule.message ? rule.message : rule.rule).trim()
}

function defaultMessage(rule: ValidationRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`
}

function failure(rule: ValidationRule, field: string, value: string, detail: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return fieldErrors.forbidden(field, detail)
    case 'FieldValueRequired':
      return fieldErrors.required(field, detail)
    case 'FieldValueDuplicate':
      return fieldErrors.duplicate(field, value)
    default:
      return fieldErrors.invalid(field, value, detail)
  }
}
