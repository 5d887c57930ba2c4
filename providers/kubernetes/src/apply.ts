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

/** The maximum length of a field manager name in Kubernetes. */
const MANAGER_MAX = 128

/**
 * Returns the field manager of an Object, derived from its name: Objects for the same target do not take each
 * other's fields, and an Object that is created again after a restore keeps its own.
 */
export const managerOf = (managed: KubeObject): string => manager('crosstie-object', managed)
/** Returns the field manager of initProvider. Its fields are applied once and kept. */
export const initManagerOf = (managed: KubeObject): string => manager('crosstie-init', managed)

function manager(prefix: string, { metadata: { name = '' } }: KubeObject): string {
  const full = `${prefix}-${name}`
  if (full.length <= MANAGER_MAX) return full
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `${full.slice(0, MANAGER_MAX - digest.length - 1)}-${digest}`
}

type Applied = JsonObject & { readonly metadata: { readonly name: string; readonly namespace?: string } }

/** A manifest with resolved references and its target. */
export interface Wanted extends Filled {
  readonly target: Target
  readonly manager: string
}

/**
 * Returns the fields in which the live object differs from the applied manifest. Sends a dry run only if something
 * appears to differ or the Object is new.
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
 * Applies the manifest. Fields that others updated are taken back. Fields that others apply cause a conflict, which
 * users must resolve.
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
