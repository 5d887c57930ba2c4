import { type Call, type Expr, walk } from './ast.js'
import { toDuration, toTimestamp } from './conversions.js'
import { checkFormatCall } from './library/format-check.js'
import { isRegex } from './regex.js'
import type { Issue } from './source.js'
import { sameType, type Type, unwrapOptional } from './types.js'
import { EvaluationError, type Value } from './values.js'

function works(convert: (value: Value) => Value, value: Value): boolean {
  try {
    convert(value)
    return true
  } catch (error) {
    if (error instanceof EvaluationError) return false
    throw error
  }
}

const literalChecks: Readonly<Record<string, (value: Value) => boolean>> = {
  duration: (value) => works(toDuration, value),
  timestamp: (value) => works(toTimestamp, value),
  matches: (value) => typeof value !== 'string' || isRegex(value),
}

function checkLiteral(name: string, call: Call): Issue | undefined {
  const arg = call.args[0]
  if (call.name !== name || arg?.kind !== 'literal' || literalChecks[name]!(arg.value)) return undefined
  return { offset: arg.offset, message: `invalid ${name} argument` }
}

function mismatch(expr: Expr, expected: Type, actual: Type): Issue {
  return { offset: expr.offset, message: `expected type '${expected}' but found '${actual}'` }
}

const isExempt = (parents: readonly Expr[]) =>
  parents.some((parent) => parent.kind === 'call' && parent.name === 'format')

/** Checks that all elements of a list literal, and all keys and values of a map literal, have one type. */
function checkAggregate(expr: Expr): Issue[] {
  if (expr.kind === 'list') {
    const types = expr.elements.map((e, i) => (expr.optional[i] ? (unwrapOptional(e.type!) ?? e.type!) : e.type!))
    const odd = types.findIndex((type) => !sameType(type, types[0]!))
    return odd < 0 ? [] : [mismatch(expr.elements[odd]!, types[0]!, types[odd]!)]
  }
  if (expr.kind !== 'map' || expr.entries.length === 0) return []
  const valueType = (i: number) => {
    const { value, optional } = expr.entries[i]!
    return optional ? (unwrapOptional(value.type!) ?? value.type!) : value.type!
  }
  const keyType = expr.entries[0]!.key.type!
  return expr.entries.flatMap(({ key, value }, i) => [
    ...(sameType(keyType, key.type!) ? [] : [mismatch(key, keyType, key.type!)]),
    ...(sameType(valueType(0), valueType(i)) ? [] : [mismatch(value, valueType(0), valueType(i))]),
  ])
}

/**
 * Finds errors in literals that the type check does not find: durations, times, patterns, format strings and mixed
 * lists.
 */
export function validateLiterals(expr: Expr): Issue[] {
  const issues: Issue[] = []
  walk(expr, (node, parents) => {
    if (node.kind === 'call') {
      for (const name of Object.keys(literalChecks)) {
        const issue = checkLiteral(name, node)
        if (issue) issues.push(issue)
      }
      issues.push(...checkFormatCall(node))
    } else if (!isExempt(parents)) issues.push(...checkAggregate(node))
  })
  return issues
}
