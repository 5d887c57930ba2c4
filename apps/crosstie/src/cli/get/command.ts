import { ignoring, isNotFound, type KubeObject, type ListOptions, messageOf } from '@crosstie/kube'
import { type Command, EXIT_NOT_FOUND, EXIT_OK, type Input, textOf } from '../command.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import type { ServedKind, Target } from '../shared/kinds.js'
import { listAll, readTable, type ServerTable } from '../shared/objects.js'
import { encodedObjects, type Output, objectFormats, objectName, outputOf, outputOptions } from '../shared/output.js'
import { painted, table } from '../shared/table.js'
import { type Watched, watchChanges, watchFromNow } from './watch.js'

/** The command `crosstie get`. */
export const get: Command = {
  name: 'get',
  usage: 'crosstie get KIND [NAME...] | KIND/NAME... [-n NAMESPACE | -A] [-l LABELS] [-o FORMAT]',
  summary: 'Show objects as a table or in full.',
  details: 'KIND is a kind, several kinds separated by commas, or a category such as managed or claim.',
  examples: [
    { does: 'All managed resources', line: 'crosstie get managed' },
    { does: 'A claim, continuously', line: 'crosstie get postgresqlinstance/app --watch' },
    { does: 'One claim in full', line: 'crosstie get postgresqlinstance/app -o yaml' },
    { does: 'One field of it', line: "crosstie get postgresqlinstance/app -o jsonpath='{.status.bindingPhase}'" },
  ],
  options: {
    ...namespaceOptions,
    'all-namespaces': { type: 'boolean', short: 'A', help: 'In every namespace' },
    selector: { type: 'string', short: 'l', value: 'LABELS', help: 'Only objects with these labels, such as app=shop' },
    'field-selector': { type: 'string', value: 'FIELDS', help: 'Only objects with these fields' },
    headers: { type: 'boolean', help: 'The heading of the table', default: true },
    watch: { type: 'boolean', short: 'w', help: 'Continue, and show changes' },
    ...outputOptions(...objectFormats),
    ...accessOptions,
  },
  completes: 'objects',
  async run(input) {
    const output = outputOf(input.values, ...objectFormats)
    using api = await openApi(input)
    const isTable = output.format === 'table' || output.format === 'wide'
    const targets = await input.progress.during('asking the server', async () =>
      (await api.kinds()).targets(input.words),
    )
    const watched = input.values['watch']
      ? await Promise.all(targets.map((target) => watchFromNow(api, target.kind, asked(input, api, target))))
      : []
    const show = isTable ? showTables : showObjects
    const code = await input.progress.during('asking the server', () => show(input, api, targets, output))
    if (watched.length > 0 && code === EXIT_OK) await follow(input, api, watched, output)
    return code
  },
}

