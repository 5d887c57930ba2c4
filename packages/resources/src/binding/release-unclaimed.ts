import { ignoring, isConflict, isNotFound, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { type BindableSpec, claimAnnotations, keyOf, phaseOf, specOf } from '../metadata/binding.js'
import { revisionOf } from '../metadata/metadata.js'
import { type ClaimRuntime, change, setPhase } from './runtime.js'

const nameOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`

/** Returns whether objects are remembered that refer to the claim. */
export const hasBindables = (runtime: ClaimRuntime, key: ObjectKey): boolean => runtime.bindables.has(nameOf(key))

/** Remembers an object that refers to a claim. */
export function rememberBindable(
  runtime: ClaimRuntime,
  key: ObjectKey,
  type: ResourceType,
  bindable: KubeObject,
): void {
  const noted = { type, name: bindable.metadata.name!, uid: specOf<BindableSpec>(bindable).claimRef?.uid }
  const held = runtime.bindables.get(nameOf(key))
  const id = `${type.kind}/${bindable.metadata.name}`
  if (held) held.set(id, noted)
  else runtime.bindables.set(nameOf(key), new Map([[id, noted]]))
}

/**
 * Releases objects that refer to a deleted claim, after a crash of the process that created or bound them. An
 * object that is still provisioning is deleted. An object that was bound but not used yet becomes free. An object
 * that was in use is retained.
 */
export async function releaseUnclaimed(
  runtime: ClaimRuntime,
  key: ObjectKey,
  claim: KubeObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  const bindables = runtime.bindables.get(nameOf(key))
  if (!bindables) return
  for (const [id, { type, name, uid }] of bindables) {
    if (uid && uid === claim?.metadata.uid) continue
    const bindable = await read(runtime, type, name, signal)
    const claimRef = bindable && specOf<BindableSpec>(bindable).claimRef
    if (!claimRef || claimRef.namespace !== key.namespace || claimRef.name !== key.name) bindables.delete(id)
    else if (claimRef.uid && claimRef.uid !== claim?.metadata.uid) await release(runtime, type, bindable, signal)
  }
  if (bindables.size === 0) runtime.bindables.delete(nameOf(key))
}

async function release(
  runtime: ClaimRuntime,
  type: ResourceType,
  bindable: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { annotations, deletionTimestamp } = bindable.metadata
  const phase = phaseOf(bindable)
  if (deletionTimestamp || phase === 'Released') return
  try {
    if (annotations?.[claimAnnotations.provisioning] !== undefined) {
      // The precondition is the revision in which the object was still provisioning.
      await runtime.client.delete(type, keyOf(bindable), { preconditions: revisionOf(bindable), signal })
    } else if (phase === 'Bound' || phase === 'Unbindable') await setPhase(runtime, type, bindable, 'Released', signal)
    else await change(runtime, type, bindable, { spec: { claimRef: null } }, signal)
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}

async function read(
  runtime: ClaimRuntime,
  type: ResourceType,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await runtime.client.get(type, { name }, { signal }).catch(ignoring(isNotFound))
}
