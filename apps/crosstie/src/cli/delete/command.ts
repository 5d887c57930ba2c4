import { isNotFound, type KubeObject, messageOf } from '@crosstie/kube'
import { inOrder } from '../apply/apply.js'
import {
  type Command,
  EXIT_NOT_FOUND,
  EXIT_OK,
  EXIT_TIMEOUT,
  type Input,
  textOf,
  textsOf,
  UsageError,
} from '../command.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { durationOf } from '../shared/duration.js'
import type { ServedKind } from '../shared/kinds.js'
import { readManifests } from '../shared/manifests.js'
import { listAll } from '../shared/objects.js'
import { objectName } from '../shared/output.js'
import { parseAim, statesOf } from '../wait/wait.js'

const cascades: Readonly<Record<string, 'Background' | 'Foreground' | 'Orphan'>> = {
  background: 'Background',
  foreground: 'Foreground',
  orphan: 'Orphan',
}

/** The command `crosstie delete`. */
export const remove: Command = {
  name: 'delete',
  usage: 'crosstie delete KIND/NAME... | KIND (-l LABELS | --all) | -f FILE',
  summary: 'Delete objects, and wait until they are gone.',
  details: `The deletion policy of a managed resource determines whether its external resource is deleted too.\nCtrl-C ends the wait, not the deletion.`,
  examples: [
    { does: 'A claim and its resources', line: 'crosstie delete postgresqlinstance/app' },
    { does: 'All objects of a folder', line: 'crosstie delete -f examples/private-database' },
  ],
  options: {
    filename: { type: 'string', short: 'f', multiple: true, value: 'FILE', help: 'A file, a folder, or -' },
    selector: { type: 'string', short: 'l', value: 'LABELS', help: 'Objects of the kind with these labels' },
    all: { type: 'boolean', help: 'All objects of the kind' },
    ...namespaceOptions,
    wait: { type: 'boolean', help: 'Wait until the objects are gone', default: true },
    timeout: { type: 'string', value: 'DURATION', help: 'How long to wait', default: '5m' },
    cascade: { type: 'string', value: 'HOW', help: 'background, foreground or orphan: the treatment of dependents' },
    'ignore-not-found': { type: 'boolean', help: 'Ignore objects that do not exist' },
    'dry-run': { type: 'boolean', help: 'Validate on the server without deleting anything' },
    ...accessOptions,
  },
  exits: { 3: 'an object did not exist', 4: 'the deletion did not finish within the timeout' },
  completes: 'objects',
  async run(input) {
    const { values, out, err, progress } = input
    const cascade = textOf(values, 'cascade')
    if (cascade && !Object.hasOwn(cascades, cascade)) {
      throw new UsageError(`--cascade takes background, foreground or orphan, not '${cascade}'`)
    }
    const dryRun = values['dry-run'] === true
    const timeoutMs = durationOf('--timeout', String(values['timeout']))
    using api = await openApi(input)
    const doomed = await found(input, api)
    let missing = 0
    const going: Doomed[] = []
    for (const each of doomed) {
      const propagationPolicy = cascade ? cascades[cascade] : undefined
      try {
        await api.client.delete(each.kind, each.key, { dryRun, signal: input.signal, propagationPolicy })
        going.push(each)
      } catch (error) {
        if (!isNotFound(error)) throw error
        if (values['ignore-not-found']) continue
        missing++
        err(messageOf(error))
      }
    }
    if (dryRun) for (const each of going) out(`${nameOf(each)} would be deleted (dry run)`)
    else if (!values['wait']) for (const each of going) out(`${nameOf(each)} is being deleted`)
    else if (!(await allGone(input, api, going, timeoutMs))) {
      progress.stop()
      err(`Finalizers delay the deletion; 'crosstie describe' shows them. Use --timeout to wait longer.`)
      return EXIT_TIMEOUT
    }
    return missing > 0 ? EXIT_NOT_FOUND : EXIT_OK
  },
}

interface Doomed {
  readonly kind: ServedKind
  readonly key: { readonly name: string; readonly namespace?: string }
}

const nameOf = ({ kind, key }: Doomed): string => objectName(kind, key.name)

async function found({ values, words, signal }: Input, api: Api): Promise<readonly Doomed[]> {
  const files = textsOf(values, 'filename')
  const kinds = await api.kinds()
  if (files.length > 0) {
    if (words.length > 0) throw new UsageError('name objects or files, not both')
    // Dependencies are deleted last.
    return inOrder(await readManifests(files))
      .toReversed()
      .flatMap(({ object }) => {
        const kind = kinds.of(object)
        return kind ? [{ kind, key: keyIn(api, kind, object) }] : []
      })
  }
  const targets = kinds.targets(words)
  const labelSelector = textOf(values, 'selector')
  const lists = targets.map(async ({ kind, name }): Promise<readonly Doomed[]> => {
    if (name) return [{ kind, key: api.keyOf(kind, name) }]
    if (!labelSelector && !values['all']) throw new UsageError(`name the ${kind.resource}, or use -l LABELS or --all`)
    const where = kind.namespaced ? { namespace: api.namespace } : {}
    const objects = await listAll(api.client, kind, { ...where, labelSelector, signal })
    return objects.map((object) => ({ kind, key: keyIn(api, kind, object) }))
  })
  return (await Promise.all(lists)).flat()
}

function keyIn(api: Api, kind: ServedKind, { metadata: { name = '', namespace } }: KubeObject): Doomed['key'] {
  return kind.namespaced ? { name, namespace: namespace ?? api.namespace } : { name }
}

const aim = parseAim('delete')

/** Returns false if the timeout expired before. The remaining objects were printed. */
async function allGone(input: Input, api: Api, going: readonly Doomed[], timeoutMs: number): Promise<boolean> {
  const { out, err, progress, signal } = input
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  let left = going.length
  const gone = await Promise.all(
    going.map(async (each) => {
      let state = 'the server did not answer in time'
      try {
        for await (const object of statesOf(api, each.kind, each.key, over)) {
          if (aim.reached(object)) {
            left--
            out(`${nameOf(each)} deleted`)
            return true
          }
          state = aim.state(object)
          progress.say(`waiting for ${left} to go: ${nameOf(each)}: ${state}`)
        }
      } catch (error) {
        if (!over.aborted) throw error
      }
      signal.throwIfAborted()
      err(`${nameOf(each)}: ${state}`)
      return false
    }),
  )
  return gone.every(Boolean)
}
