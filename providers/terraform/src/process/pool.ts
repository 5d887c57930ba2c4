import { findInChain } from '@crosstie/kube'
import { CallError } from '../protocol/channel.js'
import { throwErrors } from '../protocol/diagnostics.js'
import type { ProviderClient, ProviderSchema } from '../protocol/provider-client.js'
import type { WireValue } from '../protocol/wire.js'
import { type LaunchOptions, launchProvider, type ProviderProcess } from './launch.js'

/** One provider version with one configuration. A provider is configured once in the life of its process. */
export interface ProviderSetup {
  /** Equal for equal setups, and for no others. */
  readonly key: string
  readonly launch: LaunchOptions
  /** Values of Secrets in the configuration. They are removed from messages. */
  readonly secrets?: readonly string[]
  /** The configuration for the provider's own schema. Throws when it does not fit. */
  configure(schema: ProviderSchema): WireValue
}

/** A configured provider, for as long as it is in use. */
export interface ProviderSession {
  readonly client: ProviderClient
  readonly schema: ProviderSchema
}

export interface PoolOptions {
  /** Processes at once, over all setups. */
  readonly maxProcesses?: number
  /** Idle time after which a process is stopped. */
  readonly idleMs?: number
  /** Uses after which a process is replaced: providers leak memory with every call. */
  readonly maxUses?: number
  /** A process that uses more memory, in bytes, is replaced. */
  readonly maxMemory?: number
}

/** The provider process ended during a call. Whether the call took effect is not known. */
export class ProviderCrashedError extends CallError {
  constructor(
    readonly crash: string,
    code: CallError['code'],
    options: ErrorOptions,
  ) {
    super(`the provider process ended during the call: ${crash}`, code, options)
  }
}

/** A provider process could not be started, or refused its configuration. */
export class StartError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Shorter values would be found in ordinary words. */
const SECRET_MIN = 4

const withoutSecrets = (text: string, { secrets = [] }: ProviderSetup): string =>
  secrets
    .filter((secret) => secret.length >= SECRET_MIN)
    .reduce((cleaned, secret) => cleaned.replaceAll(secret, '(sensitive)'), text)

const DEFAULTS: Required<PoolOptions> = {
  maxProcesses: 16,
  idleMs: 60_000,
  maxUses: 10_000,
  maxMemory: 768 * 1024 * 1024,
}
/** Asking for the memory of a process costs a system call, so not every use does. */
const MEMORY_EVERY = 64
const CRASH_WAIT_MS = 2_000
const TRACE_MAX = 2_000

interface Entry {
  readonly setup: ProviderSetup
  readonly ready: Promise<ProviderSession & { readonly process: ProviderProcess }>
  users: number
  uses: number
  lastUsed: number
  idle: NodeJS.Timeout | undefined
  /** Takes no new users; stops when the last one is done. */
  retired: boolean
  stopped: Promise<void> | undefined
}

/** Runs provider processes: one for each setup, started on demand and stopped when idle, never more than allowed. */
export class ProviderPool implements AsyncDisposable {
  readonly #options: Required<PoolOptions>
  readonly #entries = new Map<string, Entry>()
  /** All that have a process, those that take no new users included. */
  readonly #live = new Set<Entry>()
  readonly #waiting: (() => void)[] = []
  /** Why a setup did not work when it was last used, by key. */
  readonly #problems = new Map<string, string>()
  #stopping = false

  constructor(options: PoolOptions = {}) {
    this.#options = { ...DEFAULTS, ...options }
  }

