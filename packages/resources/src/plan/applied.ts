import {
  type ApplyTarget,
  type Client,
  equal,
  ignoring,
  isNotFound,
  isObject,
  type Json,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import { LAST_APPLIED } from '@crosstie/kube/patch'
import { lateInitManager } from '../managed/late-initialization.js'
import { referenceManager } from '../managed/references.js'
import type { PlannedResource } from './document.js'

/** The options of `tryApply`. */
export interface ApplyingAs {
  /** The field manager of a new object. */
  readonly fieldManager: string
  /** Take ownership of fields that another manager applied. */
  readonly force: boolean
  readonly signal: AbortSignal
}

/** The object after an apply, and how it compares with the live object. */
export interface Applied {
  readonly object: KubeObject
  readonly as: NonNullable<PlannedResource['object']>
}

/**
 * Applies an object as a dry run, so that the server does the defaulting, merging and validation and stores
 * nothing. The method is the one that applied the live object: a client-side `kubectl apply`, which records the
 * applied manifest, or a server-side apply with the same field manager. Fields that were removed from the manifest
 * are therefore removed.
 */
export async function tryApply(
  client: Client,
  type: ResourceType,
  manifest: KubeObject,
  { fieldManager, force, signal }: ApplyingAs,
): Promise<Applied> {
  const { name, namespace } = manifest.metadata
  const key = { name: name!, ...(namespace ? { namespace } : {}) }
  const live = await client.get(type, key, { signal }).catch(ignoring(isNotFound))
  const { managedFields: _, resourceVersion: __, uid: ___, ...metadata } = manifest.metadata
  const { status: ____, ...body } = manifest as KubeObject & { readonly status?: unknown }
  const wanted = { ...body, metadata: { ...metadata, ...key } } as KubeObject & ApplyTarget
  const last = live && lastApplied(live)
  if (last) {
    const patch = withRemovals(last, wanted) as Json
    const object = await client.patch(type, key, { type: 'merge', patch }, { dryRun: true, fieldManager, signal })
    return { object, as: saysTheSame(live, object) ? 'unchanged' : 'changed' }
  }
  const manager = (live && appliedBy(live)) ?? fieldManager
  const object = await client.apply<KubeObject>(type, wanted, { fieldManager: manager, force, dryRun: true, signal })
  return { object, as: !live ? 'new' : saysTheSame(live, object) ? 'unchanged' : 'changed' }
}

function lastApplied({ metadata }: KubeObject): unknown {
  try {
    return JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? 'null')
  } catch {
    return undefined
  }
}

/** Returns the field manager that applied the object last, other than the controllers, which only add fields. */
function appliedBy({ metadata }: KubeObject): string | undefined {
  const own: readonly (string | undefined)[] = [lateInitManager, referenceManager]
  return metadata.managedFields?.find(
    ({ manager, operation, subresource }) => operation === 'Apply' && !subresource && !own.includes(manager),
  )?.manager
}

/** Returns a merge patch to the desired object that removes fields that were applied before and are no longer set. */
function withRemovals(before: unknown, wanted: unknown): unknown {
  if (!isObject(before) || !isObject(wanted)) return wanted
  const gone = Object.keys(before).filter((name) => wanted[name] === undefined && name !== 'status')
  const kept = Object.entries(wanted).map(([name, value]) => [name, withRemovals(before[name], value)])
  return Object.fromEntries([...kept, ...gone.map((name) => [name, null])])
}

/** Compares two objects without the fields that a dry run does not set. */
function saysTheSame(a: KubeObject, b: KubeObject): boolean {
  const said = ({ metadata: { managedFields, resourceVersion, generation, ...metadata }, ...rest }: KubeObject) => ({
    ...rest,
    metadata,
  })
  return equal(said(a), said(b))
}
