import type { KubeObject } from '@crosstie/kube'
import { append } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import type { Conventions } from '../definitions/conventions.js'
import { DecodeError } from '../definitions/decode-error.js'
import type { Column, Definition, Strategy, Subresources, Verb, Version } from '../definitions/definition.js'
import { schemaOfModel } from '../gotypes/schema.js'
import { decodeTyped, TypedDecodeError } from '../gotypes/typed.js'
import { ageColumn, nameColumn } from './columns.js'
import { builtInConventions } from './conventions.js'

/** An object in the write path. Its fields may be changed. */
export type Draft = Record<string, unknown>

/** The rules of one built-in kind. The conventions of built-in kinds are added to them; a kind may differ in some. */
export type KindStrategy = Omit<Strategy, 'decode' | 'model' | keyof Conventions> & Partial<Conventions>

/** The differences between built-in kinds. The rest follows from the Go type. */
export interface Kind {
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** The OpenAPI model of the Go type, such as `io.k8s.api.core.v1.Secret`. */
  readonly model: string
  readonly namespaced: boolean
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly Verb[]
  readonly subresources?: Subresources
  readonly columns?: readonly Column[]
  readonly selectableFields?: readonly string[]
  readonly fieldLabels?: Version['fieldLabels']
  readonly sharedWith?: Definition['sharedWith']
  /** The SetDefaults functions and conversions of Go. They run on every decoded object. */
  readonly defaults?: (object: Draft) => void
  readonly strategy: KindStrategy
  /** Whether empty lists and maps are kept. Stored kinds lose them, as in etcd's protobuf. */
  readonly keepsEmpty?: boolean
}

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
/** The version of all built-in kinds. */
export const version = 'v1'

/** Returns the definition of a built-in kind. Its schema is derived on first use. */
export function defineKind(kind: Kind): Definition {
  return {
    group: kind.group,
    names: {
      plural: kind.plural,
      singular: kind.kind.toLowerCase(),
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      shortNames: kind.shortNames ?? [],
      categories: kind.categories ?? [],
    },
    namespaced: kind.namespaced,
    versions: [versionOf(kind)],
    storage: version,
    verbs: kind.verbs ?? allVerbs,
    strategy: strategyOf(kind),
    ...(kind.sharedWith ? { sharedWith: kind.sharedWith } : {}),
  }
}

function strategyOf(kind: Kind): Strategy {
  let empty: Draft | undefined
  return {
    ...builtInConventions,
    ...kind.strategy,
    model: kind.model,
    decode: decoder(kind),
    get empty(): Draft {
      empty ??= decodeTyped(kind.model, {}, kind.keepsEmpty ?? false).object
      return empty
    },
  }
}

function versionOf(kind: Kind): Version {
  return {
    name: version,
    get schema(): JSONSchemaProps {
      return schemaOfModel(kind.model)
    },
    subresources: kind.subresources ?? {},
    columns: kind.columns ?? [nameColumn, ageColumn],
    selectableFields: kind.selectableFields ?? [],
    ...(kind.fieldLabels ? { fieldLabels: kind.fieldLabels } : {}),
  }
}

function decoder({ model, defaults, keepsEmpty }: Kind): NonNullable<Strategy['decode']> {
  return (value, _versionName, unknown) => {
    try {
      const decoded = decodeTyped(model, value, keepsEmpty ?? false)
      defaults?.(decoded.object)
      if (unknown) append(unknown, decoded.unknown)
      return decoded.object as unknown as KubeObject
    } catch (error) {
      if (!(error instanceof TypedDecodeError)) throw error
      throw new DecodeError(error.message)
    }
  }
}
