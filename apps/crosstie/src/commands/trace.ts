import { resolve } from 'node:path'
import { findAccess, HttpClient } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { deepestCause, type Traced, traceClaim } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from '../command.js'

export const trace: Command = {
  name: 'trace',
  usage: 'crosstie trace KIND/NAME [--namespace NAME] [--kubeconfig FILE]',
  summary: 'Show what meets a claim, how far it is, and what it waits for.',
  options: {
    namespace: { type: 'string', value: 'NAME', help: 'Where the claim is', default: 'default' },
    kubeconfig: { type: 'string', value: 'FILE', help: 'How to reach the API (default $KUBECONFIG)' },
    context: { type: 'string', value: 'NAME', help: 'Which context of the kubeconfig (default its current one)' },
  },
  async run({ values, words, out }) {
    const { kind, name } = parseClaim(words)
    const text = (option: string) => (typeof values[option] === 'string' ? String(values[option]) : undefined)
    const file = text('kubeconfig')
    const access = await findAccess({ ...(file ? { file: resolve(file) } : {}), context: text('context') })
    using client = new HttpClient(access)
    const types = await readTypes(client)
    const type = types.find((each) => each.namespaced && isCalled(each, kind))
    if (!type) throw new UsageError(`the server has no kind of claim that is called '${kind}'`)
    const claim = await client.get(type, { namespace: text('namespace')!, name })
    const tree = await traceClaim({ client, types }, claim)
    for (const line of render(tree)) out(line)
    return tree.ready === 'True' ? EXIT_OK : EXIT_FAILED
  },
}

/** `mysqlinstance/sql` or `mysqlinstance sql`. */
function parseClaim(words: readonly string[]): { readonly kind: string; readonly name: string } {
  const [kind, name, ...more] = words.length === 1 ? words[0]!.split('/') : words
  if (!kind || !name || more.length > 0)
    throw new UsageError('which claim? Say it as KIND/NAME, such as mysqlinstance/sql')
  return { kind, name }
}

function isCalled({ kind, resource, group }: ResourceType, word: string): boolean {
  const asked = word.toLowerCase()
  const names = [kind.toLowerCase(), resource]
  return names.some((name) => asked === name || asked === `${name}.${group}`)
}

const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[]
  }
}

/** Every kind that was brought to the server, in the version that it is kept in. */
async function readTypes(client: Client): Promise<readonly ResourceType[]> {
  const { items } = await client.list<Definition>(DEFINITIONS)
  return items.map(({ spec: { group, scope, names, versions } }) => ({
    group,
    version: (versions.find(({ storage }) => storage) ?? versions[0]!).name,
    kind: names.kind,
    resource: names.plural,
    namespaced: scope === 'Namespaced',
  }))
}

/** The tree as a table, and the cause below it. */
export function render(tree: Traced): readonly string[] {
  const rows = [['NAME', 'PHASE', 'READY', 'WHY'], ...rowsOf(tree, '', '')]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i < 3 ? cell.padEnd(widths[i]! + 2) : cell))
      .join('')
      .trimEnd(),
  )
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
