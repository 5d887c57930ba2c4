/** The resource and verb that a URL and method request, in the terms of authorization. */
export interface ResourceRoute {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly name: string
  readonly subresource: string
  /** Whether the URL has a namespace, for resources other than namespaces. */
  readonly namespaced: boolean
  readonly path: string
  readonly query: URLSearchParams
}

/** A path that is not a resource. */
export interface PathRoute {
  readonly path: string
  readonly query: URLSearchParams
}

/** A Map, because HTTP/2 permits any method name, such as `constructor`. */
const verbOfMethod: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

const noQuery = new URLSearchParams()

const namespaceSubresources = new Set(['status', 'finalize'])

/** Parses a URL: a resource below /api or /apis, or any other path. */
export function routeOf(method: string, url: string): ResourceRoute | PathRoute {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? noQuery : queryOf(url.slice(mark + 1))
  // kube-apiserver does not merge repeated slashes. There is no such path.
  if (path.includes('//')) return { path, query }
  const parts: string[] = []
  for (const part of path.split('/')) if (part !== '') parts.push(part.includes('%') ? decode(part) : part)
  const [root] = parts
  const rest = root === 'api' ? ['', ...parts.slice(1)] : root === 'apis' ? parts.slice(1) : undefined
  if (!rest || rest.length < 3) return { path, query }
  return resourceRoute(method, rest, path, query)
}

function resourceRoute(method: string, rest: string[], path: string, query: URLSearchParams): ResourceRoute {
  const [group = '', version = ''] = rest
  let parts = rest.slice(2)
  const deprecatedWatch = parts[0] === 'watch' && parts.length > 1
  if (deprecatedWatch) parts = parts.slice(1)
  let namespace = ''
  let namespaced = false
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!
    if (parts.length > 2 && !namespaceSubresources.has(parts[2]!)) {
      parts = parts.slice(2)
      namespaced = true
    }
  }
  const [resource = '', name = '', ...sub] = parts
  const verb = deprecatedWatch ? 'watch' : verbOf(method, name, query)
  return { verb, group, version, namespace, resource, name, subresource: sub.join('/'), namespaced, path, query }
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  const verb = verbOfMethod.get(method) ?? ''
  if (name !== '') return verb
  if (verb === 'delete') return 'deletecollection'
  if (verb !== 'get') return verb
  return truthy(query.get('watch')) ? 'watch' : 'list'
}

/** Ignores what Go ignores: broken escapes, and parameters with semicolons. */
function queryOf(text: string): URLSearchParams {
  if (!/[%;]/.test(text)) return new URLSearchParams(text)
  const readable = text.split('&').filter((pair) => !/;|%(?![0-9a-f]{2})/i.test(pair))
  return new URLSearchParams(readable.join('&'))
}

/** Parses a boolean parameter as Go does: present and not "false" or "0". */
export function truthy(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
