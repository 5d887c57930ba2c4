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

/** Returns whether an external resource matches. */
export type Filter = (found: NamedResource) => boolean

/** A filter that is invalid, or that names a field that the kind does not have. */
export class FilterError extends Error {
  override readonly name = 'FilterError'
}

/** The name of the external name in filters. */
const EXTERNAL_NAME = 'externalName'

/**
 * Returns a filter for a field value, in which `*` matches any text. Throws FilterError if the kind does not have
 * the field.
 */
export function fieldFilter(kind: ManagedKind, path: string, wanted: string): Filter {
  checkPath(kind, path)
  const matches = pattern(wanted)
  return (found) => textsAt(kind, found, path).some(matches)
}

/** Rejects an unknown field, which would silently match nothing. */
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

/**
 * Returns the values at a path as strings, one for each item of a list. `name` covers the external name, the field
 * `name` and the tag `Name`.
 */
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

/** The result of a CEL expression for one resource, or the reason why it failed. */
export type Judged = { readonly matches: boolean } | { readonly error: string }

/** Returns a filter for a CEL expression. Throws FilterError if the expression does not compile or is not boolean. */
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
    // Unreported fields may be present with the value undefined, which CEL does not support.
    const reported = parseJson(stringify(atProvider))
    const result = program.evaluate(environment.inputs({ externalName, atProvider: reported }))
    if ('error' in result) return { error: result.error }
    if (typeof result.value !== 'boolean') return { error: 'it is neither true nor false' }
    return { matches: result.value }
  }
}
