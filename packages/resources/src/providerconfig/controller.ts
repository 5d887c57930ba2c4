import { type Client, isConflict, isNotFound, type KubeObject, type ObjectKey } from '@crosstie/kube'
import type { EventRecorder, Next } from '../managed/kit.js'
import { isDeleted, withFinalizer, withoutFinalizer } from '../managed/meta.js'
import type { ProviderConfigKind } from './define.js'

export const inUseFinalizer = 'in-use.crossplane.io'

/** Keeps a ProviderConfig from being deleted while managed resources use it, and counts them in its status. */
export async function reconcileProviderConfig(
  kit: { readonly client: Client; readonly events: EventRecorder },
  kind: ProviderConfigKind,
  key: ObjectKey,
): Promise<Next> {
  const { client } = kit
  try {
    const config = await client.get(kind.type, key)
    const { items } = await client.list(kind.usageType, { labelSelector: `crossplane.io/provider-config=${key.name}` })
    const users = items.length
    if (isDeleted(config)) {
      if (users === 0) {
        await writeFinalizers(client, kind, config, withoutFinalizer(config.metadata.finalizers, inUseFinalizer))
        return { after: 'never' }
      }
      kit.events.event(
        config,
        'Warning',
        'InUse',
        `Blocking deletion while ${users} resource(s) use the ProviderConfig`,
      )
      await writeUsers(client, kind, config, users)
      return { after: 'backoff' }
    }
    const kept = await writeFinalizers(client, kind, config, withFinalizer(config.metadata.finalizers, inUseFinalizer))
    await writeUsers(client, kind, kept, users)
    return { after: 'never' }
  } catch (error) {
    if (isNotFound(error)) return { after: 'never' }
    if (isConflict(error)) return { after: 'backoff' }
    throw error
  }
}

async function writeFinalizers(
  client: Client,
  kind: ProviderConfigKind,
  config: KubeObject,
  finalizers: readonly string[],
): Promise<KubeObject> {
  if (finalizers.length === (config.metadata.finalizers?.length ?? 0)) return config
  const { name, resourceVersion } = config.metadata
  const patch = { metadata: { resourceVersion, finalizers } }
  return await client.patch(kind.type, { name: name! }, { type: 'merge', patch: patch as never })
}

async function writeUsers(client: Client, kind: ProviderConfigKind, config: KubeObject, users: number): Promise<void> {
  const status = config['status'] as { users?: number } | undefined
  if (status?.users === users) return
  await client.update(kind.type, { ...config, status: { ...status, users } }, { subresource: 'status' })
}
