import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import type { TrackChanges } from './change-count.js'
import { convertObject, type VersionConversion } from './conversion/convert.js'
import type { ConversionEndpoint } from './conversion/endpoint.js'
import { classCrd, classTypeOf, type KindShape, managedCrd, pluralOf } from './crd.js'
import type {
  CreateCall,
  Created,
  DeepPartial,
  ExternalCall,
  Follow,
  Listed,
  ObserveCall,
  Observed,
  UpdateCall,
  Updated,
} from './external.js'
import { kindPage } from './page.js'
import { checkPatterns } from './patterns.js'
import type { policyNames } from './policies.js'
import type { ProviderConfigKind, ProviderConfiguration } from './provider-config.js'
import { type QueryKind, queryKindOf } from './query.js'
import type { Fields, KnownOf, Node, ObjectOf, ObjectSchema } from './schema.js'

/** The definition of one kind of external resource. */
export interface ManagedDefinition<F extends Fields, O extends Fields, C> {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural name in URLs. Defaults to the English plural of the kind. */
  readonly plural?: string
  readonly doc?: string
  /** Older versions that are served too. They have the same fields. */
  readonly alsoServed?: readonly string[]
  /** Versions with different fields that are served too, with their conversions (MR2). */
  readonly versions?: readonly KindVersion[]
  readonly categories?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly parameters: ObjectSchema<F>
  readonly observation: ObjectSchema<O>
  /** Whether the user chooses the external name or the provider assigns it. */
  readonly naming: 'user-chosen' | 'provider-assigned'
  /** A repeated create succeeds without effect, and a read after a create returns the resource. */
  readonly idempotentCreate?: boolean
  /** `create` is idempotent by token: calls with the same token create at most one resource. */
  readonly token?: boolean
  /** The provider supports tags, and `create` sets the tags of the call. */
  readonly tags?: {
    readonly field: NoInfer<keyof F & string>
    /** The characters that keys may contain: any, any except `.` and `/`, or only letters and digits. */
    readonly keys?: 'any' | 'dashes' | 'alphanumeric'
    /** `create` sets the tags in a second request, so an interrupted create can leave a resource without tags. */
    readonly setAfterCreate?: boolean
  }
  /**
   * Returns values that, beside identifier fields, distinguish resources with the same external name: the database
   * of a schema.
   */
  readonly identifiedBy?: (forProvider: KnownOf<F>) => readonly unknown[]
  /**
   * The fields identify the resource, and the provider ignores the external name, as for a grant. The external name
   * of a claim is not passed on to the resource.
   */
  readonly nameless?: boolean
  /**
   * Several objects may manage parts of one external resource. The provider keeps the parts separate, as in
   * server-side apply.
   */
  readonly shared?: boolean
  /**
   * Returns the reason why a claim must not use an external name that the provider or the control plane needs.
   * Returns undefined for all other names. Called before any other function of the kind, with the connected client.
   */
  readonly forbiddenName?: (call: { readonly client: C; readonly externalName: string }) => string | undefined
  /** The schema is derived from an external API, so the API patterns are not enforced. */
  readonly derived?: boolean
  /** Kinds with their own definitions, which must not be embedded in this one (MR12). */
  readonly ownKinds?: readonly string[]
  /** How long after a create a read may fail to return the resource. Defaults to 30. */
  readonly consistencySeconds?: number
  /** Returns the reason why the provider does not support a combination of management policies. */
  readonly refusePolicies?: (policies: readonly string[]) => string | undefined
  readonly providerConfig?: ProviderConfigKind
  /** Calls do not count against the rate limit of the credentials, because the API or the kind limits them itself. */
  readonly unmetered?: boolean
  /**
   * The permissions that the credentials need, as the provider names them. The reference page of the kind lists
   * them.
   */
  readonly permissions?: Permissions

  connect(context: ConnectContext): Promise<C> | C
  /**
   * Returns the state of the external resource. Without an external name the result is `absent`, unless the call
   * has tags to find the resource by.
   */
  observe(call: ObserveCall<KnownOf<F>, C>): Promise<Observed<AtProviderOf<F, O>>>
  create(call: CreateCall<ObjectOf<F>, C>): Promise<Created<AtProviderOf<F, O>>>
  update(call: UpdateCall<ObjectOf<F>, C>): Promise<Updated | void>
  delete(call: ExternalCall<KnownOf<F>, C>): Promise<void>
  /**
   * Returns all resources of the kind that the client can access. One call serves many objects. If the call has
   * tags, the result may be limited to resources with these tags. Each resource has an externalName.
   */
  list?(call: ListCall<KnownOf<F>, C>): Promise<readonly Listed<AtProviderOf<F, O>, KnownOf<F>>[]>
}

