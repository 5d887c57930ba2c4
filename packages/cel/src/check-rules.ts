import { type CompiledRule, compileRulesOf } from './compile-rules.js'
import { type DeclType, declareType, maxCardinality } from './decl-type.js'
import { cap } from './estimate.js'
import { type FieldError, fieldErrors } from './kubernetes/field-error.js'
import { isObject } from './kubernetes/json.js'
import { Printed, printJson } from './kubernetes/print.js'
import type { JSONSchemaProps, ValidationRule } from './kubernetes/schema.js'
import { escapeName } from './names.js'
import { resolveFieldPath } from './rule-path.js'
import { SchemaNode } from './schema-node.js'

/** The limit of the estimated cost of one rule. */
const ruleEstimateLimit = 10_000_000n
/** The limit of the estimated cost of all rules of one schema. */
const schemaEstimateLimit = 100_000_000n

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** Options of {@link checkRules}. */
export interface CheckRulesOptions {
  /** The schemas of all versions before the update. Their expressions were accepted before and stay valid. */
  readonly oldSchemas?: readonly JSONSchemaProps[]
  /** Whether the schema of this version did not change. The cost of its rules was accepted before. */
  readonly unchanged?: boolean
}

/**
 * Validates the `x-kubernetes-validations` of a structural schema: rules must compile, stay within the cost limits
 * and refer to existing fields. Returns field errors as kube-apiserver words and orders them. `fieldPath` is the
 * path of the schema.
 */
export function checkRules(schema: JSONSchemaProps, fieldPath: string, options: CheckRulesOptions = {}): FieldError[] {
  const checker = new RuleChecker(options)
  const { schemaErrors, ruleErrors } = checker.check(schema, fieldPath, rootContext(schema), undefined)
  return [...schemaErrors, ...ruleErrors, ...checker.totalErrors(fieldPath)]
}

interface Complaints {
  /** Errors of the schema. Rules at or below such a place are not compiled. */
  readonly schemaErrors: FieldError[]
  readonly ruleErrors: FieldError[]
}

/** The context that a place in the schema gives to its rules. */
interface Context {
  readonly node: SchemaNode
  readonly isRoot: boolean
  /** The maximum number of occurrences of the place in an object, or undefined if it is not bounded. */
  readonly cardinality: bigint | undefined
  /** The declaration of the place: the one within the declaration of its parent, or a new one. */
  readonly declared: () => DeclType | undefined
}

function lazily<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

function rootContext(schema: JSONSchemaProps): Context {
  const node = new SchemaNode(schema)
  return { node, isRoot: true, cardinality: 1n, declared: lazily(() => declareType(node, true, 'selfType')) }
}

/** Returns the factor by which a schema multiplies the cardinality of the places below it. */
function factor(schema: JSONSchemaProps): bigint | undefined {
  if (schema.type === 'array') return bound(schema.maxItems)
  if (schema.type === 'object' && schema.additionalProperties !== undefined) return bound(schema.maxProperties)
  return 1n
}

function bound(max: number | undefined): bigint | undefined {
  return max === undefined ? undefined : BigInt(Math.max(0, max))
}

function guardedProduct(a: bigint, b: bigint): bigint {
  return cap(a * b)
}

function childContext(parent: Context, node: SchemaNode, within: (parent: DeclType) => DeclType | undefined): Context {
  const multiplied = factor(parent.node.schema)
  const cardinality =
    parent.cardinality === undefined || multiplied === undefined
      ? undefined
      : guardedProduct(parent.cardinality, multiplied)
  const declared = lazily(() => {
    const outer = parent.declared()
    return (outer && within(outer)) ?? declareType(node, node.embedded, 'selfType')
  })
  return { node, isRoot: false, cardinality, declared }
}

class RuleChecker {
  private total = 0n
  private expensive: { readonly field: string; readonly cost: bigint }[] = []
  private readonly stored = { rule: new Set<string>(), message: new Set<string>() }

  constructor(private readonly options: CheckRulesOptions) {
    for (const schema of options.oldSchemas ?? []) this.remember(new SchemaNode(schema))
  }

