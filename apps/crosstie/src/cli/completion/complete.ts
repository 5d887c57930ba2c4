import type { Command, Input, Option } from '../command.js'
import { type Api, openApi } from '../shared/access.js'
import type { Kinds } from '../shared/kinds.js'
import { listAll } from '../shared/objects.js'
import { Progress } from '../shared/progress.js'
import { plain } from '../shared/terminal.js'

type Load = () => Promise<Command>

/** The timeout of a completion in milliseconds. */
const PATIENCE_MS = 3_000
const NAMES_MAX = 1_000

/**
 * Returns completions of the last word. The list is empty if nothing matches or the server cannot be reached; the
 * shell then offers files.
 */
export async function complete(words: readonly string[], commands: Readonly<Record<string, Load>>) {
  const [name = '', ...rest] = words
  if (rest.length === 0) return startingWith(Object.keys(commands), name)
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!load) return []
  const command = await load()
  const last = rest.at(-1)!
  const asked = optionBefore(command, rest.at(-2))
  if (asked) return startingWith(await valuesOf(asked, command, rest), last)
  if (last.startsWith('-')) return startingWith(optionsOf(command), last)
  const { completes } = command
  if (completes === undefined || completes === 'files') return []
  if (completes === 'commands') return startingWith(Object.keys(commands), last)
  if (typeof completes !== 'string') return startingWith(completes, last)
  return await withApi(rest, (api) => objects(api, completes, wordsOf(command, rest.slice(0, -1)), last))
}

const startingWith = (words: readonly string[], start: string): readonly string[] =>
  words.filter((word) => word.startsWith(start))

const optionsOf = ({ options }: Command): readonly string[] => [
  '--help',
  ...Object.entries(options).map(([name, { default: preset }]) => (preset === true ? `--no-${name}` : `--${name}`)),
]

interface Asked {
  readonly name: string
  readonly option: Option
}

/** Returns the option that expects a value, if any. */
function optionBefore({ options }: Command, word: string | undefined): Asked | undefined {
  const found = Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || (short && word === `-${short}`),
  )
  return found && found[1].type === 'string' ? { name: found[0], option: found[1] } : undefined
}

async function valuesOf(
  { name, option }: Asked,
  _command: Command,
  words: readonly string[],
): Promise<readonly string[]> {
  if (name === 'namespace') {
    return await withApi(words, async (api) => names(api, (await api.kinds()).one('namespaces'), undefined))
  }
  // The help of an option lists its values: `json, yaml or name`.
  const listed = name === 'output' || name === 'format' ? option.help.split(/, | or /) : []
  return listed.map((each) => each.replace(/PATH$/, ''))
}

/** Returns the positional arguments. */
function wordsOf(command: Command, words: readonly string[]): readonly string[] {
  return words.filter((word, i) => !word.startsWith('-') && !optionBefore(command, words[i - 1]))
}

async function objects(api: Api, what: string, before: readonly string[], last: string): Promise<readonly string[]> {
  const kinds = await api.kinds()
  const [word, start] = last.includes('/') ? last.split('/') : []
  if (word !== undefined) {
    return (await names(api, kinds.one(word), start)).map((name) => `${word}/${name}`)
  }
  if (what === 'objects' && before.length > 0 && !before[0]!.includes('/'))
    return await names(api, kinds.one(before[0]!), last)
  return startingWith(wordsFor(kinds), last)
}

/** Returns one word per kind, and the categories. */
function wordsFor(kinds: Kinds): readonly string[] {
  const readable = kinds.all.filter(({ verbs }) => verbs.includes('list'))
  const categories = readable.flatMap((kind) => kind.categories)
  return [...new Set([...readable.map(({ singular, resource }) => singular || resource), ...categories])].sort()
}

async function names(api: Api, kind: Kinds['all'][number], start = ''): Promise<readonly string[]> {
  const where = kind.namespaced ? { namespace: api.namespace } : {}
  const found = await listAll(api.client, kind, where)
  return startingWith(
    found.slice(0, NAMES_MAX).map(({ metadata }) => metadata.name!),
    start,
  )
}

/** Connects to the server of the command line. Errors are ignored: a completion must not print them. */
async function withApi(
  words: readonly string[],
  ask: (api: Api) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const value = (...options: readonly string[]) =>
    words[words.findIndex((word) => options.includes(word)) + 1 || words.length]
  const values = {
    kubeconfig: value('--kubeconfig'),
    context: value('--context'),
    namespace: value('-n', '--namespace'),
  }
  const silent = () => {}
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const progress = new Progress({ write: silent }, false)
  const input: Input = { values, words: [], given: new Set(), signal, out: silent, err: silent, paint: plain, progress }
  try {
    using api = await openApi(input)
    return await ask(api)
  } catch {
    return []
  }
}
