import type { Json, JsonObject, ResourceType } from '@crosstie/kube'

/**
 * The schema of one field of a kind. The TypeScript type of the parameters, the CRD, its validation rules, the reference page
 * and the behavior of the reconciler for the field are derived from it.
 */
export interface Schema<T = unknown, Optional extends boolean = boolean, Identifier extends boolean = boolean> {
  readonly node: Node
  /** Only for the compiler: what the field holds, whether it may be absent, whether it says where the resource is. */
  readonly is?: { readonly value: T; readonly optional: Optional; readonly identifier: Identifier }
}

export type NodeType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'map' | 'list' | 'json'

/** One field, as data. */
export interface Node {
  readonly type: NodeType
  readonly doc: string
  readonly optional: boolean
  /** Says where the external resource is, such as a region: always required, never late-initialized, immutable. */
  readonly identifier: boolean
  readonly immutable: boolean
  /** False: stays open where the spec leaves it open, whatever the provider reports. */
  readonly lateInitialize?: false
  /** The provider is told it and never tells it: it cannot drift. */
  readonly unreported?: boolean
  /** The provider omits false, 0 and empty values, so an absent value equals them. */
  readonly omittedWhenZero?: boolean
  /** Optional in the schema, but required to create, unless one of these fields beside it is set. */
  readonly requiredUnless?: readonly string[]
  /** The value lives in a Secret; the spec has `<field>SecretRef`. */
  readonly sensitive?: Sensitive
  readonly reference?: Reference
  readonly limits: Limits
  readonly fields?: Readonly<Record<string, Node>>
  readonly items?: Node
  /** A list whose items are known by these fields rather than by their place. */
  readonly keys?: readonly string[]
  /** A list in which order and repetition mean nothing. */
  readonly set?: boolean
  /** A map of which others may own keys: those that the spec does not name are left alone. */
  readonly shared?: boolean
  /** Anything at all, as long as it is an object. */
  readonly document?: boolean
  /** Do two values mean the same to the provider? Absent: when they are equal. */
  readonly same?: (desired: Json, observed: Json) => boolean
}

export interface Sensitive {
  /** Makes the value up when it is required and no Secret is named. */
  readonly generate: boolean
  readonly length: number
  /** The provider needs no value beside these others of the same object, so none is made up. */
  readonly unless?: (beside: Readonly<Record<string, unknown>>) => boolean
}

export interface Reference {
  /** A function, so that kinds may refer to each other in any order. */
  readonly to: () => ResourceType
  /** Where in the referenced object the value is. Absent: its external name. */
  readonly value?: string
  readonly refField?: string
  readonly selectorField?: string
}

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

export interface FieldOptions<T = Json> {
  /** What the field means, for the CRD, `kubectl explain` and the page. */
  readonly doc?: string
  /** Cannot change once set; neither can the reference that gave it. */
  readonly immutable?: boolean
  /** False: what the provider reports is not filled in where the spec leaves it open. */
  readonly lateInitialize?: false
  /** How a call is to be made, such as whether a delete keeps a snapshot: told to the provider, never told by it. */
  readonly unreported?: boolean
  /** For APIs that omit false, 0 and empty values from their responses: a spec that asks for one is in sync without it. */
  readonly omittedWhenZero?: boolean
  readonly same?: (desired: T, observed: T) => boolean
  /**
   * For an optional field that the provider needs to create the resource, unless one of these fields beside it is
   * given: `cidrBlock` unless `ipv4IpamPoolId`. Objects that only observe need neither.
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

/** The object that fields describe. */
export type ObjectOf<F extends Fields> = Flat<
  { [K in keyof F as IsOptional<F[K]> extends true ? never : K]: Infer<F[K]> } & {
    [K in keyof F as IsOptional<F[K]> extends true ? K : never]?: Infer<F[K]>
  }
>

/** What is known of an object that is only observed: its identifiers for sure, the rest perhaps. */
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
  /** Anything at all, kept as it is. */
  json: (options: FieldOptions = {}): Schema<Json, false, false> => make('json', options as FieldOptions<never>, {}),

