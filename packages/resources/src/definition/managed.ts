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
  /** Of the URL; absent: the English plural of the kind. */
  readonly plural?: string
  readonly doc?: string
  /** Older versions that are served as well. They have the same fields. */
  readonly alsoServed?: readonly string[]
  /** Versions with other fields, which are served as well, and how they become this one (MR2). */
  readonly versions?: readonly KindVersion[]
  readonly categories?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly parameters: ObjectSchema<F>
  readonly observation: ObjectSchema<O>
  /** Do we choose the external name, or does the provider assign it? */
  readonly naming: 'user-chosen' | 'provider-assigned'
  /** Creating what is there already changes nothing and is no error, and a create is seen by the next read. */
  readonly idempotentCreate?: boolean
  /** `create` honours its token: the same token never makes a second resource. */
  readonly token?: boolean
  /** The provider tags resources; `create` sets the tags that it is given. */
  readonly tags?: {
    readonly field: NoInfer<keyof F & string>
    /** What keys may hold: anything, no `.` and `/`, or letters and digits only. */
    readonly keys?: 'any' | 'dashes' | 'alphanumeric'
    /** `create` sets the tags in a second request: a resource without tags may be one whose create was interrupted. */
    readonly setAfterCreate?: boolean
  }
  /** Values that tell two resources of the same external name apart, beside identifier fields: the database of a schema. */
  readonly identifiedBy?: (forProvider: KnownOf<F>) => readonly unknown[]
  /**
   * The fields identify the resource and the external name means nothing to the provider, as for a grant. The external
   * name of a claim is not passed on to it.
   */
  readonly nameless?: boolean
  /** Several objects may manage parts of one external resource, and the provider keeps them apart: server-side apply. */
  readonly shared?: boolean
  /**
   * Says why a claim must not use an external name: the provider or the control plane needs it. Returns undefined for
   * all other names. Called before any other function of the kind, with the connected client.
   */
  readonly forbiddenName?: (call: { readonly client: C; readonly externalName: string }) => string | undefined
  /** The schema is derived from an external API, so the patterns for its shape are not enforced. */
  readonly derived?: boolean
  /** Kinds with a definition of their own, which must not be embedded in this one (MR12). */
  readonly ownKinds?: readonly string[]
  /** How long a read may miss what was just made. */
  readonly consistencySeconds?: number
  /** A combination of policies that the provider cannot keep: say why. */
  readonly refusePolicies?: (policies: readonly string[]) => string | undefined
  readonly providerConfig?: ProviderConfigKind
  /** Its calls are not counted against the budget of the credentials: the API, or the kind, keeps the measure itself. */
  readonly unmetered?: boolean
  /** What the credentials must be allowed, in the provider's own words; printed on the kind's page. */
  readonly permissions?: Permissions

  connect(context: ConnectContext): Promise<C> | C
  /** Without an external name there is nothing to see, unless the call has tags to find it by. */
  observe(call: ObserveCall<KnownOf<F>, C>): Promise<Observed<AtProviderOf<F, O>>>
  create(call: CreateCall<ObjectOf<F>, C>): Promise<Created<AtProviderOf<F, O>>>
  update(call: UpdateCall<ObjectOf<F>, C>): Promise<Updated | void>
  delete(call: ExternalCall<KnownOf<F>, C>): Promise<void>
  /**
   * All resources of the kind that the client can see, for many objects at
   * once; with tags, at least those that carry them. Each has an externalName.
   */
  list?(call: ListCall<KnownOf<F>, C>): Promise<readonly Listed<AtProviderOf<F, O>, KnownOf<F>>[]>
}

/** By management policy, the actions that it needs. */
export type Permissions = Readonly<Partial<Record<Exclude<(typeof policyNames)[number], '*'>, readonly string[]>>>

/** A version of a kind with fields of its own. */
export interface KindVersion extends VersionConversion {
  readonly parameters: ObjectSchema<Fields>
  /** Absent: as in the version of the definition. */
  readonly observation?: ObjectSchema<Fields>
}

/** atProvider covers forProvider by construction (MR4), with nothing required. */
export type AtProviderOf<F extends Fields, O extends Fields> = DeepPartial<ObjectOf<F>> & DeepPartial<ObjectOf<O>>

/** The input of `connect`. */
export interface ConnectContext {
  readonly managed: KubeObject
  /** Absent when the kind uses no ProviderConfig. */
  readonly config: ProviderConfiguration | undefined
  /** The Kubernetes API that the object itself is kept in. */
  readonly api: Client
  /** For providers that can hear of changes: each is a reason to look at the object, without waiting for the next poll. */
  readonly follow: Follow
  /**
   * For providers that can count their requests: the function that this returns must be called before each request that
   * changes an external resource. Then an update that sends none is reported as drift that was not corrected. A provider that
   * does not call this is taken to send something with every update.
   */
  readonly trackChanges: TrackChanges
  readonly signal: AbortSignal
}

export interface ListCall<P, C> {
  readonly client: C
  /** Of one of the objects that the list is for: its identifiers are theirs all. */
  readonly forProvider: P
  readonly tags?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** A kind, ready to be served and reconciled. What the reconciler needs of it, without its types. */
export interface ManagedKind {
  readonly type: ResourceType
  readonly classType: ResourceType
  readonly parameters: Node
  readonly observation: Node
  readonly naming: 'user-chosen' | 'provider-assigned'
  /** The external name finds the resource even when nobody heard the answer to its create: it was chosen before. */
  readonly naturalKey: boolean
  readonly idempotentCreate: boolean
  readonly token: boolean
  readonly tags:
    | { readonly field: string; readonly keys: 'any' | 'dashes' | 'alphanumeric'; readonly setAfterCreate: boolean }
    | undefined
  /** Values that tell two resources of the same external name apart, beside identifier fields. */
  readonly identifiedBy?: ((forProvider: object) => readonly unknown[]) | undefined
  /** The fields identify the resource: the external name means nothing to the provider. */
  readonly nameless?: boolean
  /** Several objects may manage parts of one external resource: no object has it to itself. */
  readonly shared?: boolean
  /** Says why a claim must not use an external name. */
  readonly forbiddenName?:
    | ((call: { readonly client: unknown; readonly externalName: string }) => string | undefined)
    | undefined
  readonly consistencySeconds: number
  /** False for kinds made by others that have no deletionPolicy. */
  readonly hasDeletionPolicy: boolean
  readonly refusePolicies: ((policies: readonly string[]) => string | undefined) | undefined
  readonly providerConfig: ProviderConfigKind | undefined
  readonly unmetered: boolean
  readonly permissions?: Permissions
  // biome-ignore lint/suspicious/noExplicitAny: the typed functions of a definition, seen by code that serves all kinds.
  readonly external: External<any>
  /** Versions with other fields are part of it only with somebody to convert them. */
  crd(conversion?: ConversionEndpoint): KubeObject
  /** The object in another version. Absent: all versions have the same fields. */
  readonly convert?: (object: KubeObject, version: string) => KubeObject
  classCrd(): KubeObject
  /** Finds external resources of the kind by filter (OBS4). Absent when its API cannot list. */
  readonly query?: QueryKind
  /** The reference page of the kind, in Markdown. */
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
 * Defines a kind of managed resource. CRD, validation rules, reference page and reconciler are derived from the definition.
 * The types of all calls are derived from `parameters` and `observation`.
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
