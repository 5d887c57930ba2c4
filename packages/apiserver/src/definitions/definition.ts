import type { FieldError, KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import type { UserInfo } from '../access/user.js'
import type { Conventions } from './conventions.js'

/**
 * One kind that the server serves, built in or from a CRD. Both have the same
 * shape and share the path of a request.
 */
export interface Definition {
  readonly group: string
  readonly names: Names
  readonly namespaced: boolean
  /** In order of priority. Only served ones. */
  readonly versions: readonly Version[]
  /** The version that objects are kept in. */
  readonly storage: string
  /** That version itself, when it is not served. */
  readonly storageVersion?: Version
  /** Which of the verbs exist; most kinds have all, reviews only `create`. */
  readonly verbs: readonly Verb[]
  readonly strategy: Strategy
  /** Changes the version of objects. Absent: only apiVersion differs between versions. */
  readonly convert?: (
    objects: readonly KubeObject[],
    version: string,
    signal?: AbortSignal,
  ) => Promise<readonly KubeObject[]>
  /**
   * Set when objects lie in the store with those of another group's kind of the
   * same plural, in that one's form: events.k8s.io shows what core keeps. Errors
   * about such an object (422) name that group, too.
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

export type Verb = 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection'

export interface Names {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

export interface Version {
  readonly name: string
  /** Schema of the whole object in this version, as published. Absent: anything goes (never for built-in kinds). */
  readonly schema?: JSONSchemaProps
  readonly subresources: Subresources
  readonly columns: readonly Column[]
  /** `.spec.color` style paths that field selectors may use, beside metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[]
  /** Built-in kinds: field selectors that are no plain path, such as an event's `source`. */
  readonly fieldLabels?: Readonly<Record<string, (object: KubeObject) => string>>
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
}

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

/** A column of `kubectl get`. Built-in kinds compute cells; CRDs give a JSONPath. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath?: string
  readonly cell?: (object: KubeObject, now: number) => unknown
}

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
   * Built-in kinds: from JSON to the kind's own shape, as Go's decoder would.
   * Unknown fields are dropped and their paths pushed to `unknown`; a value of
   * the wrong JSON type throws 400. CRDs leave this out: their schema prunes.
   */
  decode?(object: KubeObject, version: string, unknown: string[] | undefined): KubeObject
  /** Built-in kinds: what Go's zero value of the type shows as, which nobody owns. */
  readonly empty?: Readonly<Record<string, unknown>>
  /** Fields that a write to this endpoint cannot change, by subresource ('' for the object itself). */
  readonly resets?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** Defaults beyond the schema's, and fields that only the server may set. `old` is undefined on create. */
  prepare?(object: Record<string, unknown>, old: KubeObject | undefined, context: WriteContext): void
  validate?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): readonly FieldError[]
  /** `generation` grows when anything but metadata and status changes. Kinds without generation say 'never'. */
  readonly generation: 'onChange' | 'never'
  /** May an update leave out metadata.resourceVersion? */
  readonly unconditionalUpdate: boolean
  /** Does PUT on a missing name create it? */
  readonly createOnUpdate: boolean
  /** The name's own rule. */
  readonly nameRule: 'dnsSubdomain' | 'dnsLabel' | 'pathSegment'
  /** Checked after admission, right before the store, inside the write's loop: who may do this, such as RBAC escalation. */
  authorizeWrite?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void | Promise<void>
  /** What the first delete of an object that stays for now does to it, such as marking it Terminating. */
  beginDelete?(object: Record<string, unknown>, context: WriteContext): void
  /** Does something beside metadata.finalizers keep an object under deletion, such as a namespace's spec.finalizers? */
  holds?(object: KubeObject): boolean
  /** Only for kinds that are questions: answers instead of storing. */
  answer?(object: KubeObject, context: WriteContext): Promise<KubeObject> | KubeObject
}
