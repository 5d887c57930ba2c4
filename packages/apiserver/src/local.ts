import {
  type ApplyOptions,
  type ApplyTarget,
  badRequest,
  type Client,
  clone,
  type DeleteOptions,
  type GroupVersion,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectKey,
  type Patch,
  type ResourceType,
  StatusError,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '@crosstie/kube'
import { type Authorizer, forbiddenError } from './access/authorize.js'
import { impersonate } from './access/impersonate.js'
import type { ServiceAccountTokens } from './access/tokens.js'
import type { UserInfo } from './access/user.js'
import type { Engine } from './serving/engine.js'
import type { Outcome, Request, WriteRequest } from './serving/request.js'
import { create } from './verbs/create.js'
import { remove } from './verbs/delete.js'
import { removeAll } from './verbs/deletecollection.js'
import { get } from './verbs/get.js'
import { list } from './verbs/list.js'
import { type PatchBody, patch } from './verbs/patch.js'
import { issueToken } from './verbs/token.js'
import { update } from './verbs/update.js'
import { type WatchUpdate, watch, whenOutdated } from './verbs/watch.js'

/** A watch with more pending events than this, besides the initial ones, ends with an error. The client lists again. */
const BACKLOG_MAX = 10_000

/**
 * The Client port for code in the same process: the same verbs and checks as over HTTP, without the wire. Returned
 * objects are shared with the store and must not be changed.
 */
export class LocalClient implements Client {
  readonly #engine: Engine
  readonly #user: UserInfo
  readonly #authorizer: Authorizer
  readonly #tokens: ServiceAccountTokens

  constructor(engine: Engine, user: UserInfo, authorizer: Authorizer, tokens: ServiceAccountTokens) {
    this.#engine = engine
    this.#user = user
    this.#authorizer = authorizer
    this.#tokens = tokens
  }

  as(user: string): Client {
    const acting = impersonate(this.#user, ['Impersonate-User', user], '/', this.#authorizer)
    return new LocalClient(this.#engine, acting, this.#authorizer, this.#tokens)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T> {
    const view = get(this.#engine, this.#request('get', type, key))
    return objectIn<T>(view instanceof Promise ? await view : view)
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    const request = this.#request('list', type, { namespace: options.namespace, name: '' })
    const { views, revision, continue: token, remaining } = await list(this.#engine, request, options)
    const { names } = request.served.definition
    return {
      apiVersion: request.served.apiVersion,
      kind: names.listKind,
      metadata: {
        resourceVersion: String(revision),
        ...(token ? { continue: token } : {}),
        ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
      },
      items: views.map(objectIn<T>),
    }
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const request = this.#request('watch', type, { namespace: options.namespace, name: '' })
    const backlog = new Backlog()
    const stop = watch(this.#engine, request, options, backlog.push)
    let outdated = false
    const stopCaring = whenOutdated(this.#engine, request.served, () => {
      outdated = true
      backlog.wake()
    })
    const { signal } = options
    signal?.addEventListener('abort', backlog.wake)
    const ends = options.timeoutSeconds ? Date.now() + options.timeoutSeconds * 1000 : Number.POSITIVE_INFINITY
    try {
      while (!outdated && !signal?.aborted && Date.now() < ends) {
        const event = await backlog.next(signal, ends)
        if (!event) continue
        if (event.type === 'ERROR') throw event.error
        if (event.type !== 'BOOKMARK') yield { type: event.type, object: objectIn<T>(event.view) }
        else if (options.allowWatchBookmarks || event.initialEventsEnd) yield bookmark(type, request, event)
      }
    } finally {
      stop()
      stopCaring()
      signal?.removeEventListener('abort', backlog.wake)
    }
  }

  async create<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata
    const asks = options.subresource ? { namespace, name: name ?? '' } : { namespace, name: '' }
    const request = this.#write('create', type, asks, options)
    if (options.subresource === 'token' && type.group === '' && type.resource === 'serviceaccounts') {
      return (await issueToken(this.#engine, this.#tokens, request, bodyOf(object))) as T
    }
    return objectIn<T>(await create(this.#engine, request, bodyOf(object)))
  }

  async update<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name = '' } = object.metadata
    const request = this.#write('update', type, { namespace, name }, options)
    return objectIn<T>(await update(this.#engine, request, bodyOf(object)))
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    change: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const value: unknown = clone(change.type === 'json' ? change.operations : change.patch)
    const body: PatchBody = { type: change.type, force: false, value, strictErrors: [] }
    return objectIn<T>(await this.#patch(type, key, body, options))
  }

  async apply<T extends KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T> {
    const { name, namespace } = object.metadata
    const { served } = this.#resolve(type)
    const value = { ...clone(object), apiVersion: served.apiVersion, kind: type.kind }
    const body: PatchBody = { type: 'apply', force: options.force ?? false, value, strictErrors: [] }
    return objectIn<T>(await this.#patch(type, { name, namespace }, body, options))
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const request = this.#write('delete', type, key, { dryRun: options.dryRun, signal: options.signal })
    const deletion = await remove(this.#engine, request, options)
    return ('waits' in deletion ? deletion.waits : deletion.gone).object
  }

  async deleteCollection(type: ResourceType, options: ListOptions & DeleteOptions = {}): Promise<void> {
    const asks = { namespace: options.namespace, name: '' }
    const request = this.#write('deletecollection', type, asks, { dryRun: options.dryRun, signal: options.signal })
    await removeAll(this.#engine, request, options, options)
  }

  async discover({ group, version }: GroupVersion): Promise<readonly ResourceType[]> {
    const served = this.#engine.registry.all()
    return served.map(({ type }) => type).filter((type) => type.group === group && type.version === version)
  }

  async #patch(type: ResourceType, key: ObjectKey, body: PatchBody, options: WriteOptions): Promise<Outcome> {
    return await patch(this.#engine, this.#write('patch', type, key, options), body)
  }

  #write(verb: string, type: ResourceType, key: ObjectKey, options: WriteOptions): WriteRequest {
    const { served, namespace, name, subresource, user, warnings } = this.#request(verb, type, key, options.subresource)
    // A literal is faster than a spread on the path of every write.
    return {
      served,
      namespace,
      name,
      subresource,
      user,
      warnings,
      dryRun: options.dryRun ?? false,
      fieldManager: options.fieldManager ?? 'crosstie',
      fieldValidation: options.fieldValidation ?? 'Warn',
      signal: () => options.signal,
    }
  }

  #request(verb: string, type: ResourceType, { namespace = '', name }: ObjectKey, subresource = ''): Request {
    const { served } = this.#resolve(type)
    const { group, resource } = type
    const attributes = { user: this.#user, verb, group, resource, subresource, name, namespace }
    const { allowed, reason } = this.#authorizer.authorize(attributes)
    if (!allowed) throw forbiddenError(attributes, reason)
    const scope = served.definition.namespaced ? namespace : ''
    if (served.definition.namespaced && scope === '' && (name !== '' || verb === 'create')) {
      throw badRequest('an empty namespace may not be set when a resource name is provided')
    }
    return { served, namespace: scope, name, subresource, user: this.#user, warnings: [] }
  }

  #resolve({ group, version, resource }: ResourceType) {
    const served = this.#engine.registry.resolve(group, version, resource)
    if (served) return { served }
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource')
  }
}

/** Returns the object as the type that the caller expects. The server has validated it with the schema of the kind. */
const objectIn = <T extends KubeObject>({ object }: { readonly object: KubeObject }): T => object as T

/** Copies the object, because the write path may change it. */
function bodyOf(object: KubeObject) {
  return { value: clone(object) as unknown, strictErrors: [] }
}

function bookmark(
  type: ResourceType,
  { served }: Request,
  { revision, initialEventsEnd }: { revision: number; initialEventsEnd: boolean },
) {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion: String(revision), ...annotations }
  return { type: 'BOOKMARK' as const, object: { apiVersion: served.apiVersion, kind: type.kind, metadata } }
}

const isInitial = (event: WatchUpdate): boolean => event.type === 'ADDED' && event.initial === true

class Backlog {
  #waiting: WatchUpdate[] = []
  #taken = 0
  /** The number of waiting events besides the initial ones. */
  #news = 0
  #overrun = false
  #wake: () => void = () => {}

  readonly push = (event: WatchUpdate): void => {
    const news = !isInitial(event)
    if (news && this.#news >= BACKLOG_MAX) this.#overrun = true
    else {
      this.#waiting.push(event)
      if (news) this.#news++
    }
    this.#wake()
  }

  readonly wake = (): void => this.#wake()

  async next(signal: AbortSignal | undefined, ends: number): Promise<WatchUpdate | undefined> {
    if (this.#taken < this.#waiting.length) return this.#take()
    if (this.#overrun) throw new StatusError(410, 'Expired', 'the watch has too many pending events; list again')
    if (signal?.aborted) return undefined
    await this.#sleep(ends)
    return this.#taken < this.#waiting.length ? this.#take() : undefined
  }

  #take(): WatchUpdate {
    const event = this.#waiting[this.#taken++]!
    if (!isInitial(event)) this.#news--
    if (this.#taken === this.#waiting.length) {
      this.#waiting = []
      this.#taken = 0
    }
    return event
  }

  async #sleep(ends: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (ends !== Number.POSITIVE_INFINITY) timer = setTimeout(resolve, Math.max(0, ends - Date.now()))
    })
    clearTimeout(timer)
  }
}
