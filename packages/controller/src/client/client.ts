import {
  type ApplyOptions,
  type ApplyTarget,
  apiVersionOf,
  type CallOptions,
  type Client,
  type DeleteOptions,
  type GetOptions,
  type GroupVersion,
  isNotFound,
  isObject,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectKey,
  type Patch,
  parseJson,
  type ResourceType,
  stringify,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '@crosstie/kube'
import { type Access, impersonatingAccess } from './access.js'
import { linesOf } from './lines.js'
import { listParameters, pathOf, watchParameters, writeParameters } from './paths.js'
import { type HttpClientOptions, RequestSender } from './request-sender.js'
import { statusError } from './response.js'
import type { HttpRequest } from './transport.js'

const patchTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** The `Client` port over HTTP, for any Kubernetes API. */
export class HttpClient implements Client, Disposable {
  readonly #sender: RequestSender
  readonly #access: Access
  readonly #options: HttpClientOptions
  readonly #impersonating = new Map<string, HttpClient>()

  constructor(access: Access, options: HttpClientOptions = {}) {
    this.#access = access
    this.#options = options
    this.#sender = new RequestSender(access, options)
  }

  /** Closes all connections. Pending requests fail. */
  close(): void {
    for (const client of this.#impersonating.values()) client.close()
    this.#sender.close()
  }

  /** Returns a client that impersonates the user. It is created once per user and closed with this client. */
  as(user: string): HttpClient {
    const held = this.#impersonating.get(user)
    if (held) return held
    const client = new HttpClient(impersonatingAccess(this.#access, user), this.#options)
    this.#impersonating.set(user, client)
    return client
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const path = pathOf(type, key, { resourceVersion: options.resourceVersion })
    return await this.#object('GET', path, undefined, options.signal)
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    const path = pathOf(type, { namespace: options.namespace }, listParameters(options))
    const headers = { 'accept-encoding': 'gzip' }
    const text = await this.#sender.call({ method: 'GET', path, headers }, options.signal)
    const list = parseJson(text) as KubeList<T> & { readonly items: readonly T[] | null }
    return { ...list, items: (list.items ?? []).map((item) => withTypeMeta(item, type)) }
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { signal, namespace } = options
    const path = pathOf(type, { namespace }, watchParameters(options))
    const body = await this.#sender.open({ method: 'GET', path, headers: {} }, signal).catch((error: unknown) => {
      if (signal?.aborted) return undefined
      throw error
    })
    if (!body) return
    const cancel = () => body.destroy()
    signal?.addEventListener('abort', cancel)
    try {
      if (!signal?.aborted) yield* events<T>(linesOf(body), type, signal)
    } finally {
      signal?.removeEventListener('abort', cancel)
      body.destroy()
    }
  }

  /** Reads any path of the server, such as `/version`, in the requested media type. */
  async read<T>(path: string, options: { readonly accept?: string; readonly signal?: AbortSignal } = {}): Promise<T> {
    const headers = { 'accept-encoding': 'gzip', ...(options.accept ? { accept: options.accept } : {}) }
    return parseJson(await this.#sender.call({ method: 'GET', path, headers }, options.signal)) as T
  }

  async create<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata
    const { subresource } = options
    const path = pathOf(type, { namespace, ...(subresource ? { name, subresource } : {}) }, writeParameters(options))
    return await this.#object('POST', path, object, options.signal)
  }

  async update<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata
    const path = pathOf(type, { namespace, name, subresource: options.subresource }, writeParameters(options))
    return await this.#object('PUT', path, object, options.signal)
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = pathOf(type, { ...key, subresource: options.subresource }, writeParameters(options))
    const body = patch.type === 'json' ? patch.operations : patch.patch
    return await this.#object('PATCH', path, body, options.signal, patchTypes[patch.type])
  }

  async apply<T extends KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T> {
    const { name, namespace } = object.metadata
    const parameters = { ...writeParameters(options), force: options.force }
    const path = pathOf(type, { name, namespace, subresource: options.subresource }, parameters)
    const body = { ...object, apiVersion: apiVersionOf(type), kind: type.kind }
    return await this.#object('PATCH', path, body, options.signal, 'application/apply-patch+yaml')
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const response = await this.#object('DELETE', pathOf(type, key), deleteBody(options), options.signal)
    return response.kind === 'Status' ? undefined : response
  }

  async deleteCollection(type: ResourceType, options: ListOptions & DeleteOptions = {}): Promise<void> {
    const path = pathOf(type, { namespace: options.namespace }, listParameters(options))
    await this.#object('DELETE', path, deleteBody(options), options.signal)
  }

  async discover({ group, version }: GroupVersion, { signal }: CallOptions = {}): Promise<readonly ResourceType[]> {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const text = await this.#sender.call({ method: 'GET', path, headers: {} }, signal).catch((error: unknown) => {
      if (isNotFound(error)) return '{}'
      throw error
    })
    const { resources = [] } = parseJson(text) as { resources?: readonly Discovered[] }
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced }) => ({ group, version, kind, resource: name, namespaced }))
  }

  async #object<T extends KubeObject>(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
    contentType = 'application/json',
  ): Promise<T> {
    const request: HttpRequest =
      body === undefined
        ? { method, path, headers: {} }
        : { method, path, headers: { 'content-type': contentType }, body: stringify(body) }
    return parseJson(await this.#sender.call(request, signal)) as T
  }
}

interface Discovered {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

async function* events<T extends KubeObject>(
  lines: AsyncIterable<string>,
  type: ResourceType,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent<T>> {
  try {
    for await (const line of lines) {
      if (signal?.aborted) return
      const event = parseJson(line) as { readonly type: string; readonly object: KubeObject }
      if (event.type === 'ERROR') throw statusError(event.object as unknown as Readonly<Record<string, unknown>>)
      yield { type: event.type, object: withTypeMeta(event.object, type) } as WatchEvent<T>
    }
  } catch (error) {
    // A lost connection ends the watch without an error. The caller resumes from the last event that it received.
    if (!signal?.aborted && !isLost(error)) throw error
  }
}

function isLost(error: unknown): boolean {
  return isObject(error) && typeof (error as { code?: unknown }).code === 'string'
}

/** Fills `apiVersion` and `kind`, because servers omit them in list items of built-in kinds. */
function withTypeMeta<T extends KubeObject>(object: T, type: ResourceType): T {
  return object.kind ? object : { ...object, apiVersion: apiVersionOf(type), kind: type.kind }
}

function deleteBody({ dryRun, gracePeriodSeconds, propagationPolicy, preconditions }: DeleteOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(preconditions ? { preconditions } : {}),
  }
}
