import { ExpressionEnvironment, type ExpressionProgram } from '@crosstie/cel'
import {
  FieldPathError,
  findFieldValue,
  isObject,
  messageOf,
  parseFieldPath,
  parseJson,
  stringify,
} from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { unionOf } from '../definition/openapi.js'
import type { NamedResource } from './list-external.js'

/** Which external resources are meant. */
export type Filter = (found: NamedResource) => boolean

/** A filter that cannot be understood, or that asks for a field that the kind does not have. */
export class FilterError extends Error {
  override readonly name = 'FilterError'
}

/** The field that stands for the external name in filters. */
const EXTERNAL_NAME = 'externalName'

/** Does the field at the path hold this text? `*` stands for any. Throws a FilterError for a field that cannot be there. */
export function fieldFilter(kind: ManagedKind, path: string, wanted: string): Filter {
  checkPath(kind, path)
  const matches = pattern(wanted)
  return (found) => textsAt(kind, found, path).some(matches)
}

/** A misspelt field would match nothing, and nobody would know why. */
function checkPath(kind: ManagedKind, path: string): void {
  let segments: ReturnType<typeof parseFieldPath>
  try {
    segments = parseFieldPath(path)
  } catch (error) {
    if (error instanceof FieldPathError) throw new FilterError(`'${path}' is no path of a field: ${messageOf(error)}`)
    throw error
  }
  const [first] = segments
  const name = first && 'field' in first ? first.field : ''
  const fields = Object.keys(unionOf(kind.parameters, kind.observation).fields ?? {})
  if (fields.includes(name) || path === EXTERNAL_NAME || path === 'name') return
  throw new FilterError(
    `${kind.type.kind} has no field '${name}' to filter by: choose from ${[EXTERNAL_NAME, 'name', ...fields].join(', ')}`,
  )
}

/** What is at a path, as texts: each item of a list by itself. `name` is whatever people call it by. */
function textsAt({ tags }: ManagedKind, { externalName, atProvider }: NamedResource, path: string): readonly string[] {
  const at = (where: string) => textsOf(findFieldValue(atProvider, where))
  if (path === EXTERNAL_NAME) return [externalName]
  if (path !== 'name') return at(path)
  return [externalName, ...at('name'), ...(tags ? at(`${tags.field}.Name`) : [])]
}

function textsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return [isObject(value) ? stringify(value) : String(value)]
}

function pattern(wanted: string): (text: string) => boolean {
  if (!wanted.includes('*')) return (text) => text === wanted
  const parts = wanted.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  const inner = parts.slice(1, -1).filter(Boolean)
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
    let at = first.length
    for (const part of inner) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}

const environment = ExpressionEnvironment.create({ variables: { externalName: 'string', atProvider: 'dyn' } })

/** What of a resource a CEL expression says, and why it says nothing. */
export type Judged = { readonly matches: boolean } | { readonly error: string }

/** Throws a FilterError when the expression cannot be compiled, or is no condition. */
export function expressionFilter(source: string): (found: NamedResource) => Judged {
  let program: ExpressionProgram
  try {
    program = environment.compile(source)
  } catch (error) {
    throw new FilterError(`the expression cannot be used: ${messageOf(error)}`, { cause: error })
  }
  if (program.outputType !== 'bool' && program.outputType !== 'dyn') {
    throw new FilterError(`the expression must be true or false, and is ${program.outputType}`)
  }
  return ({ externalName, atProvider }) => {
    // Fields that the provider does not report may be there as undefined, which CEL has no word for.
    const reported = parseJson(stringify(atProvider))
    const result = program.evaluate(environment.inputs({ externalName, atProvider: reported }))
    if ('error' in result) return { error: result.error }
    if (typeof result.value !== 'boolean') return { error: 'it is neither true nor false' }
    return { matches: result.value }
  }
}