  /** Runs something with a provider. The process stays for the time of the run. */
  async use<T>(setup: ProviderSetup, run: (session: ProviderSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const entry = await this.#take(setup, signal)
    try {
      const session = await entry.ready
      const result = await run(session).catch((error) => explained(error, session.process))
      this.#problems.delete(setup.key)
      return result
    } catch (error) {
      throw this.#noted(setup, error)
    } finally {
      await this.#release(entry)
    }
  }

  /** Why processes cannot be started, or ended unexpectedly, for setups that have not worked since. */
  problems(selects: (key: string) => boolean = () => true): readonly string[] {
    return [...this.#problems].filter(([key]) => selects(key)).map(([, problem]) => problem)
  }

  /** Processes that run now, and the memory that they use, in bytes. */
  async usage(
    selects: (key: string) => boolean = () => true,
  ): Promise<{ readonly processes: number; readonly memory: number }> {
    const counted = [...this.#live].filter(({ setup }) => selects(setup.key))
    const memory = await Promise.all(counted.map((entry) => memoryOf(entry)))
    return { processes: counted.length, memory: memory.reduce((sum, bytes) => sum + bytes, 0) }
  }

  /** Ends the processes of a setup as soon as they are not in use. */
  async retire(key: string): Promise<void> {
    const entry = this.#entries.get(key)
    if (entry) await this.#retire(entry)
  }

  /** Asks providers to end the calls in progress, waits for those, and stops all processes. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const wake of this.#waiting.splice(0)) wake()
    await Promise.all(
      [...this.#live].map(async (entry) => {
        const session = await entry.ready.catch(() => undefined)
        if (entry.users > 0) await session?.client.stop().catch(() => {})
        await this.#end(entry)
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Removes secrets from the messages of an error. Failures of the process itself are remembered. */
  #noted(setup: ProviderSetup, error: unknown): unknown {
    for (let at: unknown = error; at instanceof Error; at = at.cause) at.message = withoutSecrets(at.message, setup)
    if (error instanceof ProviderCrashedError || error instanceof StartError)
      this.#problems.set(setup.key, error.message)
    return error
  }

  async #take(setup: ProviderSetup, signal: AbortSignal | undefined): Promise<Entry> {
    for (;;) {
      if (this.#stopping) throw new Error('provider processes are being stopped')
      signal?.throwIfAborted()
      const entry = this.#entries.get(setup.key) ?? this.#start(setup)
      if (entry) {
        entry.users++
        entry.uses++
        clearTimeout(entry.idle)
        return entry
      }
      await this.#vacancy(signal)
    }
  }

  /** Undefined when as many processes run as may, and all are in use. */
  #start(setup: ProviderSetup): Entry | undefined {
    if (this.#live.size >= this.#options.maxProcesses) {
      this.#evictIdle()
      return undefined
    }
    const entry: Entry = {
      setup,
      ready: this.#launch(setup),
      users: 0,
      uses: 0,
      lastUsed: 0,
      idle: undefined,
      retired: false,
      stopped: undefined,
    }
    this.#entries.set(setup.key, entry)
    this.#live.add(entry)
    entry.ready.then(
      ({ process }) => process.exited.then(() => this.#end(entry)),
      () => this.#end(entry),
    )
    return entry
  }

  async #launch(setup: ProviderSetup) {
    const process = await launchProvider({ memoryLimit: this.#options.maxMemory, ...setup.launch }).catch((error) => {
      throw new StartError(error)
    })
    try {
      const schema = await process.client.schema()
      const prepared = await process.client.validateProvider(setup.configure(schema))
      throwErrors(prepared.diagnostics)
      throwErrors(await process.client.configure(prepared.config))
      return { process, client: process.client, schema }
    } catch (error) {
      await process.stop()
      return await explained(error, process).catch((cause) => {
        throw new StartError(cause)
      })
    }
  }

  #evictIdle(): void {
    const idle = [...this.#live].filter(({ users, retired }) => users === 0 && !retired)
    const oldest = idle.sort((a, b) => a.lastUsed - b.lastUsed)[0]
    if (oldest) void this.#retire(oldest)
  }

  #vacancy(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1)
        reject(signal!.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(wake)
    })
  }

  async #release(entry: Entry): Promise<void> {
    entry.users--
    entry.lastUsed = performance.now()
    if (!entry.retired && (await this.#isWorn(entry))) await this.#retire(entry)
    if (entry.users > 0) return
    if (entry.retired) return void this.#end(entry)
    entry.idle = setTimeout(() => void this.#retire(entry), this.#options.idleMs).unref()
    // An idle process gives way to a caller that waits.
    if (this.#waiting.length > 0) this.#evictIdle()
  }

  async #isWorn(entry: Entry): Promise<boolean> {
    if (entry.uses >= this.#options.maxUses) return true
    if (entry.uses % MEMORY_EVERY !== 0) return false
    return (await memoryOf(entry)) > this.#options.maxMemory
  }

  async #retire(entry: Entry): Promise<void> {
    entry.retired = true
    if (this.#entries.get(entry.setup.key) === entry) this.#entries.delete(entry.setup.key)
    if (entry.users === 0) await this.#end(entry)
  }

  #end(entry: Entry): Promise<void> {
    entry.stopped ??= this.#endOnce(entry)
    return entry.stopped
  }

  async #endOnce(entry: Entry): Promise<void> {
    clearTimeout(entry.idle)
    entry.retired = true
    if (this.#entries.get(entry.setup.key) === entry) this.#entries.delete(entry.setup.key)
    await entry.ready.then(
      ({ process }) => process.stop(),
      () => {},
    )
    this.#live.delete(entry)
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

async function memoryOf(entry: Entry): Promise<number> {
  const session = await entry.ready.catch(() => undefined)
  return (await session?.process.memory()) ?? 0
}

/** Throws the error again, with the stack trace when the process ended. */
async function explained(error: unknown, process: ProviderProcess): Promise<never> {
  const call = findInChain(error, CallError)
  if (!call?.isUncertain) throw error
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, CRASH_WAIT_MS, undefined).unref())
  // A call that was cut off because we canceled it leaves the process alone.
  const exit =
    process.exit ?? (call.message.includes('canceled') ? undefined : await Promise.race([process.exited, timeout]))
  if (!exit) throw error
  const how = exit.signal ? `killed by ${exit.signal}` : `exit code ${exit.code}`
  throw new ProviderCrashedError(exit.crash?.slice(0, TRACE_MAX) ?? how, call.code, { cause: error })
}
