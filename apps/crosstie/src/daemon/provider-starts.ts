import { join } from 'node:path'
import type { Log } from '@crosstie/controller'
import { type Client, messageOf } from '@crosstie/kube'
import type { Provider } from '@crosstie/resources'

export interface StartOptions {
  readonly client: Client
  /** Each provider gets a folder of its own below it. */
  readonly dataDir: string
  /** The kinds of the providers are there. */
  readonly served: Promise<unknown>
  readonly log: Log
  /** Is told, in one line each, what a provider started where, or why it did not. */
  readonly told: (provider: string, line: string) => void
  readonly signal: AbortSignal
}

/**
 * Starts what providers bring of their own, beside everything else: a provider
 * that cannot start is told of, and the others go on. Disposing stops all of it.
 */
export class ProviderStarts implements AsyncDisposable {
  readonly #starting: Promise<StopOnce>[] = []

  /** Resolves when every provider has told what it started, or why it did not. Never rejects. */
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
  const { client, dataDir, served, log, told, signal } = options
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
    told(name, started.summary)
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
    told(name, `not started: ${messageOf(error)}`)
    return nothing
  }
}