  private remember(node: SchemaNode): void {
    for (const rule of node.rules) {
      this.stored.rule.add(rule.rule)
      if (rule.messageExpression) this.stored.message.add(rule.messageExpression)
    }
    const { allOf = [], anyOf = [], oneOf = [], not } = node.schema
    const branches = [...allOf, ...anyOf, ...oneOf, ...(not ? [not] : [])].map((schema) => new SchemaNode(schema))
    for (const child of [...(node.properties?.values() ?? []), ...branches]) this.remember(child)
    if (node.items) this.remember(node.items)
    if (node.additional) this.remember(node.additional)
  }

  /**
   * `context` is undefined where rules are not compiled. `uncorrelatable` is the path at which correlation with old
   * values ends.
   */
  check(
    schema: JSONSchemaProps,
    path: string,
    context: Context | undefined,
    uncorrelatable: string | undefined,
  ): Complaints {
    const errors: Complaints = { schemaErrors: [], ruleErrors: [] }
    const visit = (child: JSONSchemaProps, at: string, within: Context | undefined, lost = uncorrelatable) => {
      const found = this.check(child, `${path}.${at}`, within, lost)
      errors.schemaErrors.push(...found.schemaErrors)
      errors.ruleErrors.push(...found.ruleErrors)
    }
    this.checkChildren(schema, path, context, uncorrelatable, visit)
    const rules = schema['x-kubernetes-validations'] ?? []
    if (rules.length === 0) return errors
    const rulesPath = `${path}.x-kubernetes-validations`
    const node = context?.node ?? new SchemaNode(schema)
    errors.schemaErrors.push(...rules.flatMap((rule, i) => checkTexts(rule, node, `${rulesPath}[${i}]`)))
    if (errors.schemaErrors.length === 0 && context) {
      errors.ruleErrors.push(...this.checkCompiled(rules, rulesPath, context, uncorrelatable))
    }
    return errors
  }

  private checkChildren(
    schema: JSONSchemaProps,
    path: string,
    context: Context | undefined,
    uncorrelatable: string | undefined,
    visit: (child: JSONSchemaProps, at: string, within: Context | undefined, lost?: string) => void,
  ): void {
    const { additionalProperties, properties = {}, items, not, allOf, oneOf, anyOf } = schema
    if (isObject(additionalProperties)) {
      const node = context?.node.additional
      const within = context && node && childContext(context, node, (outer) => outer.element)
      visit(additionalProperties as JSONSchemaProps, 'additionalProperties', within)
    }
    for (const [name, child] of Object.entries(properties)) {
      const node = context?.node.properties?.get(name)
      const escaped = escapeName(name)
      const within =
        context &&
        node &&
        childContext(context, node, (outer) => {
          return escaped === undefined ? undefined : outer.fields?.get(escaped)
        })
      visit(child, `properties[${name}]`, within)
    }
    if (not) visit(not, 'not', undefined)
    for (const [word, branches] of Object.entries({ allOf, oneOf, anyOf })) {
      for (const [i, branch] of (branches ?? []).entries()) visit(branch, `${word}[${i}]`, undefined)
    }
    if (!isObject(items)) return
    const node = context?.node.items
    const within = context && node && childContext(context, node, (outer) => outer.element)
    const lost = schema['x-kubernetes-list-type'] === 'map' ? uncorrelatable : (uncorrelatable ?? path)
    visit(items as JSONSchemaProps, 'items', within, lost)
  }

  private checkCompiled(
    rules: readonly ValidationRule[],
    path: string,
    context: Context,
    uncorrelatable: string | undefined,
  ): FieldError[] {
    const declared = context.declared()
    if (!declared) {
      const why = 'failed to construct type information for x-kubernetes-validations rules'
      const detail = 'unable to convert structural schema to CEL declarations'
      return [fieldErrors.internal(path, `internal error: ${why}: ${detail}`)]
    }
    const isStored = (expression: string, kind: 'rule' | 'message') => this.stored[kind].has(expression)
    const compiled = compileRulesOf(rules, context.node, declared, { costs: true, isStored })
    const cardinality = context.cardinality ?? BigInt(maxCardinality(declared.minBytes))
    return compiled.flatMap((rule, i) => this.checkRule(rule, `${path}[${i}]`, cardinality, uncorrelatable))
  }

