import { printFloat, printNumber, quote } from '@crosstie/cel/kubernetes'
import { type FieldError, fieldErrors } from '../errors.js'
import { getOwn } from '../json.js'
import { acceptsKind, check, hasDuplicates, isAbove, isBelow, isMultiple, isTooLong, isTooShort } from './check.js'
import type { Correlation } from './correlate.js'
import type { SchemaNode } from './node.js'
import {
  arrayKind,
  type Bound,
  integerKind,
  isOneOf,
  kindName,
  kindOf,
  numberKind,
  objectKind,
  stringKind,
  type ValueRules,
} from './rules.js'

/**
 * Returns the errors of a value in the words of kube-apiserver. Of several failed branches of anyOf and oneOf it
 * reports the one with the most passed checks, so passed checks are counted.
 */
export function explain(
  value: unknown,
  node: SchemaNode,
  correlation: Correlation | undefined,
  path: string | undefined,
): FieldError[] {
  const findings = childFindings(value, node, '', correlation)
  return findings.errors.map((finding) => finding.toError(path))
}

interface Finding {
  /** The text that identifies a finding. Findings with the same text are reported once. */
  readonly text: string
  toError(path: string | undefined): FieldError
}

// The limit bounds the time that a request with a million invalid items takes.
const FINDINGS_MAX = 10_000

class Findings {
  readonly errors: Finding[] = []
  passed = 0
  #texts: Set<string> | undefined

