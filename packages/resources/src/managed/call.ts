import { messageOf } from '@crosstie/kube'
import { unlimited } from '../external/budget.js'
import type { ProviderConfigKind } from '../providerconfig/define.js'
import { readProviderConfig } from '../providerconfig/use.js'
import { learnSecrets } from './secrets.js'
import { failure, isSettled, type Turn } from './turn.js'

/** Connects to the provider with what the object's ProviderConfig says. */
export async function connect(turn: Turn): Promise<unknown> {
  const { kit, managed, signal } = turn
  try {
    if (kit.kind.providerConfig) await configure(turn, kit.kind.providerConfig)
    const follow = kit.followers.of(managed)
    const trackChanges = turn.changes.track
    return await kit.kind.external.connect({ managed, signal, api: kit.api, follow, config: turn.config, trackChanges })
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

/** How long a turn that has done nothing yet waits for its first call. One that has to act waits longer than a poll. */
const PATIENCE_MS = { urgent: 10_000, routine: 2_000 }

/**
 * A look may as well begin later, and must not keep those from working who use other credentials. What was begun is
 * brought to its end, and whoever asks for a plan waits for it.
 */
function patienceOf(turn: Turn): number {
  const begun = turn.called || turn.kit.witness !== undefined
  turn.called = true
  return begun ? Number.POSITIVE_INFINITY : PATIENCE_MS[isSettled(turn) ? 'routine' : 'urgent']
}

/** Makes one call to the provider, within the budget of its credentials. */
export async function callExternal<T>(turn: Turn, name: string, call: () => Promise<T>): Promise<T> {
  const { kit, spec } = turn
  if (kit.listing && (name === 'Create' || name === 'Update' || name === 'Delete')) {
    turn.state.touched = kit.clock.now() + 1
  }
  const budget = kit.budgets.of(spec.providerConfigRef?.name ?? '')
  const wait = kit.budgets === unlimited ? undefined : budget.take(turn.signal, patienceOf(turn))
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
