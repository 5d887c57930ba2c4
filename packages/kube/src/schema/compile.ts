import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { append } from '../arrays.js'
import { type FieldError, fieldErrorText } from '../errors.js'
import { getOwn, setOwn } from '../json.js'
import { decodeMeta } from '../metadata/decode.js'
import { check } from './check.js'
import { type CoerceOptions, coerceEmbedded } from './coerce.js'
import { Correlation } from './correlate.js'
import { applyDefaults, dropNulls } from './defaults.js'
import { embeddedErrors } from './embedded.js'
import { explain } from './explain.js'
import { duplicates } from './lists.js'
import { SchemaNode } from './node.js'
import { prune } from './prune.js'
import { withPrunedDefaults } from './pruned-defaults.js'

type Value = unknown
type Obj = Readonly<Record<string, unknown>>

/**
 * A schema, compiled for many objects. Objects are never changed: a changed object is a copy, and an object that
 * needs no change is returned as it is.
 */
export interface CompiledSchema {
  readonly schema: JSONSchemaProps
  /**
   * Removes fields that the schema does not declare. With `root`, the value is a whole object, whose apiVersion,
   * kind and metadata are always kept. `unknown` receives the sorted paths of removed fields, such as
   * `spec.list[0].bar`.
   */
  prune<T extends Value>(value: T, options: { readonly root: boolean; readonly unknown?: string[] }): T
  /** Removes nulls that are neither allowed nor replaced by a default. */
  dropNulls<T extends Value>(value: T): T
  /** Sets defaults. The defaults are shared between objects and must not be changed. */
  applyDefaults<T extends Value>(value: T): T
  /**
   * Decodes the metadata of an object and of its embedded resources. A wrong type in a request is an error; in a
   * stored object (`drop`) the field is omitted.
   */
  coerceMetadata<T extends Obj>(
    object: T,
    options?: CoerceOptions,
  ): { readonly object: T; readonly error?: string | undefined }
  /**
   * Prepares an object that was received or read from the store, in the order of kube-apiserver: decode metadata,
   * drop unknown fields and nulls, decode embedded resources, set defaults (unless the object was converted, since
   * the defaults of its original version were set then). With `nulls`, nulls without a default are kept for
   * validation.
   */
  shape<T extends Obj>(
    object: T,
    options?: CoerceOptions & { readonly defaults?: boolean; readonly nulls?: boolean },
  ): { readonly object: T; readonly error?: string | undefined }
  /**
   * Validates a value. Returns field errors as kube-apiserver words and orders them. With `old`, errors of
   * unchanged values are tolerated. `path` is the path of the value.
   */
  validate(value: Value, old?: Value, path?: string): FieldError[]
  /** Validates embedded resources, and uniqueness in sets and keyed lists unless `old` had duplicates too. */
  validateListTypes(object: Value, old?: Value): FieldError[]
}

/** Compiles a schema. Parts are compiled on first use. */
export function compileSchema(schema: JSONSchemaProps): CompiledSchema {
  const root = new SchemaNode(withPrunedDefaults(schema))
  return {
    schema,
    prune: (value, options) => prune(value, root, options.root, options.unknown) as typeof value,
    dropNulls: (value) => dropNulls(value, root) as typeof value,
    applyDefaults: (value) => applyDefaults(value, root) as typeof value,
    coerceMetadata(object, options = {}) {
      const typed = typeMetadata(object, options)
      return typed.error === undefined ? typeEmbedded(typed.object, root, options) : typed
    },
    shape(object, options = {}) {
      const typed = typeMetadata(object, options)
      if (typed.error !== undefined) return typed
      const pruned = prune(typed.object, root, true, options.unknown)
      const fitting = (options.nulls ? pruned : dropNulls(pruned, root)) as typeof object
      const { object: shaped, error } = typeEmbedded(fitting, root, options)
      if (error !== undefined) return { object, error }
      return { object: options.defaults === false ? shaped : (applyDefaults(shaped, root) as typeof object) }
    },
    validate(value, old, path) {
      if (check(value, root)) return []
      return explain(value, root, old === undefined ? undefined : new Correlation(value, old, root), path)
    },
    validateListTypes: (object, old) => [...embeddedErrors(object, root, false), ...newDuplicates(object, old, root)],
  }
}

/** Returns duplicates that the old object did not have. All are tolerated if it had some. */
function newDuplicates(object: unknown, old: unknown, root: SchemaNode): FieldError[] {
  const repeated = duplicates(object, root)
  return repeated.length > 0 && old !== undefined && duplicates(old, root).length > 0 ? [] : repeated
}

interface Typed<T> {
  readonly object: T
  readonly error?: string | undefined
}

function typeMetadata<T extends Obj>(object: T, { drop, unknown }: CoerceOptions): Typed<T> {
  const metadata = getOwn(object, 'metadata')
  if (metadata === undefined) return { object }
  const found: string[] | undefined = unknown && []
  const { meta, error } = decodeMeta(metadata, { drop, unknown: found })
  if (!meta) return { object, error }
  if (found)
    append(
      unknown!,
      found.map((name) => `metadata.${name}`),
    )
  if (meta === metadata) return { object }
  const copy = { ...object }
  setOwn(copy, 'metadata', meta)
  return { object: copy }
}

function typeEmbedded<T extends Obj>(object: T, root: SchemaNode, options: CoerceOptions): Typed<T> {
  const { value, error } = coerceEmbedded(object, root, false, '', options)
  return error ? { object, error: fieldErrorText(error) } : { object: value as T }
}