  private checkRule(
    compiled: CompiledRule,
    path: string,
    cardinality: bigint,
    uncorrelatable: string | undefined,
  ): FieldError[] {
    const errors: FieldError[] = []
    const { rule } = compiled
    const cost = guardedProduct(compiled.maxCost, cardinality)
    errors.push(...this.checkCost('estimated rule cost', cost, `${path}.rule`))
    const shown = () => new Printed(printRule(rule))
    if (compiled.error !== undefined) errors.push(fieldErrors.invalid(`${path}.rule`, shown(), compiled.error))
    if (compiled.messageError !== undefined) {
      errors.push(fieldErrors.invalid(`${path}.messageExpression`, shown(), compiled.messageError))
    } else if (compiled.message) {
      const at = `${path}.messageExpression`
      errors.push(...this.checkCost('estimated messageExpression cost', compiled.messageMaxCost, at))
    }
    if (compiled.usesOldSelf) {
      if (uncorrelatable !== undefined) {
        const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
        errors.push(fieldErrors.invalid(`${path}.rule`, rule.rule, why))
      }
    } else if (rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule'
      errors.push(fieldErrors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, why))
    }
    return errors
  }

  private checkCost(what: string, cost: bigint, field: string): FieldError[] {
    this.total = cap(this.total + cost)
    if (cost >= schemaEstimateLimit / 100n) {
      this.expensive.push({ field, cost })
      this.expensive.sort((a, b) => (a.cost > b.cost ? -1 : a.cost < b.cost ? 1 : 0))
      this.expensive.length = Math.min(this.expensive.length, 4)
    }
    if (this.options.unchanged || cost <= ruleEstimateLimit) return []
    return [fieldErrors.forbidden(field, costMessage(what, cost, ruleEstimateLimit))]
  }

  /** Returns the errors about the total cost of all rules. */
  totalErrors(path: string): FieldError[] {
    if (this.total <= schemaEstimateLimit) return []
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.expensive.map(({ field }) => fieldErrors.forbidden(field, why)),
      fieldErrors.forbidden(path, costMessage(what, this.total, schemaEstimateLimit)),
    ]
  }
}

function costMessage(what: string, cost: bigint, limit: bigint): string {
  const exceeds = Number(cost) / Number(limit)
  const times = exceeds > 100 ? 'more than 100x' : exceeds < 1.5 ? `${exceeds.toFixed(6)}x` : `${exceeds.toFixed(1)}x`
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${what} exceeds budget by factor of ${times} (${advice})`
}

/** Prints a rule as Go prints its internal type, whose fields do not have JSON names. */
function printRule(rule: ValidationRule): string {
  const fields: readonly (readonly [string, unknown])[] = [
    ['Rule', rule.rule],
    ['Message', rule.message ?? ''],
    ['MessageExpression', rule.messageExpression ?? ''],
    ['Reason', rule.reason ?? null],
    ['FieldPath', rule.fieldPath ?? ''],
    ['OptionalOldSelf', rule.optionalOldSelf ?? null],
  ]
  return `{${fields.map(([name, value]) => `"${name}":${printJson(value)}`).join(',')}}`
}

const hasLineBreaks = (text: string) => /[\n\r]/.test(text)

/** Validates the parts of a rule that do not need compilation. */
function checkTexts(rule: ValidationRule, node: SchemaNode, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { message = '', messageExpression = '', fieldPath = '' } = rule
  const text = (rule.rule ?? '').trim()
  const trimmedMessage = message.trim()
  const empty = 'must be non-empty if specified'
  if (text === '') errors.push(fieldErrors.required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && trimmedMessage === '') errors.push(fieldErrors.invalid(`${path}.message`, message, empty))
  else if (hasLineBreaks(trimmedMessage)) {
    errors.push(fieldErrors.invalid(`${path}.message`, message, 'must not contain line breaks'))
  } else if (hasLineBreaks(text) && trimmedMessage === '') {
    errors.push(fieldErrors.required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(fieldErrors.required(`${path}.messageExpression`, `messageExpression ${empty}`))
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(fieldErrors.notSupported(`${path}.reason`, rule.reason, reasons))
  }
  if (fieldPath === '') return errors
  if (fieldPath.trim() === '') errors.push(fieldErrors.invalid(`${path}.fieldPath`, fieldPath, empty))
  if (hasLineBreaks(fieldPath)) {
    errors.push(fieldErrors.invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  }
  if (resolveFieldPath(fieldPath, node) === undefined) {
    errors.push(fieldErrors.invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  }
  return errors
}
