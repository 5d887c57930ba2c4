import { join } from 'node:path'
import type { Log } from '@crosstie/controller'
import { type Client, messageOf } from '@crosstie/kube'
import type { Provider } from '@crosstie/resources'

/** Options of {@link ProviderStarts}. */
export interface StartOptions {
  readonly client: Client
  /** The data directory. Each provider gets its own folder in it. */
  readonly dataDir: string
  /** Resolves when the kinds of the providers are served. */
  readonly served: Promise<unknown>
  readonly log: Log
  /** Called with one line for each started service, or with the reason of a failure. */
  readonly report: (provider: string, line: string) => void
  readonly signal: AbortSignal
}

/**
 * Starts the services of providers. A provider that cannot start is reported and does not affect the others.
 * Disposing stops all services.
 */
export class ProviderStarts implements AsyncDisposable {
  readonly #starting: Promise<StopOnce>[] = []

  /** Resolves when every provider reported its services or its failure. Never rejects. */
  async begin(providers: readonly Provider[], options: StartOptions): Promise<void> {
    this.#starting.push(...providers.map((provider) => startOne(provider, options)))
    await Promise.all(this.#starting)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#starting.map(async (starting) => await (await starting)()))
  }
}

type StopOnce = () => Promise<void>
const nothing: StopOnce = async () => {}

async function startOne(provider: Provider, options: StartOptions): Promise<StopOnce> {
  const { client, dataDir, served, log, report, signal } = options
  const { name } = provider
  if (!provider.start) return nothing
  await served
  if (signal.aborted) return nothing
  try {
    const started = await provider.start({
      client,
      dataDir: join(dataDir, name),
      env: process.env,
      log: (message, fields) => log.info(message, { provider: name, ...fields }),
      signal,
    })
    report(name, started.summary)
    return async () => {
      try {
        await started[Symbol.asyncDispose]()
      } catch (error) {
        log.error('cannot stop what a provider started', { provider: name, error: messageOf(error) })
      }
    }
  } catch (error) {
    if (signal.aborted) return nothing
    log.error('a provider could not start what it brings', { provider: name, error: messageOf(error) })
    report(name, `not started: ${messageOf(error)}`)
    return nothing
  }
}
