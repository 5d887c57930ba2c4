import type { FieldError, KubeObject, ObjectMeta, ResourceType, StatusError } from '@crosstie/kube'
import type { Verb } from './definition.js'

/** The patch types of the API, by the content type of the request. */
export const PATCH_TYPES = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const

/** The type of a patch. */
export type PatchType = (typeof PATCH_TYPES)[keyof typeof PATCH_TYPES]

/** A request body with the bytes it was read from. The bytes appear in messages only. */
export interface RawBody {
  readonly value: unknown
  readonly raw?: Uint8Array
}

/**
 * How kube-apiserver treats a family of kinds. Two different programs inside it serve built-in kinds and custom resources, and
 * clients can see the difference. All these differences are named here; the rest of the server does not know which of the
 * two a kind is. builtin/conventions.ts and definitions/custom-conventions.ts are the two implementations.
 */
export interface Conventions {
  /** Whether requests and responses may be protobuf. */
  readonly acceptsProtobuf: boolean
  /** Content types of the patches that the kind accepts, in the order of messages and of OpenAPI. */
  readonly patchMediaTypes: readonly (keyof typeof PATCH_TYPES)[]
  /** Whether the HTTP method must fit the URL: POST needs a collection, PUT and PATCH a name, and HEAD is not served. */
  readonly matchesMethodToUrl: boolean
  /** Whether POST and DELETE of a namespaced collection reach the kind without a namespace in the URL. They are refused there. */
  readonly routesWritesWithoutNamespace: boolean

  /** 404 for a subresource that the kind does not have. */
  unknownSubresourceError(type: ResourceType, name: string): StatusError
  /** 405 for a verb that the kind does not have. */
  methodNotAllowedError(type: ResourceType, verb: string): StatusError
  /** 415 for a patch of another type than `patchMediaTypes`. */
  unsupportedPatchError(): StatusError
  /** The error for a response type that the kind does not have. `error` is the one of content negotiation. */
  notAcceptableError(error: unknown, accept: string | undefined, streams: boolean): unknown
  /** 400 for a field selector that the kind does not have. `selectable` says whether it has selectors beyond metadata. */
  unsupportedFieldSelectorError(field: string, selectable: boolean): StatusError

  /** The Go type of an object, for messages. */
  goType(type: ResourceType): string
  /** Whether list metadata has `continue` on the last page, too. */
  readonly alwaysShowsContinue: boolean
  /** Whether the items of a list carry `apiVersion` and `kind`. */
  readonly itemsCarryType: boolean
  /** The order of verbs in discovery documents. */
  readonly discoveryVerbs: readonly Verb[]
  /** Whether discovery documents name the group and version of the objects. */
  readonly discoveryNamesGroup: boolean

  /** Checks `apiVersion` and `kind` of a body. Returns the body as an object of the kind. Throws 400. */
  readTypeMeta(type: ResourceType, body: RawBody): KubeObject
  /** Whether an empty list of managedFields resets field ownership. A list of one empty entry always does. */
  readonly emptyManagedFieldsReset: boolean
  /** Whether a patched object is decoded as the type that it names. Then a patch of apiVersion or kind has errors of its own. */
  readonly decodesNamedType: boolean
  /** The patched object as messages show it. */
  printPatched(patched: KubeObject): string
  /** 500 for an applied object that cannot be decoded after it was merged. Absent: the decoder's own error is returned. */
  appliedDecodeError?(type: ResourceType, applied: KubeObject, message: string): StatusError

  /** Whether the published schema and its CEL rules validate objects. Otherwise the strategy validates them. */
  readonly validatesBySchema: boolean
  /** Whether objects are pruned and get defaults when they are read, since the schema may have changed after the write. */
  readonly shapesOnRead: boolean
  /** Whether the write path keeps status and the rest of the object apart. Otherwise the strategy does. */
  readonly isolatesStatus: boolean
  /** Whether errors of metadata are listed again after those of the update. */
  readonly repeatsMetadataErrors: boolean
  /** Checks the names of finalizers. Absent: any qualified name is valid. */
  validateFinalizers?(group: string, metadata: ObjectMeta): FieldError[]
  /** Warnings about metadata. Absent for kinds without warnings. */
  metadataWarnings?(metadata: ObjectMeta, old: ObjectMeta | undefined): readonly string[]
  /** The encoding that etcd would hold, which decides whether an object is too large. */
  readonly storedAs: 'json' | 'protobuf'

  readonly openapi: OpenApiConventions
}

/** How the OpenAPI documents describe a family of kinds. */
export interface OpenApiConventions {
  /** Whether kinds belong to the scheme of the server. A group without such kinds has a document of another title. */
  readonly inScheme: boolean
  /** Whether watches are described, as events and as streams. */
  readonly describesWatch: boolean
  readonly describesSelectableFields: boolean
  /** Whether the deletion of a collection is described by its own options. Otherwise by those of a list. */
  readonly describesDeleteOptions: boolean
  /** Whether references in OpenAPI 3 carry an empty default. */
  readonly defaultsReferences: boolean
  /** Whether GET takes a resourceVersion. */
  readonly readsAtRevision: boolean
  /** Status codes of a patch. */
  readonly patchCodes: readonly number[]
  /** Content types of bodies. */
  readonly bodyMedia: readonly string[]
  /** The group as it appears in operation ids. */
  shortGroup(group: string): string
}
