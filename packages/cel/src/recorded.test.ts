import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { baseEnvironments } from './base.js'
import { checkRules } from './check-rules.js'
import { formatDouble } from './conversions.js'
import { estimateCost } from './cost.js'
import { fieldErrorText } from './kubernetes/field-error.js'
import type { JSONSchemaProps, ValidationRule } from './kubernetes/schema.js'
import { PlanError } from './plan.js'
import { CompileError, compile, outputType, Program } from './program.js'
import { compileRules } from './rules.js'
import { formatDuration, formatTimestamp } from './time.js'
import { listOf, mapOf, Type, types } from './types.js'
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  fromJson,
  type Value,
} from './values.js'

// The results of cel-go and the Go packages of Kubernetes 1.34.4 for expressions and rules.
function load(name: string) {
  const text = readFileSync(new URL(`../src/testdata/${name}`, import.meta.url), 'utf8')
  const exact = text.replace(/(?<=[:[,])-?\d{16,}(?=[,\]}])/g, (digits) => `"int:${digits}"`)
  return JSON.parse(exact, (_, value) => {
    return typeof value === 'string' && /^int:-?\d+$/.test(value) ? BigInt(value.slice(4)) : value
  })
}

interface RecordedExpression {
  readonly expr: string
  readonly vars?: Readonly<Record<string, unknown>>
  readonly compile?: string
  readonly program?: string
  readonly type?: string
  readonly est?: readonly [string, string]
  readonly value?: string | undefined
  readonly error?: string
  readonly cost?: number
}

const variables = new Map([
  ['x', types.dyn],
  ['s', types.string],
  ['i', types.int],
  ['l', listOf(types.string)],
  ['m', mapOf(types.string, types.int)],
])
const environment = { ...baseEnvironments.stored, variables, structs: new Map() }
const defaults = { x: null, s: 'hello', i: 3, l: ['a', 'b'], m: { a: 1 } }

/** Prints a value as the recorder did. Values of libraries are not printed, since their format differs. */
function show(value: Value): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof CelUint) return `${value.value}u`
  if (value instanceof CelDouble) return `double:${formatDouble(value.value)}`
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString('hex')}`
  if (value instanceof CelTimestamp) return `timestamp:${formatTimestamp(value)}`
  if (value instanceof CelDuration) return `duration:${formatDuration(value)}`
  if (value instanceof CelOptional)
    return value.value === undefined ? 'optional.none' : `optional(${show(value.value)})`
  if (value instanceof CelList) return `[${value.values().map(show).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => `${show(key)}: ${show(value.find(key)!)}`)
    return `{${entries.sort().join(', ')}}`
  }
  return value instanceof Type ? `type:${value.name}` : undefined
}

function evaluate({ expr, vars }: RecordedExpression): Partial<RecordedExpression> {
  let checked: ReturnType<typeof compile>
  try {
    checked = compile(expr, environment)
  } catch (error) {
    if (error instanceof CompileError) return { compile: error.message }
    throw error
  }
  const { min, max } = estimateCost(checked.expr, undefined)
  const known = { type: outputType(checked).toString(), est: [String(min), String(max)] as const }
  let program: Program
  try {
    program = new Program(checked)
  } catch (error) {
    if (error instanceof PlanError) return { ...known, program: error.message }
    throw error
  }
  const inputs: Readonly<Record<string, unknown>> = { ...defaults, ...vars }
  const outcome = program.run((name) => fromJson(inputs[name]), 1_000_000)
  if ('error' in outcome) return { ...known, error: outcome.error, cost: outcome.cost }
  return { ...known, value: show(outcome.value), cost: outcome.cost }
}

for (const name of ['expressions.json', 'spec.json', 'random.json', 'syntax.json']) {
  test(`expressions evaluate and cost as recorded: ${name}`, () => {
    for (const recorded of load(name) as RecordedExpression[]) {
      const { expr, vars, ...want } = recorded
      const got = evaluate(recorded)
      if (got.value === undefined && 'value' in got) delete (want as { value?: string }).value
      assert.deepEqual(JSON.parse(JSON.stringify(got)), JSON.parse(JSON.stringify(want)), expr)
    }
  })
}

interface RecordedRules {
  readonly name: string
  readonly base?: string
  readonly rules?: readonly ValidationRule[]
  readonly oldSpec?: Readonly<Record<string, unknown>>
  readonly schema?: JSONSchemaProps
  readonly object?: Readonly<Record<string, unknown>>
  readonly old?: unknown
  readonly check?: readonly string[]
  readonly errors?: readonly string[]
  readonly cost?: number
}

interface Base {
  readonly schema: JSONSchemaProps
  readonly object: { readonly spec: Readonly<Record<string, unknown>> }
}

/** Many cases share a schema and an object and state only the differences. */
function expand(recorded: RecordedRules, bases: Readonly<Record<string, Base>>) {
  const base = recorded.base === undefined ? undefined : bases[recorded.base]
  if (!base) return { schema: recorded.schema!, object: recorded.object, old: recorded.old }
  const rules = recorded.rules ? { 'x-kubernetes-validations': recorded.rules } : {}
  const spec = { ...base.schema.properties!['spec'], ...rules }
  const { object } = base
  const old = recorded.oldSpec && { ...object, spec: { ...object.spec, ...recorded.oldSpec } }
  return { schema: { ...base.schema, properties: { ...base.schema.properties, spec } }, object, old }
}

const recordedRules = load('rules.json') as {
  readonly bases: Readonly<Record<string, Base>>
  readonly cases: readonly RecordedRules[]
}

test('rules are accepted and rejected as recorded', () => {
  for (const recorded of recordedRules.cases) {
    const { schema } = expand(recorded, recordedRules.bases)
    const errors = checkRules(schema, 'spec.versions[0].schema.openAPIV3Schema').map(fieldErrorText).sort()
    assert.deepEqual(errors, recorded.check ?? [], recorded.name)
  }
})

test('rules report the recorded errors', () => {
  for (const recorded of recordedRules.cases) {
    const { schema, object, old } = expand(recorded, recordedRules.bases)
    if (object === undefined) continue
    const errors = compileRules(schema)?.validate(object, old).map(fieldErrorText).sort() ?? []
    assert.deepEqual(errors, recorded.errors ?? [], recorded.name)
  }
})

test('rules have the recorded costs', () => {
  for (const recorded of recordedRules.cases) {
    const { schema, object, old } = expand(recorded, recordedRules.bases)
    const stopped = recorded.errors?.some((error) => error.includes('no further validation rules will be run'))
    if (object === undefined || recorded.cost === undefined || stopped) continue
    // Rules do not run after the budget is used up, so one unit is added.
    const enough = compileRules(schema)!.validate(object, old, { budget: recorded.cost + 1 })
    assert.deepEqual(enough.map(fieldErrorText).sort(), recorded.errors ?? [], recorded.name)
    const tolerated: unknown[] = []
    const budget = recorded.cost - 1
    const short = compileRules(schema)!.validate(object, old, { budget, onTolerated: (error) => tolerated.push(error) })
    const complaints = [...short.map(fieldErrorText), ...tolerated.map(String)]
    assert.ok(tolerated.length > 0 || complaints.some((text) => text.includes('cost budget')), recorded.name)
  }
})
