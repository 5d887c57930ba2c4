import type { Json, JsonObject, ResourceType } from '@crosstie/kube'

/**
 * The schema of one field of a kind. The TypeScript type of the parameters, the CRD, its validation rules, the
 * reference page and the behavior of the reconciler for the field are derived from it.
 */
export interface Schema<T = unknown, Optional extends boolean = boolean, Identifier extends boolean = boolean> {
  readonly node: Node
  /** Exists only at compile time: the type of the value, whether it is optional, and whether it is an identifier. */
  readonly is?: { readonly value: T; readonly optional: Optional; readonly identifier: Identifier }
}

/** The type of a field. */
export type NodeType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'map' | 'list' | 'json'

/** One field of a schema, as data. */
export interface Node {
  readonly type: NodeType
  readonly doc: string
  readonly optional: boolean
  /**
   * Part of the location of the external resource, such as a region. Always required, immutable and never
   * late-initialized.
   */
  readonly identifier: boolean
  readonly immutable: boolean
  /** False: late initialization does not set the field. */
  readonly lateInitialize?: false
  /** The provider receives the value but never reports it, so it cannot drift. */
  readonly unreported?: boolean
  /** The provider omits false, 0 and empty values, so an absent value equals them. */
  readonly omittedWhenZero?: boolean
  /** Optional in the schema, but required for a create unless one of these sibling fields is set. */
  readonly requiredUnless?: readonly string[]
  /** The value is stored in a Secret, and the spec has the field `<field>SecretRef`. */
  readonly sensitive?: Sensitive
  readonly reference?: Reference
  readonly limits: Limits
  readonly fields?: Readonly<Record<string, Node>>
  readonly items?: Node
  /** The fields that identify the items of a list. Without them, items are identified by index. */
  readonly keys?: readonly string[]
  /** The list is a set: order and duplicates are ignored. */
  readonly set?: boolean
  /** Other owners may set keys of the map. Keys that the spec does not set are left unchanged. */
  readonly shared?: boolean
  /** The value is an object with arbitrary content. */
  readonly document?: boolean
  /** Returns whether two values are equivalent for the provider. Defaults to equality. */
  readonly same?: (desired: Json, observed: Json) => boolean
}

/** How a sensitive value is generated. */
export interface Sensitive {
  /** Generates the value if it is required and the spec does not name a Secret. */
  readonly generate: boolean
  readonly length: number
  /**
   * Returns true if the provider does not need the value, given the other values of the object. Then none is
   * generated.
   */
  readonly unless?: (beside: Readonly<Record<string, unknown>>) => boolean
}

/** The target of a reference field. */
export interface Reference {
  /** A function, so that kinds can refer to each other regardless of their order. */
  readonly to: () => ResourceType
  /** The path of the value in the referenced object. Defaults to its external name. */
  readonly value?: string
  readonly refField?: string
  readonly selectorField?: string
}

/** The validation limits of a field. */
export interface Limits {
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: Json
}

/** The options of a field. */
export interface FieldOptions<T = Json> {
  /** The description in the CRD, in `kubectl explain` and on the reference page. */
  readonly doc?: string
  /** The value cannot change once set. Neither can the reference that provided it. */
  readonly immutable?: boolean
  /** False: late initialization does not set the field from the observed value. */
  readonly lateInitialize?: false
  /**
   * An option of a request, such as whether a delete keeps a snapshot. The provider receives it but never reports
   * it.
   */
  readonly unreported?: boolean
  /**
   * For APIs that omit false, 0 and empty values from responses. A spec with such a value is in sync if the value
   * is absent.
   */
  readonly omittedWhenZero?: boolean
  readonly same?: (desired: T, observed: T) => boolean
  /**
   * For an optional field that a create requires unless one of these sibling fields is set: `cidrBlock` unless
   * `ipv4IpamPoolId`. Objects that only observe need neither.
   */
  readonly requiredUnless?: readonly string[]
}

