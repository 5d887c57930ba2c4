import type { KubeObject } from '@crosstie/kube'
import { annotations, isPaused, type Traced, traceClaim } from '@crosstie/resources'
import { type Command, EXIT_OK, type Input } from '../command.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import type { Kinds, ServedKind } from '../shared/kinds.js'
import { listAll } from '../shared/objects.js'
import { objectName } from '../shared/output.js'

const options: Command['options'] = {
  'with-parts': { type: 'boolean', help: 'Include all resources of a claim or an aggregate' },
  ...namespaceOptions,
  ...accessOptions,
}

/** The command `crosstie pause`. */
export const pause: Command = {
  name: 'pause',
  usage: 'crosstie pause KIND/NAME... [--with-parts]',
  summary: 'Stop reconciling objects until they are resumed.',
  details: `Sets the annotation ${annotations.paused}. Paused objects are not observed, created, changed or deleted.`,
  examples: [
    { does: 'A claim and all its resources', line: 'crosstie pause postgresqlinstance/app --with-parts' },
    { does: 'All managed resources', line: 'crosstie pause managed' },
  ],
  options,
  completes: 'objects',
  run: (input) => mark(input, true),
}

/** The command `crosstie resume`. */
export const resume: Command = {
  name: 'resume',
  usage: 'crosstie resume KIND/NAME... [--with-parts]',
  summary: 'Reconcile paused objects again.',
  details: `Removes the annotation ${annotations.paused}.`,
  examples: [{ does: 'All managed resources', line: 'crosstie resume managed' }],
  options,
  completes: 'objects',
  run: (input) => mark(input, false),
}

interface Marked {
  readonly kind: ServedKind
  readonly object: KubeObject
}

async function mark(input: Input, paused: boolean): Promise<number> {
  const { words, out, progress } = input
  using api = await openApi(input)
  const kinds = await api.kinds()
  const all = await progress.during('finding the objects', () => chosen(input, api, kinds))
  for (const { kind, object } of all) {
    const { name = '', namespace } = object.metadata
    const label = objectName(kind, name)
    if (isPaused(object) === paused) {
      out(`${label} ${paused ? 'is paused already' : 'is not paused'}`)
      continue
    }
    const patch = { metadata: { annotations: { [annotations.paused]: paused ? 'true' : null } } }
    await api.client.patch(kind, { name, ...(namespace ? { namespace } : {}) }, { type: 'merge', patch })
    out(`${label} ${paused ? 'paused' : 'resumed'}`)
  }
  if (all.length === 0) out(`No object to ${paused ? 'pause' : 'resume'} was found.`)
  if (paused && all.length > 0) out(`Resume them with: crosstie resume ${words.join(' ')}${withParts(input)}`)
  return EXIT_OK
}

const withParts = ({ values }: Input): string => (values['with-parts'] ? ' --with-parts' : '')

async function chosen(input: Input, api: Api, kinds: Kinds): Promise<readonly Marked[]> {
  const { values, words, signal } = input
  const found: Marked[] = []
  for (const { kind, name } of kinds.targets(words)) {
    const where = kind.namespaced ? { namespace: api.namespace } : {}
    const objects = name
      ? [await api.client.get(kind, api.keyOf(kind, name), { signal })]
      : await listAll(api.client, kind, { ...where, signal })
    for (const object of objects) {
      found.push({ kind, object })
      if (values['with-parts']) found.push(...(await partsOf(api, kinds, object)))
    }
  }
  return found
}

async function partsOf({ client }: Api, kinds: Kinds, object: KubeObject): Promise<readonly Marked[]> {
  const tree = await traceClaim({ client, types: kinds.all }, object)
  const below = (node: Traced): readonly Traced[] => node.children.flatMap((child) => [child, ...below(child)])
  const parts: Marked[] = []
  for (const { reference } of below(tree)) {
    const kind = kinds.ofAnyVersion(reference)
    const { name, namespace } = reference
    if (!kind || !name) continue
    const part = await client.get(kind, { name, ...(namespace ? { namespace } : {}) })
    parts.push({ kind, object: part })
  }
  return parts
}
