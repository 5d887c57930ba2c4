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
 * A schema made ready for many objects. Nothing here changes an object: what
 * must differ is a copy, and an object that needs no change comes back itself.
 */
export interface CompiledSchema {
  readonly schema: JSONSchemaProps
  /**
   * Drops fields that the schema does not know. `root` says that the value is a
   * whole object, whose apiVersion, kind and metadata always stay. `unknown`
   * receives the paths of what was dropped, sorted, as `spec.list[0].bar`.
   */
  prune<T extends Value>(value: T, options: { readonly root: boolean; readonly unknown?: string[] }): T
  /** Drops nulls that are neither allowed nor replaced by a default. */
  dropNulls<T extends Value>(value: T): T
  /** Fills in defaults. The defaults themselves are shared between objects and must not be changed. */
  applyDefaults<T extends Value>(value: T): T
  /**
   * Gives the metadata of an object, and of the resources embedded in it, the
   * types it must have. On the way in a wrong type is an error; on the way out
   * of the store (`drop`) the field is left out.
   */
  coerceMetadata<T extends Obj>(object: T, options?: CoerceOptions): { readonly object: T; readonly error?: string }
  /**
   * All that happens between the wire, or the store, and an object of the kind,
   * in the real server's order: metadata typed, unknown fields and pointless
   * nulls dropped, embedded resources typed, defaults filled in (unless the
   * object was converted: it got those of the version it came from). With
   * `nulls`, those that no default replaces stay, to be judged.
   */
  shape<T extends Obj>(
    object: T,
    options?: CoerceOptions & { readonly defaults?: boolean; readonly nulls?: boolean },
  ): { readonly object: T; readonly error?: string }
  /**
   * Complaints, worded and placed as kube-apiserver does. With `old`, what the
   * update did not touch is forgiven. `path` is where the value sits.
   */
  validate(value: Value, old?: Value, path?: string): FieldError[]
  /** Complaints about embedded resources, and about duplicates in sets and keyed lists unless `old` had some too. */
  validateListTypes(object: Value, old?: Value): FieldError[]
}

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

/** An update is not blamed for duplicates when there were some before. */
function newDuplicates(object: unknown, old: unknown, root: SchemaNode): FieldError[] {
  const repeated = duplicates(object, root)
  return repeated.length > 0 && old !== undefined && duplicates(old, root).length > 0 ? [] : repeated
}

interface Typed<T> {
  readonly object: T
  readonly error?: string
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
