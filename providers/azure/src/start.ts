import { apiVersionOf, type Client, ignoring, isAlreadyExists, isNotFound, type KubeObject } from '@crosstie/kube'
import type { ProviderHost, StartedProvider } from '@crosstie/resources/provider'
import { providerConfig } from './config.js'

const NAME = 'default'
const EMULATED_ID = '00000000-0000-0000-0000-000000000000'
const done = { async [Symbol.asyncDispose]() {} }

/** Creates the ProviderConfig `default` for the emulator, or for the identity that the environment names. */
export async function start({ client, env, signal }: ProviderHost): Promise<StartedProvider> {
  const emulator = env['CROSSTIE_AZURE_EMULATOR']
  const { type } = providerConfig
  const held = await client.get(type, { name: NAME }, { signal }).catch(ignoring(isNotFound))
  if (emulator) {
    await lead(client, held, emulated(emulator), signal)
    return { ...done, summary: `the emulator at ${emulator} (ProviderConfig ${NAME})` }
  }
  if (held) return { ...done, summary: `the existing ProviderConfig ${NAME}` }
  const subscription = env['AZURE_SUBSCRIPTION_ID'] ?? env['ARM_SUBSCRIPTION_ID']
  if (!subscription) {
    return {
      ...done,
      summary: `no subscription found: set AZURE_SUBSCRIPTION_ID and start again, or create a ProviderConfig of ${apiVersionOf(type)}`,
    }
  }
  await lead(client, undefined, { credentials: { source: 'InjectedIdentity' }, subscriptionID: subscription }, signal)
  return { ...done, summary: `subscription ${subscription} with the identity of this process (ProviderConfig ${NAME})` }
}

const emulated = (url: string) => ({
  credentials: { source: 'Environment', env: { name: 'CROSSTIE_AZURE_CREDENTIALS' } },
  subscriptionID: EMULATED_ID,
  tenantID: EMULATED_ID,
  clientID: EMULATED_ID,
  endpoint: { resourceManager: url, authority: url, graph: url },
})

/** The address of an emulator changes with each start. */
async function lead(client: Client, held: KubeObject | undefined, spec: object, signal: AbortSignal): Promise<void> {
  const { type } = providerConfig
  if (held) {
    await client.update(type, { ...held, spec }, { signal })
    return
  }
  const config = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: NAME }, spec }
  await client.create(type, config, { signal }).catch(ignoring(isAlreadyExists))
}
