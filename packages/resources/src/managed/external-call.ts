import { messageOf } from '@crosstie/kube'
import type { ProviderConfigKind } from '../definition/provider-config.js'
import { unlimited } from '../external/budget.js'
import { readProviderConfig } from '../providerconfig/use.js'
import { failure, isInSync, type Reconciliation } from './reconciliation.js'
import { learnSecrets } from './secrets/secrets.js'

/** Connects to the provider with what the object's ProviderConfig says. */
export async function connect(reconciliation: Reconciliation): Promise<unknown> {
  const { runtime, managed, signal } = reconciliation
  try {
    if (runtime.kind.providerConfig) await configure(reconciliation, runtime.kind.providerConfig)
    const follow = runtime.subscriptions.of(managed)
    const trackChanges = reconciliation.changes.track
    return await runtime.kind.external.connect({
      managed,
      signal,
      api: runtime.api,
      follow,
      config: reconciliation.config,
      trackChanges,
    })
  } catch (error) {
    throw failure({ reason: 'CannotConnectToProvider', prefix: 'connect failed: ' }, error)
  }
}

async function configure(reconciliation: Reconciliation, kind: ProviderConfigKind): Promise<void> {
  const { runtime, managed, signal } = reconciliation
  const name = reconciliation.spec.providerConfigRef?.name ?? 'default'
  const config = await readProviderConfig(runtime.client, kind, name, runtime.surroundings, signal)
  if (config.credentials) reconciliation.secrets.addDocument(config.credentials)
  reconciliation.config = config
  await runtime.usages!.track(managed, name, signal)
}

/** How long a turn that has done nothing yet waits for its first call. One that has to act waits longer than a poll. */
const PATIENCE_MS = { urgent: 10_000, routine: 2_000 }

/**
 * A look may as well begin later, and must not keep those from working who use other credentials. What was begun is
 * brought to its end, and whoever asks for a plan waits for it.
 */
function patienceOf(reconciliation: Reconciliation): number {
  const begun = reconciliation.called || reconciliation.runtime.witness !== undefined
  reconciliation.called = true
  return begun ? Number.POSITIVE_INFINITY : PATIENCE_MS[isInSync(reconciliation) ? 'routine' : 'urgent']
}

/** Makes one call to the provider, within the budget of its credentials. */
export async function callExternal<T>(
  reconciliation: Reconciliation,
  name: string,
  call: () => Promise<T>,
): Promise<T> {
  const { runtime, spec } = reconciliation
  if (runtime.listing && (name === 'Create' || name === 'Update' || name === 'Delete')) {
    reconciliation.state.touched = runtime.clock.now() + 1
  }
  const budget = runtime.budgets.of(spec.providerConfigRef?.name ?? '')
  const wait =
    runtime.budgets === unlimited ? undefined : budget.take(reconciliation.signal, patienceOf(reconciliation))
  if (wait) await wait
  try {
    const answer = await call()
    budget.note()
    runtime.metrics.called(runtime.kind, name, false)
    return answer
  } catch (error) {
    budget.note(error)
    runtime.metrics.called(runtime.kind, name, true)
    throw error
  }
}

export function isDisposable(client: unknown): client is AsyncDisposable {
  return (client as Partial<AsyncDisposable> | null | undefined)?.[Symbol.asyncDispose] !== undefined
}

export async function disconnect(reconciliation: Reconciliation, client: AsyncDisposable): Promise<void> {
  try {
    await client[Symbol.asyncDispose]()
  } catch (error) {
    await learnSecrets(reconciliation)
    reconciliation.event('Warning', 'CannotDisconnectFromProvider', messageOf(error))
  }
}
