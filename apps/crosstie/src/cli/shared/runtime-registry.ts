import { defineBinding, type ObservedKinds } from '@crosstie/resources'
import { providersOf, settingsOf } from '../../daemon/providers.js'
import { loadRegistry, type ProviderRegistry } from '../../daemon/registry.js'
import type { Input } from '../command.js'
import type { Api } from './access.js'

/** A registry with the kinds that the control plane has at run time. Disposing ends the processes that reach them. */
export interface RuntimeRegistry extends ProviderRegistry, AsyncDisposable {}

/** The providers of the command line, with the kinds that they have on the control plane. */
export async function registryOn({ values, signal, err }: Input, { client }: Api): Promise<RuntimeRegistry> {
  const registry = await loadRegistry(providersOf(values))
  const settings = settingsOf(values)
  const observed: ObservedKinds[] = []
  for (const { name, runtimeKinds } of registry.providers) {
    if (runtimeKinds) observed.push(await runtimeKinds({ client, settings: settings[name] ?? {}, signal }))
  }
  for (const problem of observed.flatMap(({ problems }) => problems)) err(`Not available here: ${problem}`)
  const added = observed.flatMap(({ kinds }) => kinds)
  const bindings = registry.claims.flatMap((claim) => added.map((managed) => defineBinding({ claim, managed })))
  return {
    ...registry,
    kinds: [...registry.kinds, ...added],
    bindings: [...registry.bindings, ...bindings],
    async [Symbol.asyncDispose]() {
      await Promise.all(observed.map((each) => each[Symbol.asyncDispose]()))
    },
  }
}
