import { setMaxListeners } from 'node:events'
import { didYouMean } from '../options/suggest.js'
import { EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, helpFor, runCommand } from './command.js'
import { commands, sections } from './commands.js'

/** Runs the command line. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  const stop = new AbortController()
  stopWhenNobodyReads(stop)
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') return await help(rest[0])
  if (first === '__complete') return await printCompletions(rest)
  const name = first === '--version' ? 'version' : first
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  return load ? await runCommand(await load(), rest, stopSignal(stop)) : unknown(name)
}

async function help(name: string | undefined): Promise<number> {
  if (name !== undefined) {
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!load) return unknown(name)
    process.stdout.write(`${helpFor(await load())}\n`)
    return EXIT_OK
  }
  const lines = ['Usage: crosstie COMMAND [options]']
  for (const [title, members] of Object.entries(sections)) {
    const all = await Promise.all(Object.values(members).map((load) => load()))
    lines.push('', `${title}:`, ...all.map((command) => `  ${command.name.padEnd(12)} ${command.summary}`))
  }
  lines.push('', "Run 'crosstie COMMAND --help' for more. To begin: 'crosstie up'.", '')
  process.stdout.write(lines.join('\n'))
  return EXIT_OK
}

/** Prints completions of the typed words, for shells. */
async function printCompletions(words: readonly string[]): Promise<number> {
  const { complete } = await import('./completion/complete.js')
  for (const word of await complete(words, commands)) process.stdout.write(`${word}\n`)
  return EXIT_OK
}

function unknown(name: string): number {
  if (name.startsWith('-')) {
    const right = `options stand behind the command: crosstie COMMAND ${name} ...`
    process.stderr.write(`error: crosstie: ${right} 'crosstie help' lists the commands.\n`)
    return EXIT_USAGE
  }
  const meant = didYouMean(name, Object.keys(commands))
  process.stderr.write(`error: crosstie: unknown command '${name}'.${meant} 'crosstie help' lists the commands.\n`)
  return EXIT_USAGE
}

/** Aborts at the first SIGINT or SIGTERM. A second one ends the process immediately. */
function stopSignal(controller: AbortController): AbortSignal {
  setMaxListeners(0, controller.signal) // A command may have many listeners on the signal.
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED)
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return controller.signal
}

/** Stops without an error when the reader of stdout is gone, as in `crosstie get managed --watch | head`. */
function stopWhenNobodyReads(stop: AbortController): void {
  const closed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  }
  process.stdout.on('error', (error) => {
    closed(error)
    stop.abort()
  })
  // A closed stderr does not stop the command.
  process.stderr.on('error', closed)
}
