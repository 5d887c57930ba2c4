import { append } from '../arrays.js'
import { type FieldError, fieldErrors } from '../errors.js'
import { decodeMeta } from '../metadata/decode.js'
import { type SchemaNode, someEmbeddedResource } from './node.js'
import { dropped, mapArray, mapObject } from './walk.js'

/** Options of {@link coerceEmbedded}. */
export interface CoerceOptions {
  /** Omit values of a wrong type instead of failing. For stored objects. */
  readonly drop?: boolean | undefined
  /** Receives the paths of unknown metadata fields. */
  readonly unknown?: string[] | undefined
}

/**
 * Decodes apiVersion, kind and metadata of embedded resources, and of the value itself if `root` is set. Does not
 * throw: errors are part of the result.
 */
export function coerceEmbedded(
  value: unknown,
  node: SchemaNode,
  root: boolean,
  path: string,
  options: CoerceOptions,
): { readonly value: unknown; readonly error?: FieldError } {
  if (!root && !node.holds(someEmbeddedResource)) return { value }
  const coercion = new Coercion(options)
  const coerced = coercion.coerce(value, node, root || node.embedded, path)
  if (options.unknown) append(options.unknown, coercion.unknown.sort())
  return coercion.error ? { value, error: coercion.error } : { value: coerced }
}

class Coercion {
  readonly unknown: string[] = []
  error: FieldError | undefined

  constructor(private readonly options: CoerceOptions) {}

  coerce(value: unknown, node: SchemaNode | undefined, embedded: boolean, path: string): unknown {
    if (node === undefined || typeof value !== 'object' || value === null || this.error) return value
    if (!embedded && !node.holds(someEmbeddedResource)) return value
    if (Array.isArray(value)) {
      const { items } = node
      return mapArray(value, (item, i) => this.coerce(item, items, items?.embedded ?? false, `${path}[${i}]`))
    }
    return mapObject(value as Record<string, unknown>, (field, key) => {
      const declared = node.property(key)
      const at = declared || !node.hasAdditional ? childPath(path, key) : `${path}[${key}]`
      const coerced = embedded ? this.coerceMeta(field, key, childPath(path, key)) : field
      if (coerced === dropped) return dropped
      const child = declared ?? node.additional
      return this.coerce(coerced, child, child?.embedded ?? false, at)
    })
  }

  private coerceMeta(field: unknown, key: string, path: string): unknown {
    if (key === 'apiVersion' || key === 'kind') {
      if (typeof field === 'string') return field
      if (this.options.drop) return dropped
      this.error ??= fieldErrors.invalid(path, field, 'must be a string')
    } else if (key === 'metadata') {
      const found: string[] = []
      const { meta, error } = decodeMeta(field, { drop: this.options.drop, unknown: found })
      append(
        this.unknown,
        found.map((name) => `${path}.${name}`),
      )
      if (meta) return meta
      if (!this.options.drop) this.error ??= fieldErrors.invalid(path, field, error!)
    }
    return field
  }
}

const childPath = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)