  /** An object of any shape, kept as it is. */
  document: (options: FieldOptions = {}): Schema<JsonObject, false, false> =>
    make('json', options as FieldOptions<never>, { document: true }),

  object<F extends Fields>(fields: F, options: FieldOptions = {}): ObjectSchema<F> {
    const nodes = Object.fromEntries(Object.entries(fields).map(([name, { node }]) => [name, node]))
    return { ...make<ObjectOf<F>>('object', options as FieldOptions<never>, { fields: nodes }), fields }
  },
  /** `shared`: others may own keys too (tags, labels); those that the spec does not name are left alone. */
  map<T>(
    items: Schema<T>,
    options: FieldOptions & { readonly shared?: boolean } = {},
  ): Schema<Readonly<Record<string, T>>, false, false> {
    const { shared = false, ...rest } = options
    return make('map', rest as FieldOptions<never>, { items: items.node, shared })
  },
  /** `keys`: items are known by these fields. `set`: order and repetition mean nothing. Neither: it counts as a whole. */
  list<T>(
    items: Schema<T>,
    options: FieldOptions & ListLimits & { readonly keys?: readonly string[]; readonly set?: boolean } = {},
  ): Schema<readonly T[], false, false> {
    const { keys, set, ...rest } = options
    const known = { items: items.node, ...(keys ? { keys } : {}), ...(set ? { set } : {}) }
    return make('list', rest as FieldOptions<never>, known)
  },

  /** The provider can do without it. */
  optional: <T, I extends boolean>(schema: Schema<T, boolean, I>): Schema<T, true, I> => ({
    node: { ...schema.node, optional: true },
  }),
  /** Says where the external resource is (a region, a project): needed even to observe it. */
  identifier: <T>(schema: Schema<T, false>): Schema<T, false, true> => ({
    node: { ...schema.node, identifier: true, immutable: true },
  }),
  /**
   * A value that must not be read off the object, such as a password. In the
   * spec it is `<field>SecretRef`; the provider's functions get the value.
   * Required and not given: it is made up, and published as a connection detail,
   * `unless` what else is given does without.
   */
  sensitive(options: { readonly doc?: string } & Partial<Sensitive> = {}): Schema<string, false, false> {
    const { generate = true, length = 27, unless, ...rest } = options
    return make('string', rest, { sensitive: { generate, length, ...(unless ? { unless } : {}) } })
  },
  /** May be filled from another object: adds `<field>Ref` and `<field>Selector`. */
  reference<T extends string | readonly string[], O extends boolean, I extends boolean>(
    schema: Schema<T, O, I>,
    reference: Reference,
  ): Schema<T, O, I> {
    return { node: { ...schema.node, reference } }
  },
}

/** `vpcId` has `vpcIdRef` and `vpcIdSelector`; the list `subnetIds` has `subnetIdRefs` and `subnetIdSelector`. */
export function referenceFields(name: string, node: Node): { readonly ref: string; readonly selector: string } {
  const base = node.type === 'list' ? name.replace(/s$/, '') : name
  return {
    ref: node.reference?.refField ?? (node.type === 'list' ? `${base}Refs` : `${base}Ref`),
    selector: node.reference?.selectorField ?? `${base}Selector`,
  }
}

export const secretRefField = (name: string): string => `${name}SecretRef`

export interface FoundNode {
  readonly path: readonly string[]
  readonly node: Node
}

/** Every field below an object, outside of lists and maps, parents first. */
export function* fieldsBelow(node: Node, path: readonly string[] = []): Generator<FoundNode> {
  for (const [name, field] of Object.entries(node.fields ?? {})) {
    const found = { path: [...path, name], node: field }
    yield found
    if (field.type === 'object') yield* fieldsBelow(field, found.path)
  }
}
