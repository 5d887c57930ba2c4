import type { Api, Method } from '../discovery/api.js'
import { cloudkms_v1 } from '../discovery/cloudkms-v1.generated.js'
import { compute_v1 } from '../discovery/compute-v1.generated.js'
import { container_v1 } from '../discovery/container-v1.generated.js'
import { container_v1beta1 } from '../discovery/container-v1beta1.generated.js'
import { iam_v1 } from '../discovery/iam-v1.generated.js'
import { pubsub_v1 } from '../discovery/pubsub-v1.generated.js'
import { redis_v1 } from '../discovery/redis-v1.generated.js'
import { sqladmin_v1beta4 } from '../discovery/sqladmin-v1beta4.generated.js'
import { storage_v1 } from '../discovery/storage-v1.generated.js'

export const apis: readonly Api[] = [
  ...[compute_v1, container_v1, container_v1beta1, iam_v1, sqladmin_v1beta4, storage_v1, redis_v1],
  ...[cloudkms_v1, pubsub_v1],
]

/** A method of an API and the values of its path. */
export interface Matched {
  readonly api: Api
  /** The name of the method in the discovery document: `projects.locations.clusters.get`. */
  readonly name: string
  readonly method: Method
  readonly params: Readonly<Record<string, string>>
  /** The path without base, version and verb: `projects/p/global/networks/n`. */
  readonly path: string
}

interface Route {
  readonly api: Api
  readonly name: string
  readonly method: Method
  readonly pattern: RegExp
  /** Routes with more literal text are tried first. */
  readonly weight: number
}

const routes: readonly Route[] = apis
  .flatMap((api) => Object.entries(api.methods).map(([name, method]) => routeOf(api, name, method)))
  .sort((a, b) => b.weight - a.weight)

function routeOf(api: Api, name: string, method: Method): Route {
  const source = method.path.replace(/\{\+?(\w+)\}|([^{]+)/g, (_, parameter: string | undefined, text: string) => {
    if (parameter === undefined) return text.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    const given = method.params?.[parameter]?.pattern
    const reserved = method.path.includes(`{+${parameter}}`)
    const inner = reserved && given ? given.replace(/^\^|\$$/g, '') : '[^/]+'
    return `(?<${parameter}>${inner})`
  })
  const base = api.base.replace(/[.]/g, '\\.')
  const weight = method.path.replace(/\{[^}]*\}/g, '').length
  return { api, name, method, pattern: new RegExp(`^${base}${source}$`), weight }
}

/** The method that a request calls; undefined when no API has it. */
export function matchRoute(host: string, http: string, path: string): Matched | undefined {
  for (const { api, name, method, pattern } of routes) {
    if (api.host !== host || method.http !== http) continue
    const found = pattern.exec(path)
    if (!found) continue
    return { api, name, method, params: { ...found.groups }, path: resourcePath(path) }
  }
  return undefined
}

/** `/v1/projects/p/topics/t:detach` is `projects/p/topics/t`. */
const resourcePath = (path: string): string => path.replace(/^.*?\/(?=(projects|b)(\/|$))/, '').replace(/:\w+$/, '')

export const isHost = (host: string): boolean => apis.some((api) => api.host === host)