  add(finding: Finding): void {
    if (this.full) return
    this.#texts ??= new Set()
    if (this.#texts.has(finding.text)) return
    this.#texts.add(finding.text)
    this.errors.push(finding)
  }

  merge(other: Findings): void {
    for (const finding of other.errors) this.add(finding)
    this.passed += other.passed
  }

  get valid(): boolean {
    return this.errors.length === 0
  }

  get full(): boolean {
    return this.errors.length >= FINDINGS_MAX
  }
}

/** Returns a finding at a place. `at` is its path below the validated value. */
function at(place: string, text: string, make: (field: string) => FieldError): Finding {
  return {
    text,
    toError(path) {
      const name = place === '.' ? '' : place.replace(/^\./, '')
      return make(name === '' ? (path ?? '<nil>') : path === undefined ? name : `${path}.${name}`)
    },
  }
}

/** Returns a finding about a combination of schemas, which does not have a path. */
function ofBranches(text: string): Finding {
  return { text, toError: (path) => fieldErrors.invalid(path ?? '<nil>', '', text) }
}

function invalidAt(place: string, value: unknown, complaint: string): Finding {
  const text = `${place} in body ${complaint}`
  return at(place, text, (field) => fieldErrors.invalid(field, value, text))
}

function typeAt(place: string, expected: string, found: string): Finding {
  const text = `${place} in body must be of type ${expected}: ${quote(found)}`
  return at(place, text, (field) => fieldErrors.typeInvalid(field, found, text))
}

function findingsOf(value: unknown, node: SchemaNode, path: string, correlation: Correlation | undefined): Findings {
  const findings = new Findings()
  const rules = node.rules
  if (value === null) {
    explainNull(findings, rules, path)
    return findings
  }
  const kind = kindOf(value)
  explainType(findings, value, kind, rules, path)
  explainBranches(findings, value, node, path)
  if (kind === stringKind) explainString(findings, value as string, rules, path)
  if (kind === integerKind || kind === numberKind) explainNumber(findings, value as number | bigint, kind, rules, path)
  if (kind === arrayKind) explainArray(findings, value as readonly unknown[], node, path, correlation)
  if (rules.enum.length > 0 && !isOneOf(value, rules)) findings.add(notSupported(value, rules, path))
  findings.passed++
  if (kind === objectKind) explainObject(findings, value as Record<string, unknown>, node, path, correlation)
  findings.passed++
  return findings
}

/** Returns the findings of a child. Findings of unchanged values are tolerated. */
function childFindings(value: unknown, node: SchemaNode, path: string, correlation: Correlation | undefined): Findings {
  const findings = findingsOf(value, node, path, correlation)
  return !findings.valid && correlation?.unchanged() ? new Findings() : findings
}

function explainNull(findings: Findings, rules: ValueRules, path: string): void {
  if (rules.types.length > 0 && !rules.nullable) findings.add(typeAt(path, rules.types.join(','), 'null'))
  else findings.passed++
  if (rules.enum.length > 0) findings.add(notSupported(null, rules, path))
}

function explainType(findings: Findings, value: unknown, kind: number, rules: ValueRules, path: string): void {
  if (rules.types.length === 0 && rules.format === '') return
  findings.passed++
  if (acceptsKind(value, kind, rules)) findings.passed++
  else if (rules.format !== '' && kind !== stringKind && kind !== arrayKind && rules.format !== formatOf(kind)) {
    findings.add(typeAt(path, rules.format, formatOf(kind)))
  } else findings.add(typeAt(path, rules.types.join(','), kindName(kind)))
}

const formatOf = (kind: number) => (kind === integerKind ? 'int64' : kind === numberKind ? 'float64' : '')

function explainBranches(findings: Findings, value: unknown, node: SchemaNode, path: string): void {
  findings.passed += 2
  if (!node.hasBranches) return
  explainAnyOf(findings, value, node.branches.anyOf, path)
  explainOneOf(findings, value, node.branches.oneOf, path)
  explainAllOf(findings, value, node.branches.allOf, path)
  const { not } = node.branches
  if (not && check(value, not)) findings.add(ofBranches(`${quote(path)} must not validate the schema (not)`))
}

function explainAnyOf(findings: Findings, value: unknown, branches: readonly SchemaNode[], path: string): void {
  let best: Findings | undefined
  for (const branch of branches) {
    const result = findingsOf(value, branch, path, undefined)
    if (result.valid) {
      findings.merge(result)
      return
    }
    if (!best || result.passed > best.passed) best = result
  }
  if (!best) return
  findings.add(ofBranches(`${quote(path)} must validate at least one schema (anyOf)`))
  findings.merge(best)
}

function explainOneOf(findings: Findings, value: unknown, branches: readonly SchemaNode[], path: string): void {
  if (branches.length === 0) return
  const results = branches.map((branch) => findingsOf(value, branch, path, undefined))
  const valid = results.filter((result) => result.valid)
  if (valid.length === 1) {
    findings.merge(valid[0]!)
    return
  }
  const count = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
  findings.add(ofBranches(`${quote(path)} must validate one and only one schema (oneOf). ${count}`))
  if (valid.length > 0) return
  findings.merge(results.reduce((best, result) => (result.passed > best.passed ? result : best)))
}

function explainAllOf(findings: Findings, value: unknown, branches: readonly SchemaNode[], path: string): void {
  if (branches.length === 0) return
  let valid = 0
  for (const branch of branches) {
    const result = findingsOf(value, branch, path, undefined)
    if (result.valid) valid++
    findings.merge(result)
  }
  if (valid === branches.length) return
  const none = valid === 0 ? '. None validated' : ''
  findings.add(ofBranches(`${quote(path)} must validate all the schemas (allOf)${none}`))
}

function explainString(findings: Findings, value: string, rules: ValueRules, path: string): void {
  const { maxLength, minLength, pattern, format } = rules
  findings.passed++
  if (isTooLong(value, maxLength)) {
    const text = `${path} in body should be at most ${maxLength} chars long`
    findings.add(at(path, text, (field) => fieldErrors.tooLong(field, '', maxLength!)))
  } else if (isTooShort(value, minLength)) {
    findings.add(invalidAt(path, value, `should be at least ${minLength} chars long`))
  } else if (pattern !== '' && !rules.matches(value)) {
    findings.add(invalidAt(path, value, `should match '${pattern}'`))
  }
  if (!rules.formatCheck) return
  findings.passed++
  if (!rules.formatCheck(value)) findings.add(typeAt(path, format, value))
}

function explainNumber(
  findings: Findings,
  value: number | bigint,
  kind: number,
  rules: ValueRules,
  path: string,
): void {
  findings.passed += 2
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = rules
  const limit = (bound: Bound) => printBound(bound, kind)
  if (multipleOf && !isMultiple(value, kind, multipleOf)) {
    findings.add(multipleFinding(value, kind, multipleOf, path))
  }
  if (minimum && isBelow(value, kind, minimum, exclusiveMinimum)) {
    const than = exclusiveMinimum ? 'greater than' : 'greater than or equal to'
    findings.add(invalidAt(path, value, `should be ${than} ${limit(minimum)}`))
  }
  if (maximum && isAbove(value, kind, maximum, exclusiveMaximum)) {
    const than = exclusiveMaximum ? 'less than' : 'less than or equal to'
    findings.add(invalidAt(path, value, `should be ${than} ${limit(maximum)}`))
  }
}

/** Prints a bound in the type of the value. */
function printBound(bound: Bound, kind: number): string {
  return kind === integerKind ? printNumber(bound.integer) : printFloat(bound.float)
}

function multipleFinding(value: number | bigint, kind: number, multipleOf: Bound, path: string): Finding {
  const factor = kind === integerKind ? multipleOf.integer : multipleOf.float
  if (factor > 0) return invalidAt(path, value, `should be a multiple of ${printBound(multipleOf, kind)}`)
  const text = `factor MultipleOf declared for ${path} must be positive: ${printBound(multipleOf, kind)}`
  return at(path, text, (field) => fieldErrors.invalid(field, factor, text))
}

function explainArray(
  findings: Findings,
  value: readonly unknown[],
  node: SchemaNode,
  path: string,
  correlation: Correlation | undefined,
): void {
  findings.passed += 2
  const { minItems, maxItems, uniqueItems } = node.schema
  const items = node.items
  if (items) {
    for (let i = 0; i < value.length && !findings.full; i++) {
      findings.merge(childFindings(value[i], items, `${path}[${i}]`, correlation?.index(i)))
    }
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    findings.add(invalidAt(path, value.length, `should have at least ${minItems} items`))
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    const text = `${path} in body should have at most ${maxItems} items`
    findings.add(at(path, text, (field) => fieldErrors.tooMany(field, value.length, maxItems)))
  }
  if (uniqueItems === true && hasDuplicates(value)) {
    findings.add(invalidAt(path, '', "shouldn't contain duplicates"))
  }
}

function notSupported(value: unknown, rules: ValueRules, path: string): Finding {
  const names = rules.enum.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)))
  return at(path, `${path} in body should be one of [${names.join(' ')}]`, (field) =>
    fieldErrors.notSupported(field, value, names),
  )
}

