import { deepestCause, type Traced, traceClaim } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from '../command.js'
import { accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { isBuiltIn } from '../shared/kinds.js'
import { encoded, outputOf, outputOptions } from '../shared/output.js'
import { painted, table } from '../shared/table.js'
import { oneLine, type Paint, plain, shortened } from '../shared/terminal.js'

const formats = ['tree', 'json', 'yaml']

/** The command `crosstie trace`. */
export const trace: Command = {
  name: 'trace',
  usage: 'crosstie trace KIND/NAME [-n NAMESPACE] [-o FORMAT]',
  summary: 'Show the resources of a claim, their state, and what they wait for.',
  details: 'Starts at a claim, an aggregate or a managed resource.',
  examples: [{ does: 'Why is my database not ready?', line: 'crosstie trace postgresqlinstance/app' }],
  options: { ...namespaceOptions, ...outputOptions(...formats), ...accessOptions },
  exits: { 0: 'all resources are ready', 1: 'some resources are not ready' },
  completes: 'objects',
  async run(input) {
    const { format } = outputOf(input.values, ...formats)
    using api = await openApi(input)
    const { client } = api
    const tree = await input.progress.during('following references', async () => {
      const kinds = await api.kinds()
      const { kind, name } = kinds.target(input.words)
      if (isBuiltIn(kind.group)) {
        const object = `${kind.singular}/${name}`
        throw new UsageError(
          `${object} is met by nothing: name a claim, an aggregate or a managed resource, or see 'crosstie describe ${object}'`,
        )
      }
      return await traceClaim({ client, types: kinds.all }, await client.get(kind, api.keyOf(kind, name)))
    })
    if (format === 'tree') for (const line of render(tree, input.paint)) input.out(line)
    else input.out(encoded(format, tree))
    return tree.ready === 'True' ? EXIT_OK : EXIT_FAILED
  },
}

/** Formats the tree as a table, with the cause below it. */
export function render(tree: Traced, paint: Paint = plain): readonly string[] {
  const rows = [['NAME', 'CLASS', 'PHASE', 'READY', 'WHY'], ...rowsOf(tree, '', '')]
  const lines = table(painted(paint, rows))
  const cause = deepestCause(tree)
  return cause ? [...lines, '', `${paint.bold('Cause:')} ${nameOf(cause)}: ${oneLine(cause.why)}`] : lines
}

function rowsOf(node: Traced, first: string, rest: string): string[][] {
  const why = shortened(node.why, WHY_SHOWN)
  const row = [`${first}${nameOf(node)}`, node.className || '-', node.phase || '-', node.ready, why]
  const below = [...node.children, ...node.waitsFor.map((each) => ({ ...each, phase: 'referred to' }))]
  const children = below.flatMap((child, i) => {
    const last = i === below.length - 1
    return rowsOf(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`)
  })
  return [row, ...children]
}

const nameOf = ({ reference: { kind, namespace, name } }: Traced): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`

const WHY_SHOWN = 100
