import { messageOf } from '@crosstie/kube'
import type { ProviderConfigKind } from '../definition/provider-config.js'
import { unlimited } from '../external/budget.js'
import { readProviderConfig } from '../providerconfig/use.js'
import { failure, isInSync, type Reconciliation } from './reconciliation.js'
import { learnSecrets } from './secrets/secrets.js'

/** Connects to the provider with the settings of the object's ProviderConfig. */
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

/** The maximum wait for the first call of a reconciliation. One that has to act waits longer than a poll. */
const PATIENCE_MS = { urgent: 10_000, routine: 2_000 }

/**
 * Returns the maximum wait for the next call. A poll can start later and must not block objects with other
 * credentials. A reconciliation that already called the provider, or that computes a plan, waits without limit.
 */
function patienceOf(reconciliation: Reconciliation): number {
  const begun = reconciliation.called || reconciliation.runtime.witness !== undefined
  reconciliation.called = true
  return begun ? Number.POSITIVE_INFINITY : PATIENCE_MS[isInSync(reconciliation) ? 'routine' : 'urgent']
}

/** Calls the provider within the budget of its credentials. */
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

/** Reports whether the client must be disposed after use. */
export function isDisposable(client: unknown): client is AsyncDisposable {
  return (client as Partial<AsyncDisposable> | null | undefined)?.[Symbol.asyncDispose] !== undefined
}

/** Disposes the client. A failure is reported as an event. */
export async function disconnect(reconciliation: Reconciliation, client: AsyncDisposable): Promise<void> {
  try {
    await client[Symbol.asyncDispose]()
  } catch (error) {
    await learnSecrets(reconciliation)
    reconciliation.event('Warning', 'CannotDisconnectFromProvider', messageOf(error))
  }
}
