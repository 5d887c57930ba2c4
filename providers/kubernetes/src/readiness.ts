import { CompileError, compileExpression, ExpressionEnvironment, type ExpressionProgram } from '@crosstie/cel'
import { type Condition, conditionsOf, type KubeObject, messageOf } from '@crosstie/kube'

/** The readiness policies. */
export const readinessPolicies = [
  'SuccessfulCreate',
  'DeriveFromObject',
  'ByCondition',
  'AllTrue',
  'DeriveFromCelQuery',
] as const

/** The readiness settings of an Object. */
export interface Readiness {
  readonly policy?: (typeof readinessPolicies)[number]
  readonly conditionType?: string
  readonly celQuery?: string
}

const environment = ExpressionEnvironment.create({ variables: { object: 'dyn' } })
/** Compiled queries. There are few different ones for many Objects. */
const programs = new Map<string, ExpressionProgram | CompileError>()
const PROGRAMS_MAX = 1_000

/** Returns true if the object is ready, otherwise a condition with the reason. */
export function readinessOf(live: KubeObject, readiness: Readiness = {}): true | Condition {
  if (live.metadata.deletionTimestamp) return notReady('it is being deleted')
  switch (readiness.policy ?? 'SuccessfulCreate') {
    case 'SuccessfulCreate':
      return true
    case 'DeriveFromObject':
      return byCondition(live, 'Ready')
    case 'ByCondition':
      return readiness.conditionType
        ? byCondition(live, readiness.conditionType)
        : notReady('spec.forProvider.readiness.conditionType is missing: name the condition to go by')
    case 'AllTrue':
      return allTrue(live)
    case 'DeriveFromCelQuery':
      return readiness.celQuery
        ? byQuery(live, readiness.celQuery)
        : notReady(
            'spec.forProvider.readiness.celQuery is missing: give an expression such as object.status.ready == true',
          )
  }
}

const notReady = (message: string): Condition => ({ type: 'Ready', status: 'False', reason: 'Unavailable', message })

function byCondition(live: KubeObject, type: string): true | Condition {
  const condition = conditionsOf(live).find((each) => each.type === type)
  if (!condition) return notReady(`it has no condition ${type} yet`)
  return condition.status === 'True' || notReady(saying(condition))
}

function allTrue(live: KubeObject): true | Condition {
  const conditions = conditionsOf(live)
  if (conditions.length === 0) return notReady('it has no conditions yet')
  const open = conditions.filter(({ status }) => status !== 'True')
  return open.length === 0 || notReady(open.map(saying).join('; '))
}

function saying({ type, status, reason, message }: Condition): string {
  return `its condition ${type} is ${status}${reason ? ` (${reason})` : ''}${message ? `: ${message}` : ''}`
}

function byQuery(live: KubeObject, query: string): true | Condition {
  const program = compiled(query)
  if (program instanceof CompileError) {
    return notReady(`spec.forProvider.readiness.celQuery cannot be read: ${program.message}`)
  }
  const outcome = program.evaluate(environment.inputs({ object: live }))
  // A missing field is the usual case: the object does not have a status yet.
  if ('error' in outcome) return notReady(`the readiness query has no answer yet: ${outcome.error}`)
  if (typeof outcome.value !== 'boolean') {
    return notReady('spec.forProvider.readiness.celQuery must give true or false')
  }
  return outcome.value || notReady(`not yet: ${query}`)
}

function compiled(query: string): ExpressionProgram | CompileError {
  const known = programs.get(query)
  if (known) return known
  if (programs.size >= PROGRAMS_MAX) programs.clear()
  const program = compile(query)
  programs.set(query, program)
  return program
}

function compile(query: string): ExpressionProgram | CompileError {
  try {
    return compileExpression(query, environment)
  } catch (error) {
    if (error instanceof CompileError) return error
    throw new Error(`cannot compile the readiness query: ${messageOf(error)}`, { cause: error })
  }
}
