import { messageOf } from '@crosstie/kube'
import type { ProviderConfigKind } from '../providerconfig/define.js'
import { readProviderConfig } from '../providerconfig/use.js'
import { learnSecrets } from './secrets.js'
import { failure, type Turn } from './turn.js'

/** Connects to the provider with what the object's ProviderConfig says. */
export async function connect(turn: Turn): Promise<unknown> {
  const { kit, managed, signal } = turn
  try {
    if (kit.kind.providerConfig) await configure(turn, kit.kind.providerConfig)
    const follow = kit.followers.of(managed)
    return await kit.kind.external.connect({ managed, signal, api: kit.api, follow, config: turn.config })
  } catch (error) {
    throw failure({ reason: 'CannotConnectToProvider', prefix: 'connect failed: ' }, error)
  }
}

async function configure(turn: Turn, kind: ProviderConfigKind): Promise<void> {
  const { kit, managed, signal } = turn
  const name = turn.spec.providerConfigRef?.name ?? 'default'
  const config = await readProviderConfig(kit.client, kind, name, kit.surroundings, signal)
  if (config.credentials) turn.secrets.addDocument(config.credentials)
  turn.config = config
  await kit.usages!.track(managed, name, signal)
}

/** Makes one call to the provider, within the budget of its credentials. */
export async function callExternal<T>(turn: Turn, name: string, call: () => Promise<T>): Promise<T> {
  const { kit, spec } = turn
  if (kit.listing && (name === 'Create' || name === 'Update' || name === 'Delete')) {
    kit.touched.set(turn.managed.metadata.uid ?? '', kit.clock.now() + 1)
  }
  const budget = kit.budgets.of(spec.providerConfigRef?.name ?? '')
  const wait = budget.take(turn.signal)
  if (wait) await wait
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

export function isDisposable(client: unknown): client is AsyncDisposable {
  return (client as Partial<AsyncDisposable> | null | undefined)?.[Symbol.asyncDispose] !== undefined
}

export async function disconnect(turn: Turn, client: AsyncDisposable): Promise<void> {
  try {
    await client[Symbol.asyncDispose]()
  } catch (error) {
    await learnSecrets(turn)
    turn.event('Warning', 'CannotDisconnectFromProvider', messageOf(error))
  }
}