/** The permissions that each management policy requires. */
export type Permissions = Readonly<Partial<Record<Exclude<(typeof policyNames)[number], '*'>, readonly string[]>>>

/** A version of a kind with different fields. */
export interface KindVersion extends VersionConversion {
  readonly parameters: ObjectSchema<Fields>
  /** Defaults to the observation of the definition. */
  readonly observation?: ObjectSchema<Fields>
}

/** The type of `status.atProvider`. It includes all fields of forProvider (MR4), and all fields are optional. */
export type AtProviderOf<F extends Fields, O extends Fields> = DeepPartial<ObjectOf<F>> & DeepPartial<ObjectOf<O>>

/** The input of `connect`. */
export interface ConnectContext {
  readonly managed: KubeObject
  /** Absent if the kind does not use a ProviderConfig. */
  readonly config: ProviderConfiguration | undefined
  /** The Kubernetes API that stores the object. */
  readonly api: Client
  /** Subscribes to change notifications. Each notification triggers a reconciliation before the next poll. */
  readonly follow: Follow
  /**
   * Opts in to counting requests. The provider must call the returned function before each request that changes an
   * external resource. An update without such a request is then reported as uncorrected drift. If the provider does
   * not opt in, the reconciler assumes that every update sent a request.
   */
  readonly trackChanges: TrackChanges
  readonly signal: AbortSignal
}