type StringLimits = Pick<Limits, 'pattern' | 'format' | 'minLength' | 'maxLength'>
type NumberLimits = Pick<Limits, 'minimum' | 'maximum'>
type ListLimits = Pick<Limits, 'minItems' | 'maxItems'>

/** Named fields of an object. */
export type Fields = Readonly<Record<string, Schema>>

/**
 * The TypeScript type of the values that a schema describes.
 *
 * @example
 * ```ts
 * import { type Infer, s } from '@crosstie/resources/provider'
 *
 * const parameters = s.object({ region: s.string({ doc: 'The region.' }) })
 * const value: Infer<typeof parameters> = { region: 'eu-1' }
 * console.log(value.region)
 * ```
 */
export type Infer<S> = S extends { readonly is?: { readonly value: infer T } } ? T : never

type IsOptional<S> = S extends { readonly is?: { readonly optional: true } } ? true : false
type IsIdentifier<S> = S extends { readonly is?: { readonly identifier: true } } ? true : false
type Flat<T> = { [K in keyof T]: T[K] }

/** The type of an object with these fields. */
export type ObjectOf<F extends Fields> = Flat<
  { [K in keyof F as IsOptional<F[K]> extends true ? never : K]: Infer<F[K]> } & {
    [K in keyof F as IsOptional<F[K]> extends true ? K : never]?: Infer<F[K]>
  }
>

/** The type of an object that is only observed. Its identifiers are required, and all other fields are optional. */
export type KnownOf<F extends Fields> = Flat<
  { [K in keyof F as IsIdentifier<F[K]> extends true ? K : never]: Infer<F[K]> } & {
    [K in keyof F as IsIdentifier<F[K]> extends true ? never : K]?: Infer<F[K]>
  }
>

/** The schema of an object with named fields. */
export interface ObjectSchema<F extends Fields> extends Schema<ObjectOf<F>, false, false> {
  readonly fields: F
}

function make<T>(type: NodeType, options: FieldOptions<never>, rest: Partial<Node>): Schema<T, false, false> {
  const {
    doc = '',
    immutable = false,
    unreported = false,
    lateInitialize,
    omittedWhenZero = false,
    same,
    requiredUnless,
    ...limits
  } = options as FieldOptions & Limits
  return {
    node: {
      type,
      doc,
      optional: false,
      identifier: false,
      immutable,
      limits,
      ...(unreported ? { unreported } : {}),
      ...(lateInitialize === false ? { lateInitialize } : {}),
      ...(omittedWhenZero ? { omittedWhenZero } : {}),
      ...(requiredUnless ? { requiredUnless } : {}),
      ...(same ? { same: same as NonNullable<Node['same']> } : {}),
      ...rest,
    },
  }
}

/**
 * Builds schemas of fields.
 *
 * @example
 * ```ts
 * import { s } from '@crosstie/resources/provider'
 *
 * export const parameters = s.object({
 *   region: s.identifier(s.string({ doc: 'The region of the bucket.' })),
 *   size: s.optional(s.integer({ doc: 'The size in GiB.' })),
 *   tags: s.optional(s.map(s.string(), { shared: true, doc: 'Tags of the bucket.' })),
 * })
 * ```
 */
