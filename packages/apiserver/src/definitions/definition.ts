import type { FieldError, KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import type { UserInfo } from '../access/user.js'
import type { Conventions } from './conventions.js'

/** A kind that the server serves, built in or from a CRD. Both have the same shape and share the path of a request. */
export interface Definition {
  readonly group: string
  readonly names: Names
  readonly namespaced: boolean
  /** The served versions, in order of priority. */
  readonly versions: readonly Version[]
  /** The version in which objects are stored. */
  readonly storage: string
  /** The storage version when it is not served. */
  readonly storageVersion?: Version
  /** The verbs that exist. Most kinds have all, reviews only `create`. */
  readonly verbs: readonly Verb[]
  readonly strategy: Strategy
  /** Changes the version of objects. Absent: only apiVersion differs between versions. */
  readonly convert?: (
    objects: readonly KubeObject[],
    version: string,
    signal?: AbortSignal,
  ) => Promise<readonly KubeObject[]>
  /**
   * Set when objects are stored with those of another group, under the same plural and in the form of that group:
   * events.k8s.io shows events of the core group. Validation errors (422) of such objects name that group, too.
   */
  readonly sharedWith?: {
    readonly group: string
    fromShared(object: KubeObject): KubeObject
    toShared(object: KubeObject): KubeObject
  }
  /** Changes when the definition changes, so that watches end. Built-in kinds have none, since they never change. */
  readonly identity?: string
  /** The uid of the CRD that defines the kind. */
  readonly crdUid?: string
  /** The reason why no objects can be created now. Set while the CRD is under deletion. */
  readonly createRefusal?: string
}

/** A verb of the API. */
export type Verb = 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The names of a kind. */
export interface Names {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

/** One version of a kind. */
export interface Version {
  readonly name: string
  /**
   * The published schema of the whole object in this version. Absent: any object is valid. Built-in kinds always
   * have one.
   */
  readonly schema?: JSONSchemaProps
  readonly subresources: Subresources
  readonly columns: readonly Column[]
  /** Paths such as `.spec.color` that field selectors may use besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[]
  /** Field selectors of built-in kinds that are not plain paths, such as `source` of an event. */
  readonly fieldLabels?: Readonly<Record<string, (object: KubeObject) => string>>
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
}

/** The subresources of one version of a kind. */
export interface Subresources {
  readonly status?: boolean
  /** Only namespaces have it: changes `spec.finalizers`. */
  readonly finalize?: boolean
  /** Only service accounts have it: issues a token. */
  readonly token?: boolean
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
}

/** A column of `kubectl get`. Built-in kinds compute cells. CRDs have a JSONPath. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath?: string
  readonly cell?: (object: KubeObject, now: number) => unknown
}

/** The request of a write, as strategies see it. */
export interface WriteContext {
  readonly type: ResourceType
  readonly subresource: string
  readonly user: UserInfo
  readonly now: number
  readonly warnings: string[]
}

/**
 * The rules of one kind on the write path, and the conventions of its family. The stages of the write path do everything
 * general: names, metadata, pruning, defaults, schema, CEL, managedFields and finalizers. Functions may change the object
 * that they get: it is a copy.
 */
export interface Strategy extends Conventions {
  /** The OpenAPI model of a built-in kind. Absent for custom resources, whose model is derived from the group. */
  readonly model?: string
  /**
   * Decodes JSON into the shape of a built-in kind, as Go's decoder does. Unknown fields are dropped and their
   * paths added to `unknown`. Throws a DecodeError for a value of the wrong JSON type. Absent for custom resources,
   * which the schema prunes.
   */
  decode?(object: KubeObject, version: string, unknown: string[] | undefined): KubeObject
  /** The JSON of Go's zero value of the type. These fields have no owner. */
  readonly empty?: Readonly<Record<string, unknown>>
  /** Fields that a write to this endpoint cannot change, by subresource ('' for the object itself). */
  readonly resets?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** Sets defaults beyond the schema and fields that only the server may set. `old` is undefined on create. */
  prepare?(object: Record<string, unknown>, old: KubeObject | undefined, context: WriteContext): void
  validate?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): readonly FieldError[]
  /** Whether `generation` grows when anything but metadata and status changes. */
  readonly generation: 'onChange' | 'never'
  /** Whether an update may leave out metadata.resourceVersion. */
  readonly unconditionalUpdate: boolean
  /** Whether PUT creates a missing object. */
  readonly createOnUpdate: boolean
  /** The rule for names of objects. */
  readonly nameRule: 'dnsSubdomain' | 'dnsLabel' | 'pathSegment'
  /**
   * Throws when the user may not make this change, such as a grant of permissions that the user does not have.
   * Called after admission, right before the commit, in every attempt.
   */
  authorizeWrite?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void | Promise<void>
  /** Changes an object on its first deletion when it has finalizers, for example to the phase Terminating. */
  beginDelete?(object: Record<string, unknown>, context: WriteContext): void
  /**
   * Whether something besides metadata.finalizers keeps an object under deletion, such as spec.finalizers of a
   * namespace.
   */
  holds?(object: KubeObject): boolean
  /** Answers a review instead of storing it. */
  answer?(object: KubeObject, context: WriteContext): Promise<KubeObject> | KubeObject
}
