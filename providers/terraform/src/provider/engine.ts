import { ignoring, isForbidden, isNotFound, messageOf } from '@crosstie/kube'
import type { ManagedKind, ObservedKinds, ObserverHost, RuntimeHost } from '@crosstie/resources/provider'
import { installProvider } from '../install/installer.js'
import { parseSource } from '../install/source.js'
import { STATE_NAMESPACE } from '../kind/derive.js'
import { ProviderPool } from '../process/pool.js'
import { InstalledKinds } from './activation.js'
import { ProviderReconciler } from './controller.js'
import { type TerraformProvider, terraformProviderType } from './definition.js'

/** The reconciler of TerraformProviders, and the processes that it starts. */
export function startEngine(host: RuntimeHost) {
  const pool = new ProviderPool()
  return {
    reconciler: new ProviderReconciler({ host, pool, settings: host.settings }),
    [Symbol.asyncDispose]: () => pool.stop(),
  }
}

/** The kinds of all TerraformProviders of a control plane, reached by provider processes on this machine. */
export async function runtimeKinds({ client, settings, signal }: ObserverHost): Promise<ObservedKinds> {
  const pool = new ProviderPool()
  const kinds: ManagedKind[] = []
  const problems: string[] = []
  const isUnavailable = (error: unknown) => isNotFound(error) || isForbidden(error)
  const list = await client.list<TerraformProvider>(terraformProviderType, { signal }).catch(ignoring(isUnavailable))
  for (const object of list?.items ?? []) {
    const { version, checksum, activeKinds = [], namespace = STATE_NAMESPACE } = object.status ?? {}
    if (version === undefined || checksum === undefined || activeKinds.length === 0) continue
    const name = object.metadata.name
    try {
      const source = parseSource(object.spec.source)
      const installed = await installProvider(settings, source, '', { version, checksum })
      const read = await InstalledKinds.read({ name, prefix: source.type, pool, namespace }, installed)
      kinds.push(...(await read.kinds(activeKinds)))
    } catch (error) {
      problems.push(`TerraformProvider ${name}: ${messageOf(error)}`)
    }
  }
  return { kinds, problems, [Symbol.asyncDispose]: () => pool.stop() }
}