function explainObject(
  findings: Findings,
  value: Record<string, unknown>,
  node: SchemaNode,
  path: string,
  correlation: Correlation | undefined,
): void {
  findings.passed++
  const keys = Object.keys(value).filter((key) => value[key] !== undefined)
  explainSize(findings, keys.length, node, path)
  const additional = node.additional
  for (const key of keys) {
    if (findings.full) return
    if (node.property(key)) continue
    if (node.schema.additionalProperties === false) {
      const text = `${path}.${key} in body is a forbidden property`
      findings.add(at(path, text, (field) => fieldErrors.invalid(field, key, text)))
    } else if (additional) {
      findings.merge(childFindings(value[key], additional, `${path}.${key}`, correlation?.key(key)))
    }
  }
  for (const key of Object.keys(node.schema.properties ?? {})) {
    const field = getOwn(value, key)
    if (field === undefined) continue
    // The old object may have the version of another request, so changes of these two fields are not visible.
    const old = path === '' && (key === 'kind' || key === 'apiVersion') ? undefined : correlation?.key(key)
    findings.merge(childFindings(field, node.property(key)!, path === '' ? key : `${path}.${key}`, old))
  }
  for (const name of node.rules.required) {
    if (getOwn(value, name) !== undefined) continue
    const place = `${path}.${name}`
    findings.add(at(place, `${place} in body is required`, (field) => fieldErrors.required(field)))
  }
}

function explainSize(findings: Findings, count: number, node: SchemaNode, path: string): void {
  const { minProperties, maxProperties } = node.schema
  if (typeof minProperties === 'number' && count < minProperties) {
    findings.add(invalidAt(path, count, `should have at least ${minProperties} properties`))
  }
  if (typeof maxProperties === 'number' && count > maxProperties) {
    const text = `${path} in body should have at most ${maxProperties} properties`
    findings.add(at(path, text, (field) => fieldErrors.tooMany(field, count, maxProperties)))
  }
}
