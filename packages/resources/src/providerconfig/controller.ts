import type { Controller, Next } from '@crosstie/controller'
import {
  type Client,
  type Clock,
  groupResource,
  isConflict,
  isNotFound,
  type KubeObject,
  type ObjectKey,
  steadyClock,
} from '@crosstie/kube'
import type { ProviderConfigKind } from '../definition/provider-config.js'
import { isDeleted, withFinalizer, withoutFinalizer } from '../metadata/metadata.js'
import type { EventReporter } from '../status/events.js'
import { writeStatus } from '../status/write.js'
import { configSelector } from './use.js'

/** The finalizer of a ProviderConfig that is in use. */
export const inUseFinalizer = 'in-use.crossplane.io'

/**
 * The minimum interval between counts. Thousands of users may start at once, and each would cause a count and a
 * write.
 */
const COUNT_EVERY_MS = 1_000

interface ProviderConfigRuntime {
  readonly client: Client
  readonly events: EventReporter
}

/** Returns the controller of all ProviderConfigs of a kind. */
export function providerConfigController(
  kind: ProviderConfigKind,
  runtime: ProviderConfigRuntime & { readonly clock?: Clock },
): Controller {
  const { clock = steadyClock } = runtime
  const countedAt = new Map<string, number>()
  return {
    name: groupResource(kind.type),
    type: kind.type,
    watches: [{ type: kind.usageType, concerns: configOf }],
    async reconcile(key) {
      const now = clock.now()
      const wait = (countedAt.get(key.name) ?? Number.NEGATIVE_INFINITY) + COUNT_EVERY_MS - now
      if (wait > 0) return { after: 'poll', seconds: wait / 1000 }
      for (const [name, at] of countedAt) if (at + COUNT_EVERY_MS <= now) countedAt.delete(name)
      countedAt.set(key.name, now)
      return await reconcileProviderConfig(runtime, kind, key)
    },
  }
}

function configOf(usage: KubeObject): readonly ObjectKey[] {
  const { name } = (usage['providerConfigRef'] ?? {}) as { name?: string }
  return name ? [{ name }] : []
}

/**
 * Blocks the deletion of a ProviderConfig while managed resources use it, and reports the number of users in its
 * status.
 */
export async function reconcileProviderConfig(
  runtime: ProviderConfigRuntime,
  kind: ProviderConfigKind,
  key: ObjectKey,
): Promise<Next> {
  const { client } = runtime
  try {
    const config = await client.get(kind.type, key)
    const labelSelector = configSelector(key.name)
    const { items } = await client.list(kind.usageType, { labelSelector })
    const users = items.length
    if (isDeleted(config)) {
      // Requests with a limit bypass the cache, which may not have the newest user yet.
      if (users === 0 && (await client.list(kind.usageType, { labelSelector, limit: 1 })).items.length === 0) {
        await writeFinalizers(client, kind, config, withoutFinalizer(config.metadata.finalizers, inUseFinalizer))
        return { after: 'never' }
      }
      runtime.events.event(
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
  await writeStatus(client, kind.type, config, { fields: { users } }, { now: Date.now() })
}
