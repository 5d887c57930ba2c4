import { type Option, type OptionValues, textOf, UsageError } from '../options/options.js'
import { didYouMean } from '../options/suggest.js'

/** An emulator of a cloud that runs in this process, or that this process started. */
export interface RunningEmulator extends AsyncDisposable {
  /** One line for people: where it listens. */
  readonly summary: string
  /** Variables that lead the provider of the cloud to the emulator. */
  readonly env: Readonly<Record<string, string>>
}

/** The module of an emulator exports this function. */
type StartEmulator = () => Promise<RunningEmulator>

/** Loaded when asked for: a start without emulators does not read any of this. The name is that of the provider. */
const emulators: Readonly<Record<string, () => Promise<{ readonly startEmulator: StartEmulator }>>> = {
  azure: () => import('@crosstie/provider-azure/emulator'),
  gcp: () => import('@crosstie/provider-gcp/emulator'),
}

export const emulatorNames: readonly string[] = Object.keys(emulators)

export const emulatorsOption: Option = {
  type: 'string',
  value: 'NAMES',
  help: `Start emulators of clouds on this machine, with commas between: ${emulatorNames.join(', ')}. No account is needed`,
}

/** The emulators that were asked for. Throws for a name that does not exist. */
export function emulatorsOf(values: OptionValues): readonly string[] {
  const names = (textOf(values, 'emulators') ?? '').split(',').flatMap((name) => name.trim() || [])
  const unknown = names.find((name) => !Object.hasOwn(emulators, name))
  if (unknown === undefined) return names
  throw new UsageError(
    `--emulators: there is no emulator '${unknown}'.${didYouMean(unknown, emulatorNames)} Choose from ${emulatorNames.join(', ')}`,
  )
}

/** All emulators that run. Disposing stops them. */
export class Emulators implements AsyncDisposable {
  readonly #running: RunningEmulator[] = []

  /** Starts the emulators and reports each in one line. Their variables are set for this process, which finds them there. */
  static async start(
    names: readonly string[],
    report: (emulator: string, line: string) => void,
    env: Record<string, string | undefined> = process.env,
  ): Promise<Emulators> {
    const emulated = new Emulators()
    for (const name of new Set(names)) {
      const module = await emulators[name]?.()
      if (!module) continue
      const running = await module.startEmulator()
      emulated.#running.push(running)
      Object.assign(env, running.env)
      report(name, running.summary)
    }
    return emulated
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((running) => running[Symbol.asyncDispose]()))
  }
}
