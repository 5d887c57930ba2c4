import type { Informers } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { claimLabels } from './words.js'

export type Labels = Readonly<Record<string, string>>
export type Find = (type: ResourceType, labels: Labels) => Promise<readonly KubeObject[]>

/** Asks the server. */
export function findOn(client: Client): Find {
  return async (type, labels) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const labelSelector = pairs.sort().join(',')
    return (await client.list(type, labelSelector ? { labelSelector } : {})).items
  }
}

const BY_CLAIM = 'claim'

/** Looks into what is known of watched kinds, and asks the server for others. What it tells may be a little old. */
export function findIn(informers: Informers, client: Client): Find {
  const ask = findOn(client)
  return async (type, labels) => {
    const informer = informers.known(type)
    if (!informer?.isSynced) return await ask(type, labels)
    const uid = labels[claimLabels.uid]
    if (uid) informer.index(BY_CLAIM, ({ metadata }) => [metadata.labels?.[claimLabels.uid] ?? ''])
    const known = uid ? informer.cache.find(BY_CLAIM, uid) : informer.cache.values()
    const wanted = Object.entries(labels)
    return [...known].filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value))
  }
}
