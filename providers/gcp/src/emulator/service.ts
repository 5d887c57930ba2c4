import { Failure } from './failure.js'
import type { Matched } from './routes.js'
import type { State } from './state.js'
import { type Item, isItem } from './values.js'

export const PROJECT_NUMBER = '123456789012'
export const USER = 'user@example.com'

/** One request, checked against the description of its method. */
export interface Request extends Matched {
  readonly query: URLSearchParams
  readonly body: Item
  readonly state: State
  /** The key of the resource or collection in the state. */
  readonly key: string
  /** The last part of the name of the method: `get`, `insert`, `setSize`. */
  readonly verb: string
  /** The resource in the name of the method, without the verb: `networks`, `projects.locations.clusters`. */
  readonly resource: string
}

export interface Reply {
  readonly status?: number
  readonly body: Item | undefined
}

/** Answers the requests to one service. */
export type Service = (request: Request) => Reply

export const reply = (body: Item): Reply => ({ body })

export const projectOf = ({ path }: Matched): string => /projects\/([^/]+)/.exec(path)?.[1] ?? ''

/** The resource of a request. Throws when it does not exist. */
export function existing({ state, key }: Request, missing: () => Failure): Item {
  const found = state.get(key)
  if (found) return found
  throw missing()
}

/** A page of a collection. The response schema says which field holds the items. */
export function listed(request: Request, constant: Item = {}): Reply {
  const { api, method, state, key, query } = request
  const properties = api.schemas[method.response ?? ''] ?? {}
  const lists = Object.entries(properties).filter(([, { items }]) => items?.ref)
  const [field = 'items'] =
    lists.find(([name]) => name === 'items') ?? lists.find(([name]) => key.endsWith(`/${name}`)) ?? lists[0] ?? []
  const all = state.children(key)
  const size = Number(query.get('pageSize') ?? query.get('maxResults') ?? 500)
  const start = Number(query.get('pageToken') ?? 0)
  const page = all.slice(start, start + size)
  const more = start + size < all.length ? { nextPageToken: String(start + size) } : {}
  return reply({ ...constant, ...(page.length > 0 ? { [field]: page.filter(isItem) } : {}), ...more })
}

export function unsupported({ api, name }: Matched): Failure {
  return new Failure(501, `The emulator does not implement ${api.name}.${name}.`, 'UNIMPLEMENTED')
}

/** `us-central1` of `us-central1-a`; a region stays as it is. */
export const regionOf = (location: string): string => location.replace(/^([a-z]+-[a-z]+\d+)-[a-z]$/, '$1')

export const zoneOf = (location: string): string => (/-[a-z]$/.test(location) ? location : `${location}-a`)

export const isZone = (location: string): boolean => /\d-[a-z]$/.test(location)

export const lastOf = (path: unknown): string => String(path).split('/').at(-1) ?? ''