export const s = {
  string<const E extends string = string>(
    options: FieldOptions<string> & StringLimits & { readonly enum?: readonly E[] } = {},
  ): Schema<E, false, false> {
    return make('string', options as FieldOptions<never>, {})
  },
  integer: (options: FieldOptions<number> & NumberLimits = {}): Schema<number, false, false> =>
    make('integer', options as FieldOptions<never>, {}),
  number: (options: FieldOptions<number> & NumberLimits = {}): Schema<number, false, false> =>
    make('number', options as FieldOptions<never>, {}),
  boolean: (options: FieldOptions<boolean> = {}): Schema<boolean, false, false> =>
    make('boolean', options as FieldOptions<never>, {}),
  /** Any JSON value, stored unchanged. */
  json: (options: FieldOptions = {}): Schema<Json, false, false> => make('json', options as FieldOptions<never>, {}),

  /** An object with arbitrary content, stored unchanged. */
  document: (options: FieldOptions = {}): Schema<JsonObject, false, false> =>
    make('json', options as FieldOptions<never>, { document: true }),

  object<F extends Fields>(fields: F, options: FieldOptions = {}): ObjectSchema<F> {
    const nodes = Object.fromEntries(Object.entries(fields).map(([name, { node }]) => [name, node]))
    return { ...make<ObjectOf<F>>('object', options as FieldOptions<never>, { fields: nodes }), fields }
  },
  /**
   * A map. With `shared`, other owners may set keys too, as in tags or labels. Keys that the spec does not set are
   * left unchanged.
   */
  map<T>(
    items: Schema<T>,
    options: FieldOptions & { readonly shared?: boolean } = {},
  ): Schema<Readonly<Record<string, T>>, false, false> {
    const { shared = false, ...rest } = options
    return make('map', rest as FieldOptions<never>, { items: items.node, shared })
  },
  /**
   * A list. `keys` are the fields that identify an item. A `set` ignores order and duplicates. Without either, it
   * is atomic.
   */
  list<T>(
    items: Schema<T>,
    options: FieldOptions & ListLimits & { readonly keys?: readonly string[]; readonly set?: boolean } = {},
  ): Schema<readonly T[], false, false> {
    const { keys, set, ...rest } = options
    const known = { items: items.node, ...(keys ? { keys } : {}), ...(set ? { set } : {}) }
    return make('list', rest as FieldOptions<never>, known)
  },

  /** Marks a field that the provider does not require. */
  optional: <T, I extends boolean>(schema: Schema<T, boolean, I>): Schema<T, true, I> => ({
    node: { ...schema.node, optional: true },
  }),
  /**
   * Marks a field that states the location of the external resource (a region, a project). It is required even to
   * observe.
   */
  identifier: <T>(schema: Schema<T, false>): Schema<T, false, true> => ({
    node: { ...schema.node, identifier: true, immutable: true },
  }),
  /**
   * A value that must not be readable in the object, such as a password. The spec has the field `<field>SecretRef`,
   * and the functions of the provider receive the value. A required value that is not set is generated and
   * published as a connection detail, except if `unless` returns true.
   */
  sensitive(options: { readonly doc?: string } & Partial<Sensitive> = {}): Schema<string, false, false> {
    const { generate = true, length = 27, unless, ...rest } = options
    return make('string', rest, { sensitive: { generate, length, ...(unless ? { unless } : {}) } })
  },
  /** A field that can be set from another object. Adds the fields `<field>Ref` and `<field>Selector`. */
  reference<T extends string | readonly string[], O extends boolean, I extends boolean>(
    schema: Schema<T, O, I>,
    reference: Reference,
  ): Schema<T, O, I> {
    return { node: { ...schema.node, reference } }
  },
}

/**
 * Returns the names of the reference fields. `vpcId` has `vpcIdRef` and `vpcIdSelector`. The list `subnetIds` has
 * `subnetIdRefs` and `subnetIdSelector`.
 */
export function referenceFields(name: string, node: Node): { readonly ref: string; readonly selector: string } {
  const base = node.type === 'list' ? name.replace(/s$/, '') : name
  return {
    ref: node.reference?.refField ?? (node.type === 'list' ? `${base}Refs` : `${base}Ref`),
    selector: node.reference?.selectorField ?? `${base}Selector`,
  }
}

/** Returns the name of the field that refers to the Secret of a sensitive field. */
export const secretRefField = (name: string): string => `${name}SecretRef`

/** A field and its path. */
export interface FoundNode {
  readonly path: readonly string[]
  readonly node: Node
}

/** Yields every field below an object, outside of lists and maps. Parents precede their children. */
export function* fieldsBelow(node: Node, path: readonly string[] = []): Generator<FoundNode> {
  for (const [name, field] of Object.entries(node.fields ?? {})) {
    const found = { path: [...path, name], node: field }
    yield found
    if (field.type === 'object') yield* fieldsBelow(field, found.path)
  }
}
