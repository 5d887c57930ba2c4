import { deepestCause, type Traced, traceClaim } from '@crosstie/resources'
import { accessOptions, openClient } from '../cli/access.js'
import { isCalled, parseObject, readTypes } from '../cli/kinds.js'
import { table } from '../cli/table.js'
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from '../command.js'

export const trace: Command = {
  name: 'trace',
  usage: 'crosstie trace KIND/NAME [--namespace NAME] [--kubeconfig FILE]',
  summary: 'Show what meets a claim, how far it is, and what it waits for.',
  options: {
    namespace: { type: 'string', value: 'NAME', help: 'Where the claim is', default: 'default' },
    ...accessOptions,
  },
  async run({ values, words, out }) {
    const { kind, name } = parseObject(words)
    using client = await openClient(values)
    const types = await readTypes(client)
    const type = types.find((each) => each.namespaced && isCalled(each, kind))
    if (!type) throw new UsageError(`the server has no kind of claim that is called '${kind}'`)
    const claim = await client.get(type, { namespace: String(values['namespace']), name })
    const tree = await traceClaim({ client, types }, claim)
    for (const line of render(tree)) out(line)
    return tree.ready === 'True' ? EXIT_OK : EXIT_FAILED
  },
}

/** The tree as a table, and the cause below it. */
export function render(tree: Traced): readonly string[] {
  const rows = [['NAME', 'PHASE', 'READY', 'WHY'], ...rowsOf(tree, '', '')]
  const lines = table(rows)
  const cause = deepestCause(tree)
  return cause ? [...lines, '', `Cause: ${nameOf(cause)}: ${cause.why}`] : lines
}

function rowsOf(node: Traced, first: string, rest: string): string[][] {
  const row = [`${first}${nameOf(node)}`, node.phase || '-', node.ready, shortened(node.why)]
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

const shortened = (text: string): string => (text.length > WHY_SHOWN ? `${text.slice(0, WHY_SHOWN - 1)}…` : text)
