import type { Behavior } from '../behavior.js'
import { cache } from './cache.js'
import { mysql } from './mysql.js'
import { network } from './network.js'
import { privateDns } from './private-dns.js'
import { resources } from './resources.js'
import { sql } from './sql.js'
import { supporting } from './supporting.js'

const behaviors: ReadonlyMap<string, Behavior> = new Map(
  [resources, network, privateDns, mysql, sql, cache, supporting].flatMap((table) =>
    Object.entries(table).map(([type, behavior]): [string, Behavior] => [type.toLowerCase(), behavior]),
  ),
)

const namespaces = new Set([...behaviors.keys()].map((type) => type.split('/')[0]))

export const behaviorOf = (type: string): Behavior | undefined => behaviors.get(type.toLowerCase())

export const isNamespace = (namespace: string): boolean => namespaces.has(namespace.toLowerCase())
