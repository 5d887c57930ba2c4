import type { Informers } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { claimLabels } from '../metadata/binding.js'

/** Labels of objects. */
export type Labels = Readonly<Record<string, string>>
/**
 * Finds the objects of a kind with these labels. With `since`, the result includes all changes up to this
 * resourceVersion. Otherwise it may be slightly stale.
 */
export type Find = (type: ResourceType, labels: Labels, since?: string) => Promise<readonly KubeObject[]>

/** Returns a function that queries the server. */
export function findOn(client: Client): Find {
  return async (type, labels) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const labelSelector = pairs.sort().join(',')
    return (await client.list(type, labelSelector ? { labelSelector } : {})).items
  }
}

const BY_CLAIM = 'claim'

/**
 * Returns a function that searches the caches of watched kinds. It queries the server through `api`, which must not
 * be cached, for other kinds and if the cache is older than `since`.
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
