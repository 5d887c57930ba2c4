import { createHash } from 'node:crypto'
import {
  equal,
  findInChain,
  isConflict,
  type JsonObject,
  type KubeObject,
  StatusError,
  stringify,
} from '@crosstie/kube'
import type { Difference } from '@crosstie/resources/provider'
import type { Cluster, Target } from './cluster.js'
import { differencesBetween, fieldsOf, holds } from './difference.js'
import type { Filled } from './references.js'

/** The longest name of a field manager that Kubernetes takes. */
const MANAGER_MAX = 128

/**
 * Whose fields the Object's are. By its name: Objects for one thing do not take
 * each other's fields, and one that is made again after a restore knows its own.
 */
export const managerOf = (managed: KubeObject): string => manager('crosstie-object', managed)
/** Whose the fields of initProvider are. They are applied once and stay. */
export const initManagerOf = (managed: KubeObject): string => manager('crosstie-init', managed)

function manager(prefix: string, { metadata: { name = '' } }: KubeObject): string {
  const full = `${prefix}-${name}`
  if (full.length <= MANAGER_MAX) return full
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `${full.slice(0, MANAGER_MAX - digest.length - 1)}-${digest}`
}

type Applied = JsonObject & { readonly metadata: { readonly name: string; readonly namespace?: string } }

export interface Wanted extends Filled {
  readonly target: Target
  readonly manager: string
}

/**
 * Where the live object is not what applying the manifest would make of it. The
 * server is asked only when something looks different or the Object is new.
 */
export async function differences(
  cluster: Cluster,
  { target, manifest, manager, hidden }: Wanted,
  live: KubeObject,
  settled: boolean,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  if (settled && holds(live, manifest) && fieldsOf(live, manager) !== undefined) return []
  const { uid = '', resourceVersion = '' } = live.metadata
  const question = createHash('sha256')
    .update(`${resourceVersion} ${manager} ${stringify(manifest)}`)
    .digest('base64')
  if (settled && cluster.verified.get(uid) === question) return []
  const options = { fieldManager: manager, force: true, dryRun: true, signal }
  const would = await cluster.client.apply(target.type, manifest as Applied, options)
  const found = differencesBetween(would as unknown as JsonObject, live, hidden, 'all')
  if (found.length > 0) return found
  if (!equal(fieldsOf(would, manager), fieldsOf(live, manager))) {
    return [{ path: 'manifest', desired: 'applied by this Object', observed: 'applied by others, or before' }]
  }
  cluster.verified.set(uid, question)
  return []
}

/**
 * Applies the manifest. Fields that others wrote are taken back; fields that
 * others apply are theirs too, and that is for people to settle.
 */
export async function apply(
  cluster: Cluster,
  { target, manifest, manager }: Wanted,
  options: { readonly takeOver: boolean; readonly ours: readonly string[]; readonly signal: AbortSignal },
): Promise<KubeObject> {
  const { signal } = options
  const attempt = async (force: boolean) => {
    const written = await cluster.client.apply(target.type, manifest as Applied, {
      fieldManager: manager,
      force,
      signal,
    })
    cluster.wrote(target, written)
    return written
  }
  try {
    return await attempt(options.takeOver)
  } catch (error) {
    const causes = findInChain(error, StatusError)?.details?.causes ?? []
    const conflicts = causes.filter(({ reason }) => reason === 'FieldManagerConflict')
    if (!isConflict(error) || conflicts.length === 0) throw error
    const live = await cluster.client.get(target.type, target.key, { signal })
    const appliers = (live.metadata.managedFields ?? []).filter(({ operation }) => operation === 'Apply')
    const rivals = conflicts.filter(({ message = '' }) => {
      const [, name = ''] = /conflict with "([^"]*)"/.exec(message) ?? []
      return !options.ours.includes(name) && appliers.some((each) => each.manager === name)
    })
    if (rivals.length === 0) return await attempt(true)
    const fields = rivals.map(({ field, message }) => `${field} (${message})`).join(', ')
    throw new Error(
      `others apply the same fields: ${fields}. Leave those out of spec.forProvider.manifest, or set spec.forProvider.onConflict to TakeOver`,
    )
  }
}
