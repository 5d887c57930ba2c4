import type { Command } from './command.js'
import { EXIT_OK, EXIT_USAGE, helpFor, runCommand } from './command.js'

/** Loaded when asked for: `crosstie --help` need not read a database engine. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./commands/up.js')).up,
  backup: async () => (await import('./commands/backup.js')).backup,
  controllers: async () => (await import('./commands/controllers.js')).controllers,
  restore: async () => (await import('./commands/restore.js')).restore,
  migrate: async () => (await import('./commands/migrate.js')).migrate,
  trace: async () => (await import('./commands/trace.js')).trace,
  version: async () => (await import('./commands/version.js')).version,
}

/** The command line. Returns the exit code: 0 done, 1 failed, 2 not understood. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return await help(rest[0])
  const load = Object.hasOwn(commands, name === '--version' ? 'version' : name)
    ? commands[name === '--version' ? 'version' : name]
    : undefined
  if (!load) {
    process.stderr.write(`crosstie: there is no command '${name}'. 'crosstie help' lists them.\n`)
    return EXIT_USAGE
  }
  return await runCommand(await load(), rest, stopSignal())
}

async function help(name: string | undefined): Promise<number> {
  const load = name === undefined ? undefined : commands[name]
  if (load) {
    process.stdout.write(`${helpFor(await load())}\n`)
    return EXIT_OK
  }
  const all = await Promise.all(Object.values(commands).map((each) => each()))
  const rows = all.map((command) => `  ${command.name.padEnd(12)} ${command.summary}`)
  process.stdout.write(
    ['Usage: crosstie COMMAND [options]', '', ...rows, '', "'crosstie COMMAND --help' tells more.", ''].join('\n'),
  )
  return EXIT_OK
}

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return controller.signal
}