/** Returns the request for a target: one object, or the objects that match the options. */
function asked({ values, signal }: Input, api: Api, { kind, name }: Target): ListOptions & { readonly name?: string } {
  if (name) return { ...api.keyOf(kind, name), signal }
  const labelSelector = textOf(values, 'selector')
  const fieldSelector = textOf(values, 'field-selector')
  return {
    signal,
    ...(kind.namespaced && !values['all-namespaces'] ? { namespace: api.namespace } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  }
}

async function showObjects(input: Input, api: Api, targets: readonly Target[], output: Output): Promise<number> {
  const found: { kind: ServedKind; object: KubeObject }[] = []
  let missing = 0
  for (const target of targets) {
    const { kind, name } = target
    const options = asked(input, api, target)
    const objects = name
      ? await orMissing(input, api, target, () =>
          api.client.get(kind, { ...options, name }, options).then((one) => [one]),
        )
      : await listAll(api.client, kind, options)
    if (!objects) missing++
    found.push(...(objects ?? []).map((object) => ({ kind, object })))
  }
  const alone = targets.length === 1 && targets[0]!.name !== undefined
  if (output.format === 'name') {
    for (const { kind, object } of found) input.out(objectName(kind, object.metadata.name!))
  } else if (!alone || found.length > 0) {
    input.out(
      encodedObjects(
        output,
        found.map(({ object }) => object),
        alone,
      )!,
    )
  }
  return missing > 0 ? EXIT_NOT_FOUND : EXIT_OK
}

async function showTables(input: Input, api: Api, targets: readonly Target[], output: Output): Promise<number> {
  const { out, err, values, paint } = input
  const byKind = new Map<ServedKind, Target[]>()
  for (const target of targets) byKind.set(target.kind, [...(byKind.get(target.kind) ?? []), target])
  const tables: { kind: ServedKind; table: ServerTable }[] = []
  let missing = 0
  for (const [kind, wanted] of byKind) {
    const parts: ServerTable[] = []
    for (const target of wanted) {
      const part = await orMissing(input, api, target, () => readTable(api.client, kind, asked(input, api, target)))
      if (part) parts.push(part)
      else missing++
    }
    const rows = parts.flatMap((part) => part.rows)
    if (rows.length > 0) tables.push({ kind, table: { columns: parts[0]!.columns, rows } })
  }
  const everywhere = values['all-namespaces'] === true
  const prefixed = byKind.size > 1
  tables.forEach(({ kind, table: found }, i) => {
    if (i > 0) out('')
    const rows = rowsOf(found, { wide: output.format === 'wide', everywhere, prefix: prefixed ? kind : undefined })
    for (const line of table(painted(paint, rows)).slice(values['headers'] ? 0 : 1)) out(line)
  })
  if (tables.length === 0 && missing === 0) err(nothing(api, [...byKind.keys()], everywhere))
  return missing > 0 ? EXIT_NOT_FOUND : EXIT_OK
}

interface Look {
  readonly wide: boolean
  readonly everywhere: boolean
  /** The kind, if names alone would be ambiguous. */
  readonly prefix: ServedKind | undefined
}

function rowsOf({ columns, rows }: ServerTable, { wide, everywhere, prefix }: Look): readonly (readonly string[])[] {
  const shown = columns.map(({ priority }) => wide || priority === 0)
  const pick = (cells: readonly string[]) => cells.filter((_, i) => shown[i])
  const named = (cells: readonly string[]) => (prefix ? [objectName(prefix, cells[0]!), ...cells.slice(1)] : cells)
  return [
    [...(everywhere ? ['NAMESPACE'] : []), ...pick(columns.map(({ name }) => name.toUpperCase()))],
    ...rows.map(({ cells, namespace }) => [...(everywhere ? [namespace || '-'] : []), ...pick(named(cells))]),
  ]
}

/** Prints rows, names or objects as they change, until it is interrupted. */
async function follow(input: Input, api: Api, watched: readonly Watched[], output: Output): Promise<void> {
  const { out, signal, paint, values } = input
  const everywhere = values['all-namespaces'] === true
  const prefixed = watched.some(({ kind }) => kind !== watched[0]!.kind)
  const tell = (kind: ServedKind) => async (object: KubeObject, gone: boolean) => {
    const { name = '', namespace } = object.metadata
    const label = objectName(kind, name)
    const text = encodedObjects(output, [object], true)
    if (gone) out(`${label} deleted`)
    else if (text !== undefined) out(text)
    else if (output.format === 'name') out(label)
    else {
      const found = await readTable(api.client, kind, { name, ...(namespace ? { namespace } : {}) }).catch(
        ignoring(isNotFound),
      )
      const look = { wide: output.format === 'wide', everywhere, prefix: prefixed ? kind : undefined }
      if (found) out(table(painted(paint, rowsOf(found, look)))[1]!)
    }
  }
  await Promise.all(watched.map((each) => watchChanges(api, each, tell(each.kind), signal)))
}

function nothing(api: Api, kinds: readonly ServedKind[], everywhere: boolean): string {
  const what = kinds.length === 1 ? kinds[0]!.resource : 'such objects'
  const local = kinds.every(({ namespaced }) => namespaced) && !everywhere
  return `There are no ${what}${local ? ` in the namespace ${api.namespace}; -A looks in all` : ''}.`
}

/** Returns undefined and prints a message if the object does not exist. */
async function orMissing<T>(
  { err }: Input,
  api: Api,
  { kind, name = '' }: Target,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!isNotFound(error)) throw error
    err(`${messageOf(error)}${(await api.kinds()).namesakes(kind, name)}`)
    return undefined
  }
}
