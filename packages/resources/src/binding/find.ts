import type { Informers } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { claimLabels } from '../metadata/binding.js'

export type Labels = Readonly<Record<string, string>>
/** `since`: all that happened up to this revision is to be in it. Without it, what is found may be a little old. */
export type Find = (type: ResourceType, labels: Labels, since?: string) => Promise<readonly KubeObject[]>

/** Asks the server. */
export function findOn(client: Client): Find {
  return async (type, labels) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const labelSelector = pairs.sort().join(',')
    return (await client.list(type, labelSelector ? { labelSelector } : {})).items
  }
}

const BY_CLAIM = 'claim'

/**
 * Looks into what is known of watched kinds, and asks the server (`api`: nothing in between remembers) for others, and
 * for what may not be known yet.
 */
export function findIn(informers: Informers, api: Client): Find {
  const ask = findOn(api)
  return async (type, labels, since) => {
    const informer = informers.known(type)
    if (!informer?.isSynced || (since && !informer.knows(since))) return await ask(type, labels)
    const uid = labels[claimLabels.uid]
    if (uid) informer.index(BY_CLAIM, ({ metadata }) => [metadata.labels?.[claimLabels.uid] ?? ''])
    const known = uid ? informer.cache.find(BY_CLAIM, uid) : informer.cache.values()
    const wanted = Object.entries(labels)
    return [...known].filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value))
  }
}
