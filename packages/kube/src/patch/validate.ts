import { isObject } from '../json.js'
import { elementText, floatText } from './field-set.js'
import {
  fieldType,
  type ListType,
  listElement,
  type ManagedType,
  type MapType,
  type Scalar,
  SchemaMismatchError,
  shapeOf,
} from './managed-type.js'

/**
 * Checks that a value fits a type, also inside atomic parts. Throws a SchemaMismatchError that lists all errors as
 * Kubernetes words them. An applied object may not have duplicates in its lists.
 */
export function validate(type: ManagedType, value: unknown, doubles: 'allowed' | 'refused'): void {
  const errors: string[] = []
  new Validator(doubles === 'allowed', errors).visit(type, value, '')
  if (errors.length === 0) return
  throw new SchemaMismatchError(
    errors.length === 1 ? errors[0] : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n'),
  )
}

class Validator {
  constructor(
    private readonly allowDoubles: boolean,
    private readonly errors: string[],
  ) {}

  visit(type: ManagedType, value: unknown, path: string): void {
    if (value === null || value === undefined) return
    switch (shapeOf(type, value)) {
      case 'map':
        if (isObject(value)) this.#visitMap(type.map!, value, path)
        else this.#report(path, `expected map, got ${pointer(value)}`)
        return
      case 'list':
        if (Array.isArray(value)) this.#visitList(type.list!, value, path)
        else this.#report(path, `expected list, got ${pointer(value)}`)
        return
      case 'scalar': {
        const complaint = scalarComplaint(type.scalar!, value)
        if (complaint) this.#report(path, complaint)
        return
      }
      default:
        this.#report(path, 'schema error: invalid atom: inlined')
    }
  }

  #report(path: string, message: string): void {
    this.errors.push(path === '' ? message : `${path}: ${message}`)
  }

  #visitMap(map: MapType, value: Record<string, unknown>, path: string): void {
    for (const key of Object.keys(value)) {
      if (value[key] === undefined) continue
      const type = fieldType(map, key)
      if (type) this.visit(type, value[key], `${path}.${key}`)
      else this.#report(`${path}.${key}`, 'field not declared in schema')
      if (!type) return
    }
  }

  #visitList(list: ListType, items: readonly unknown[], path: string): void {
    const seen = new Set<string>()
    for (const [index, item] of items.entries()) {
      let element = `i:${index}`
      if (!list.atomic) {
        try {
          element = listElement(list, item)
        } catch (error) {
          if (!(error instanceof SchemaMismatchError)) throw error
          this.#report(path, `element ${index}: ${error.message}`)
          return
        }
        if (seen.has(element) && !this.allowDoubles) {
          this.#report(path, `duplicate entries for key ${elementText(element)}`)
        }
        seen.add(element)
      }
      this.visit(list.element, item, path + elementText(element))
    }
  }
}

function scalarComplaint(scalar: Scalar, value: unknown): string | undefined {
  const numeric = typeof value === 'number' || typeof value === 'bigint'
  switch (scalar) {
    case 'numeric':
      return numeric ? undefined : `expected numeric (int or float), got ${typeName(value)}`
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${syntax(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${pointer(value)}`
    default:
      return typeof value === 'object' ? `expected any scalar, got ${pointer(value)}` : undefined
  }
}

/** Formats a value as Go's `%v` of the wrapper in structured-merge-diff. */
function pointer(value: unknown): string {
  return `&{${plain(value)}}`
}

function plain(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(plain).join(' ')}]`
  if (isObject(value)) {
    const keys = Object.keys(value).sort()
    return `map[${keys.map((key) => `${key}:${plain(value[key])}`).join(' ')}]`
  }
  return typeof value === 'number' ? floatText(value) : String(value)
}

/** Formats a value as Go's `%#v`. */
function syntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(syntax).join(', ')}}`
  if (isObject(value)) {
    const keys = Object.keys(value).sort()
    return `map[string]interface {}{${keys.map((key) => `${JSON.stringify(key)}:${syntax(value[key])}`).join(', ')}}`
  }
  if (typeof value === 'number') return floatText(value)
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : 'string'
}