/** The input of `list`. */
export interface ListCall<P, C> {
  readonly client: C
  /** The parameters of one of the objects that the list is for. All of these objects have the same identifiers. */
  readonly forProvider: P
  readonly tags?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** A kind that can be served and reconciled: a definition without its type parameters. */
export interface ManagedKind {
  readonly type: ResourceType
  readonly classType: ResourceType
  readonly parameters: Node
  readonly observation: Node
  readonly naming: 'user-chosen' | 'provider-assigned'
  /**
   * The external name was chosen before the create, so it finds the resource even if the response to the create was
   * lost.
   */
  readonly naturalKey: boolean
  readonly idempotentCreate: boolean
  readonly token: boolean
  readonly tags:
    | { readonly field: string; readonly keys: 'any' | 'dashes' | 'alphanumeric'; readonly setAfterCreate: boolean }
    | undefined
  /** Returns values that, beside identifier fields, distinguish resources with the same external name. */
  readonly identifiedBy?: ((forProvider: object) => readonly unknown[]) | undefined
  /** The fields identify the resource, and the provider ignores the external name. */
  readonly nameless?: boolean
  /** Several objects may manage parts of one external resource, so it has no exclusive owner. */
  readonly shared?: boolean
  /** Returns the reason why a claim must not use an external name. */
  readonly forbiddenName?:
    | ((call: { readonly client: unknown; readonly externalName: string }) => string | undefined)
    | undefined
  readonly consistencySeconds: number
  /** False for kinds of other projects that do not have a deletionPolicy. */
  readonly hasDeletionPolicy: boolean
  readonly refusePolicies: ((policies: readonly string[]) => string | undefined) | undefined
  readonly providerConfig: ProviderConfigKind | undefined
  readonly unmetered: boolean
  readonly permissions?: Permissions
  // biome-ignore lint/suspicious/noExplicitAny: the typed functions of a definition, seen by code that serves all kinds.
  readonly external: External<any>
  /** Returns the CRD. Versions with different fields are included only if a conversion endpoint is given. */
  crd(conversion?: ConversionEndpoint): KubeObject
  /** Converts an object to another version. Absent if all versions have the same fields. */
  readonly convert?: (object: KubeObject, version: string) => KubeObject
  classCrd(): KubeObject
  /** The kind of queries that find external resources of this kind by filter (OBS4). Absent if the API cannot list. */
  readonly query?: QueryKind
  /** Returns the reference page of the kind, in Markdown. */
  page(): string
}

/** The functions of a definition, as the reconciler calls them. */
export interface External<C> {
  connect(context: ConnectContext): Promise<C> | C
  observe(call: ObserveCall<object, C>): Promise<Observed>
  create(call: CreateCall<object, C>): Promise<Created>
  update(call: UpdateCall<object, C>): Promise<Updated | void>
  delete(call: ExternalCall<object, C>): Promise<void>
  list?(call: ListCall<object, C>): Promise<readonly Listed[]>
}

/**
 * Defines a kind of managed resource. The CRD, validation rules, reference page and reconciler are derived from the
 * definition. The types of all calls are derived from `parameters` and `observation`.
 *
 * @throws DefinitionError if the definition breaks a rule of managed resource APIs
 *
 * @example
 * ```ts
 * import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
 *
 * const buckets = new Map<string, { region: string; versioned: boolean }>()
 *
 * export const bucketKind = defineManaged({
 *   group: 'storage.example.org',
 *   version: 'v1alpha1',
 *   kind: 'Bucket',
 *   doc: 'A place for files.',
 *   parameters: s.object({
 *     region: s.identifier(s.string({ doc: 'The region of the bucket.' })),
 *     versioned: s.optional(s.boolean({ doc: 'Whether old versions of files are kept.' })),
 *   }),
 *   observation: s.object({}),
 *   naming: 'user-chosen',
 *   connect: () => buckets,
 *   async observe({ client, externalName }) {
 *     const found = client.get(externalName)
 *     return found ? present({ atProvider: found, ready: true }) : absent
 *   },
 *   async create({ client, externalName, forProvider: { region, versioned = false } }) {
 *     client.set(externalName, { region, versioned })
 *     return {}
 *   },
 *   async update({ client, externalName, forProvider: { region, versioned = false } }) {
 *     client.set(externalName, { region, versioned })
 *   },
 *   async delete({ client, externalName }) {
 *     client.delete(externalName)
 *   },
 * })
 * ```
 */
export function defineManaged<F extends Fields, O extends Fields, C>(
  definition: ManagedDefinition<F, O, C>,
): ManagedKind {
  const { group, version, kind, parameters, observation, versions = [] } = definition
  const check = definition.derived ? () => {} : checkPatterns
  check({
    group,
    version,
    kind,
    parameters: parameters.node,
    observation: observation.node,
    tagsField: definition.tags?.field,
    naming: definition.naming,
    idempotentCreate: definition.idempotentCreate ?? false,
    ownKinds: definition.ownKinds ?? [],
  })
  for (const other of versions) {
    check({
      group,
      version: other.version,
      kind,
      parameters: other.parameters.node,
      observation: (other.observation ?? observation).node,
      naming: definition.naming,
      idempotentCreate: definition.idempotentCreate ?? false,
      ownKinds: definition.ownKinds ?? [],
    })
  }
  const type: ResourceType = {
    group,
    version,
    kind,
    resource: definition.plural ?? pluralOf(kind),
    namespaced: false,
  }
  const shape: KindShape = {
    type,
    alsoServed: definition.alsoServed ?? [],
    categories: definition.categories ?? ['crossplane', 'managed'],
    shortNames: definition.shortNames ?? [],
    doc: definition.doc ?? '',
    parameters: parameters.node,
    observation: observation.node,
    versions: versions.map((other) => ({
      version: other.version,
      parameters: other.parameters.node,
      observation: (other.observation ?? observation).node,
    })),
  }
  return {
    type,
    classType: classTypeOf(type),
    parameters: parameters.node,
    observation: observation.node,
    naming: definition.naming,
    naturalKey: definition.naming === 'user-chosen',
    idempotentCreate: definition.idempotentCreate ?? false,
    token: definition.token ?? false,
    tags: definition.tags && {
      field: definition.tags.field,
      keys: definition.tags.keys ?? 'any',
      setAfterCreate: definition.tags.setAfterCreate ?? false,
    },
    identifiedBy: definition.identifiedBy as ManagedKind['identifiedBy'],
    nameless: definition.nameless ?? false,
    shared: definition.shared ?? false,
    forbiddenName: definition.forbiddenName as ManagedKind['forbiddenName'],
    consistencySeconds: definition.consistencySeconds ?? 30,
    hasDeletionPolicy: true,
    refusePolicies: definition.refusePolicies,
    providerConfig: definition.providerConfig,
    unmetered: definition.unmetered ?? false,
    permissions: definition.permissions,
    external: definition as unknown as External<C>,
    crd: (conversion) => managedCrd(shape, conversion),
    ...(versions.length > 0 ? { convert: (object, to) => convertObject(type, versions, object, to) } : {}),
    classCrd: () => classCrd(shape),
    ...(definition.list ? { query: queryKindOf(shape) } : {}),
    page: () =>
      kindPage(shape, definition.naming, {
        lists: definition.list !== undefined,
        permissions: definition.permissions,
      }),
  }
}
