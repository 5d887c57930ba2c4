import type { Json } from './json.js'
import type { GroupVersion, ResourceType } from './kind.js'
import type { KubeList, KubeObject, ObjectKey } from './object.js'

/**
 * All that a controller may ask of a Kubernetes API. In one process it is a
 * function call on the embedded server; elsewhere it is HTTP. Failures are
 * StatusErrors either way, and objects that come back are shared: never change one.
 */
export interface Client {
  get<T extends KubeObject = KubeObject>(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<T>
  list<T extends KubeObject = KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>>
  /**
   * Ends when the signal aborts or the server closes; throws a StatusError with
   * reason Expired when the revision to start from is gone: list again.
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
  /** Server-side apply. `fieldManager` is required by the server. */
  apply<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T>
  /** The object as it is being deleted, or as it was. */
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<KubeObject | undefined>
  deleteCollection(type: ResourceType, options?: ListOptions & DeleteOptions): Promise<void>
  /** The kinds that are served in a group and version; none when the server does not know it. */
  discover(where: GroupVersion, options?: CallOptions): Promise<readonly ResourceType[]>
  /**
   * The same API as another user, by impersonation. The rights of that user
   * apply; the server refuses with reason Forbidden when this client's own user
   * may not impersonate it.
   */
  as(user: string): Client
}

export interface ApplyTarget {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WatchOptions extends CallOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: Json }
  | { readonly type: 'strategic'; readonly patch: Json }

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: Json
}
