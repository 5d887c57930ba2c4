import { messageOf } from '@crosstie/kube'
import { readProviderConfig } from '../providerconfig/use.js'
import { learnSecrets } from './secrets.js'
import { step, type Turn } from './turn.js'

/** Connects to the provider with what the object's ProviderConfig says. */
export async function connect(turn: Turn): Promise<unknown> {
  return await step({ reason: 'CannotConnectToProvider', prefix: 'connect failed: ' }, async () => {
    const { kit, managed, signal } = turn
    const { providerConfig } = kit.kind
    const context = { managed, signal, api: kit.api, follow: kit.followers.of(managed) }
    if (!providerConfig) return await kit.kind.external.connect({ ...context, config: undefined })
    const name = turn.spec.providerConfigRef?.name ?? 'default'
    const config = await readProviderConfig(kit.client, providerConfig, name, kit.surroundings, signal)
    if (config.credentials) turn.secrets.addDocument(config.credentials)
    turn.config = config
    await kit.usages!.track(managed, name, signal)
    return await kit.kind.external.connect({ ...context, config })
  })
}

/** Makes one call to the provider, within the budget of its credentials. */
export async function callExternal<T>(turn: Turn, name: string, call: () => Promise<T>): Promise<T> {
  const { kit, spec } = turn
  if (kit.listing && (name === 'Create' || name === 'Update' || name === 'Delete')) {
    kit.touched.set(turn.managed.metadata.uid ?? '', kit.clock.now() + 1)
  }
  const budget = kit.budgets.of(spec.providerConfigRef?.name ?? '')
  await budget.take(turn.signal)
  try {
    const answer = await call()
    budget.note()
    kit.metrics.called(kit.kind, name, false)
    return answer
  } catch (error) {
    budget.note(error)
    kit.metrics.called(kit.kind, name, true)
    throw error
  }
}

export async function disconnect(turn: Turn, client: unknown): Promise<void> {
  const dispose = (client as Partial<AsyncDisposable> | null | undefined)?.[Symbol.asyncDispose]
  if (!dispose) return
  try {
    await dispose.call(client)
  } catch (error) {
    await learnSecrets(turn)
    turn.event('Warning', 'CannotDisconnectFromProvider', messageOf(error))
  }
}
