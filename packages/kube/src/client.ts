import type { Json } from './json.js'
import type { GroupVersion, ResourceType } from './kind.js'
import type { KubeList, KubeObject, ObjectKey } from './object.js'

/**
 * The operations of a Kubernetes API. In one process they are function calls to the embedded server; otherwise they
 * are HTTP requests. All failures are StatusErrors. Returned objects are shared and must not be changed.
 */
export interface Client {
  get<T extends KubeObject = KubeObject>(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<T>
  list<T extends KubeObject = KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>>
  /**
   * Watches a resource. Ends when the signal aborts or the server closes. Throws a StatusError with reason Expired
   * if the start revision is gone; list again in that case.
   */
  watch<T extends KubeObject = KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>
  create<T extends KubeObject = KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>
  update<T extends KubeObject = KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>
  /** Server-side apply. The server requires `fieldManager`. */
  apply<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T>
  /** Deletes an object. Returns its last state, or its current state if finalizers delay the deletion. */
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<KubeObject | undefined>
  deleteCollection(type: ResourceType, options?: ListOptions & DeleteOptions): Promise<void>
  /** Returns the kinds of a group and version. The list is empty if the server does not serve it. */
  discover(where: GroupVersion, options?: CallOptions): Promise<readonly ResourceType[]>
  /**
   * Returns a client that impersonates another user. The permissions of that user apply. The server answers with
   * reason Forbidden if the user of this client may not impersonate.
   */
  as(user: string): Client
}

/** The object that an apply addresses. */
export interface ApplyTarget {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** Options of `get`. */
export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string
}

/** Options of `list`. */
export interface ListOptions extends CallOptions {
  /** The namespace. Absent: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

/** Options of `watch`. */
export interface WatchOptions extends CallOptions {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean | undefined
  readonly timeoutSeconds?: number | undefined
}

/** One event of a watch. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }

/** Options of `create`, `update` and `patch`. */
export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
  readonly subresource?: string
}

/** Options of `apply`. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
}

/** Options of `delete`. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
}

/** A patch with its type. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: Json }
  | { readonly type: 'strategic'; readonly patch: Json }

/** One operation of RFC 6902. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: Json
}
