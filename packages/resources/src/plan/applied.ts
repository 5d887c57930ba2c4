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

export interface ApplyingAs {
  /** Whose fields those of a new object would be. */
  readonly fieldManager: string
  /** Take over fields that somebody else applied. */
  readonly force: boolean
  readonly signal: AbortSignal
}

/** How an object would be after it was applied, and how that compares with what is there. */
export interface Applied {
  readonly object: KubeObject
  readonly as: NonNullable<PlannedResource['object']>
}

/**
 * Has the server try out an apply: defaults, merging and checks are its own,
 * and nothing is kept. An object is applied the way it was the last time:
 * by `kubectl apply`, which notes what it applied, or server-side under the
 * same field manager. So fields that are gone from the manifest go.
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

/** Who applied the object the last time. We ourselves only add to what others apply. */
function appliedBy({ metadata }: KubeObject): string | undefined {
  const own: readonly (string | undefined)[] = [lateInitManager, referenceManager]
  return metadata.managedFields?.find(
    ({ manager, operation, subresource }) => operation === 'Apply' && !subresource && !own.includes(manager),
  )?.manager
}

/** A merge patch that makes an object as is wanted: what was applied before and is wanted no longer goes. */
function withRemovals(before: unknown, wanted: unknown): unknown {
  if (!isObject(before) || !isObject(wanted)) return wanted
  const gone = Object.keys(before).filter((name) => wanted[name] === undefined && name !== 'status')
  const kept = Object.entries(wanted).map(([name, value]) => [name, withRemovals(before[name], value)])
  return Object.fromEntries([...kept, ...gone.map((name) => [name, null])])
}

/** What a dry run answers was never kept, and has no revision of its own. */
function saysTheSame(a: KubeObject, b: KubeObject): boolean {
  const said = ({ metadata: { managedFields, resourceVersion, generation, ...metadata }, ...rest }: KubeObject) => ({
    ...rest,
    metadata,
  })
  return equal(said(a), said(b))
}
