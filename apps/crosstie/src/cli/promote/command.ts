import { sleep } from '@crosstie/controller'
import { conditionsOf, ignoring, isNotFound, type KubeObject, nameOf, stringify } from '@crosstie/kube'
import { annotations } from '@crosstie/resources'
import { inParallel } from '../../daemon/parallel.js'
import { providerOptions } from '../../daemon/providers.js'
import { type Command, EXIT_FAILED, EXIT_OK, type Input, textOf, textsOf, UsageError } from '../command.js'
import { asYaml, counted, type Destination, destinationOf, writeManifests } from '../discover/imports.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { durationOf } from '../shared/duration.js'
import { readManifests } from '../shared/manifests.js'
import { encoded, objectName } from '../shared/output.js'
import { checkLocalOptions, localOption } from '../shared/requests.js'
import { type Promoted, promoteByRequest, promoteHere, type Subject } from './promoting.js'

const POLICIES = ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize', '*']
const AT_ONCE = 4
/** The objects of one request to the control plane. */
const GROUP_SIZE = 16
const LOOK_MS = 250

/** The command `crosstie promote`. */
export const promote: Command = {
  name: 'promote',
  usage: 'crosstie promote KIND/NAME... | -f FILE|FOLDER [--dry-run] [--policies LIST]',
  summary: 'Manage observed resources. External resources only get ownership tags.',
  details: `Copies the observed values into spec.forProvider, has the control plane plan the result, and changes the object only
when the plan leaves the external resource as it is. The one exception are missing ownership tags (crossplane-kind,
crossplane-name, ...): the controllers add them, and the output shows them. An object with any other difference is
refused, and the difference is shown. Each object is changed by one write, so an interrupted run can be repeated. Objects
that are managed already stay as they are. With --local this process plans, with the providers of --providers and the
credentials that it finds here.`,
  examples: [
    { does: 'Show what would change', line: 'crosstie promote vpc/main --dry-run' },
    { does: 'All discovered resources', line: 'crosstie promote -f imported/' },
    {
      does: 'Manage it, but never delete it',
      line: 'crosstie promote vpc/main --policies Observe,Create,Update,LateInitialize',
    },
  ],
  options: {
    filename: { type: 'string', short: 'f', multiple: true, value: 'FILE', help: 'The objects of a file or a folder' },
    'dry-run': { type: 'boolean', help: 'Show changes without performing them' },
    policies: { type: 'string', value: 'LIST', help: 'The management policies from now on', default: '*' },
    timeout: {
      type: 'string',
      value: 'DURATION',
      help: 'How long to wait until the resource is observed',
      default: '60s',
    },
    output: {
      type: 'string',
      short: 'o',
      value: 'WHERE',
      help: 'The changes, json, the new manifests as yaml, or a path: a file.yaml or a folder/',
      default: 'table',
    },
    force: { type: 'boolean', help: 'Overwrite files with different content' },
    ...namespaceOptions,
    ...localOption,
    ...providerOptions,
    ...accessOptions,
  },
  exits: { 1: 'at least one object was rejected; the others are promoted' },
  completes: 'objects',
  async run(input) {
    const { values, signal, progress, out, err } = input
    const where = destinationOf(textOf(values, 'output'))
    const policies = policiesOf(String(values['policies']))
    const dryRun = values['dry-run'] === true
    const patienceMs = durationOf('--timeout', String(values['timeout']))
    checkLocalOptions(input, ['providers'])
    using api = await openApi(input)
    const subjects = await subjectsOf(input, api)
    const how = { policies, dryRun }
    const promoteSome =
      values['local'] === true ? await promoteHere(input, api, how) : promoteByRequest(input, api, how)
    const results = await inParallel(groupsOf(subjects, GROUP_SIZE), AT_ONCE, async (group) => {
      progress.say(`promoting ${group[0]!.name}`)
      await Promise.all(group.map((subject) => untilObserved(api, subject, patienceMs, signal)))
      const promotions = await promoteSome(group)
      if (where.to === 'table') for (const promotion of promotions) report(input, promotion)
      return promotions
    })
    const done = results.flat()
    progress.stop()
    await show(input, where, done)
    const count = (outcome: Promoted['outcome']) => done.filter((each) => each.outcome === outcome).length
    const verb = dryRun ? `${count('ready')} would be promoted` : `${count('promoted')} promoted`
    // Output for programs contains only data.
    const say = where.to === 'json' || where.to === 'yaml' ? err : out
    say(`${verb}, ${count('already')} managed already, ${count('refused')} refused.`)
    return count('refused') > 0 ? EXIT_FAILED : EXIT_OK
  },
}

const groupsOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

function policiesOf(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !POLICIES.includes(name))
  if (unknown !== undefined) throw new UsageError(`unknown policy '${unknown}': choose from ${POLICIES.join(', ')}`)
  return [...new Set(names)]
}

async function subjectsOf({ values, words }: Input, api: Api): Promise<readonly Subject[]> {
  const files = textsOf(values, 'filename')
  if (files.length === 0 && words.length === 0) throw new UsageError('name objects as KIND/NAME or with -f FILE')
  const kinds = await api.kinds()
  const managed = kinds.within('managed')
  const named = words.map((word) => {
    const [kind = '', name = '', ...more] = word.split('/')
    if (!kind || !name || more.length > 0) throw new UsageError(`'${word}' is not KIND/NAME, such as vpc/main`)
    return { type: managed.one(kind), name }
  })
  const written = files.length === 0 ? [] : await readManifests(files)
  return [
    ...named,
    ...written.map(({ object, source }) => {
      const type = managed.ofAnyVersion(object)
      if (!type)
        throw new UsageError(`${source}: ${object.kind} of ${object.apiVersion} is not a managed kind of the server`)
      return { type, name: nameOf(object) }
    }),
  ]
}

/** Waits until an object is observed. An object that cannot be observed in time is rejected. */
async function untilObserved(
  { client }: Api,
  { type, name }: Subject,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const object = await client.get(type, { name }, { signal }).catch(ignoring(isNotFound))
    if (!object) return
    const synced = conditionsOf(object).find((condition) => condition.type === 'Synced')
    if (synced?.observedGeneration === object.metadata.generation || Date.now() > deadline) return
    await sleep(LOOK_MS, signal)
    signal.throwIfAborted()
  }
}

function report({ out, paint }: Input, { type, name, outcome, because, changes, tags = [] }: Promoted): void {
  const label = objectName(type, name)
  if (outcome === 'already') {
    out(`${label} is managed already`)
    return
  }
  if (outcome === 'refused') {
    out(`${label} ${paint.red('refused')}: ${because}`)
    return
  }
  out(`${label} ${outcome === 'ready' ? 'would be promoted' : paint.green('promoted')}`)
  for (const { path, from, to } of changes) {
    const sign = from === undefined ? '+' : to === undefined ? '-' : '~'
    const values = [from, to].filter((value) => value !== undefined).map((value) => stringify(value))
    out(`  ${sign} spec.${path}: ${values.join(' → ')}`)
  }
  for (const { path, to } of tags) out(`  + external resource ${path}: ${stringify(to)}`)
}

async function show({ values, out, err, paint }: Input, where: Destination, done: readonly Promoted[]): Promise<void> {
  if (where.to === 'table') return
  if (where.to === 'json') {
    out(encoded('json', { resources: done.map(forPrograms) }))
    return
  }
  for (const { type, name, outcome, because } of done) {
    if (outcome === 'refused') err(`${objectName(type, name)} ${paint.red('refused')}: ${because}`)
  }
  const manifests = done.flatMap(({ object }) => (object ? [manifestOf(object)] : []))
  if ('path' in where) {
    const files = await writeManifests(where, manifests, values['force'] === true)
    out(`${where.path}: ${counted(files, 'file')} with ${counted(manifests.length, 'manifest')}`)
  } else if (manifests.length > 0) out(asYaml(manifests).trimEnd())
}

/** Returns the manifest of an object: its desired state and its external name. */
function manifestOf({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const { name, labels, annotations: notes = {} } = metadata
  const kept = Object.entries(notes).filter(([key]) => key === annotations.externalName)
  const stated = { name: name!, ...(labels ? { labels } : {}), annotations: Object.fromEntries(kept) }
  const { deletionPolicy, ...rest } = spec as { deletionPolicy?: string }
  return { apiVersion, kind, metadata: stated, spec: deletionPolicy === 'Delete' ? rest : { deletionPolicy, ...rest } }
}

function forPrograms({ type, name, outcome, because, changes, tags, plan }: Promoted) {
  const { group, version, kind } = type
  const promotion = { group, version, kind, name, outcome, because, changes }
  return { ...promotion, ...(tags ? { tags } : {}), ...(plan ? { plan } : {}) }
}
