import { apiVersionOf } from '@crosstie/kube'
import { type Command, EXIT_NOT_FOUND, EXIT_OK } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import type { ServedKind } from '../shared/kinds.js'
import { encoded, outputOf, outputOptions } from '../shared/output.js'
import { painted, table } from '../shared/table.js'

const formats = ['table', 'name', 'json', 'yaml']

/** The command `crosstie kinds`. */
export const kinds: Command = {
  name: 'kinds',
  usage: 'crosstie kinds [WORD] [-o FORMAT]',
  summary: 'List the kinds that the server serves.',
  details: 'WORD is a category such as managed, or a part of a name or group.',
  examples: [
    { does: 'All managed kinds', line: 'crosstie kinds managed' },
    { does: 'The kinds of a group', line: 'crosstie kinds sql' },
  ],
  options: { ...outputOptions(...formats), ...accessOptions },
  words: 1,
  async run(input) {
    const { values, words, out, paint } = input
    const { format } = outputOf(values, ...formats)
    using api = await openApi(input)
    const word = (words[0] ?? '').toLowerCase()
    const all = (await api.kinds()).all.filter((kind) => concerns(kind, word))
    if (all.length === 0) {
      input.err(
        `The server has no kind with '${words[0]}' in its name, group or categories. 'crosstie kinds' lists all.`,
      )
      return EXIT_NOT_FOUND
    }
    if (format === 'json' || format === 'yaml') out(encoded(format, all))
    else if (format === 'name') for (const kind of all) out(nameOf(kind))
    else for (const line of table(painted(paint, [HEADING, ...all.map(row)]))) out(line)
    return EXIT_OK
  },
}

const HEADING = ['NAME', 'SHORT', 'APIVERSION', 'NAMESPACED', 'KIND', 'CATEGORIES']

const row = (kind: ServedKind): readonly string[] => [
  kind.resource,
  kind.shortNames.join(','),
  apiVersionOf(kind),
  String(kind.namespaced),
  kind.kind,
  kind.categories.join(','),
]

const nameOf = ({ group, resource }: ServedKind): string => (group ? `${resource}.${group}` : resource)

function concerns(kind: ServedKind, word: string): boolean {
  if (word === '' || kind.categories.includes(word)) return true
  return [kind.resource, kind.kind.toLowerCase(), kind.group].some((name) => name.includes(word))
}
