import { sleep } from '@crosstie/controller'
import { isExpired, type KubeObject, since } from '@crosstie/kube'
import { type Drift, driftOf } from '@crosstie/resources'
import { type Command, EXIT_CHANGES, EXIT_OK, type Input, UsageError } from '../command.js'
import { type Api, accessOptions, openApi } from '../shared/access.js'
import type { Kinds, ServedKind } from '../shared/kinds.js'
import { listAll } from '../shared/objects.js'
import { encoded, objectName, outputOf, outputOptions } from '../shared/output.js'
import { table } from '../shared/table.js'
import { type Paint, shortened } from '../shared/terminal.js'

const formats = ['table', 'wide', 'json', 'yaml']

/** The command `crosstie drift`. */
export const drift: Command = {
  name: 'drift',
  usage: 'crosstie drift [KIND...] [--watch] [--corrected] [-o FORMAT]',
  summary: 'List resources that differ from their desired state, with the reason why.',
  details: `This is what the control plane saw when it last looked; 'crosstie plan --all' looks now. DECISION says
why a difference is left: NotAllowed by managementPolicies, Ignored by ignoreChanges, Immutable at the
provider, AwaitingApproval by a person, NotCorrected because the update sent no request, or UpdateLoop
because updates have no lasting effect.`,
  examples: [
    { does: 'All drift', line: 'crosstie drift' },
    { does: 'Drift of one kind, continuously', line: 'crosstie drift vpcs --watch' },
    { does: 'Include recently corrected drift', line: 'crosstie drift --corrected' },
  ],
  options: {
    watch: { type: 'boolean', short: 'w', help: 'Continue, and print every change' },
    corrected: { type: 'boolean', help: 'Include corrected differences' },
    ...outputOptions(...formats),
    ...accessOptions,
  },
  exits: { [EXIT_OK]: 'nothing differs', [EXIT_CHANGES]: 'something differs' },
  completes: 'kinds',
  async run(input) {
    const { values, words, progress } = input
    const { format } = outputOf(values, ...formats)
    using api = await openApi(input)
    const kinds = managedKinds(await api.kinds(), words)
    if (values['watch']) return await follow(input, api, kinds, format)
    const found = await progress.during('asking the server', () => readAll(input, api, kinds))
    const drifts = found.filter((each) => each.differs || values['corrected'])
    show(input, drifts, format)
    return found.some(({ differs }) => differs) ? EXIT_CHANGES : EXIT_OK
  },
}

/** Resolves words to managed kinds, since only those can drift. A word such as `role` may name other kinds too. */
function managedKinds(kinds: Kinds, words: readonly string[]): readonly ServedKind[] {
  const managed = kinds.within('managed')
  const asked = words.flatMap((word) => word.split(',')).filter(Boolean)
  return (asked.length > 0 ? asked : ['managed']).flatMap((word) => {
    if (word === 'managed' || managed.find(word)) return managed.some(word)
    const [other] = kinds.some(word)
    throw new UsageError(`${other!.kind} is not a managed kind and cannot drift: 'crosstie kinds managed' lists them`)
  })
}

async function readAll({ signal }: Input, { client }: Api, kinds: readonly ServedKind[]): Promise<readonly Drift[]> {
  const lists = await Promise.all(kinds.map((kind) => listAll(client, kind, { signal })))
  return lists.flat().flatMap((object) => driftOf(object) ?? [])
}

function show({ out, paint }: Input, drifts: readonly Drift[], format: string): void {
  if (format === 'json' || format === 'yaml') {
    out(encoded(format, { apiVersion: 'plan.crosstie.io/v1', kind: 'DriftList', items: drifts }))
  } else if (drifts.length === 0) out('No resource differs from its desired state.')
  else {
    const rows = drifts.map((each) => row(each, format === 'wide', paint))
    const heading = ['OBJECT', 'DECISION', 'SINCE', format === 'wide' ? 'DIFFERENCE' : 'FIELDS']
    for (const line of table([heading.map(paint.bold), ...rows])) out(line)
  }
}

const FIELDS_SHOWN = 60

function row(drift: Drift, wide: boolean, paint: Paint): readonly string[] {
  const lasting = since(drift.since, Date.now())
  const { fields, message, decision, differs } = drift
  const where = wide ? message : shortened(fields.join(', ') || message, FIELDS_SHOWN)
  return [labelOf(drift), (differs ? paint.yellow : paint.green)(decision), lasting, where]
}

const labelOf = ({ apiVersion, kind, name }: Drift): string =>
  objectName({ group: apiVersion.split('/')[0]!, version: '', kind, resource: '', namespaced: false }, name)

const RETRY_MS = 500

/** Prints current drift, and then every change until it is interrupted. */
async function follow(input: Input, api: Api, kinds: readonly ServedKind[], format: string): Promise<number> {
  const reported = new Map<string, string>()
  const tell = (object: KubeObject, gone: boolean) => {
    const uid = object.metadata.uid ?? ''
    const found = gone ? undefined : driftOf(object)
    const state = found ? `${found.decision} ${found.message}` : ''
    if ((reported.get(uid) ?? '') === state) return
    // Drift that was corrected before the start is not printed.
    const news = found?.differs || reported.has(uid)
    reported.set(uid, state)
    if (news) tellOf(input, object, found, format)
  }
  await Promise.all(kinds.map((kind) => followKind(input, api, kind, tell)))
  return EXIT_OK
}

function tellOf({ out, paint }: Input, object: KubeObject, found: Drift | undefined, format: string): void {
  const { apiVersion, kind, metadata } = object
  const inStep = { apiVersion, kind, name: metadata.name!, differs: false, decision: 'InStep', fields: [], message: '' }
  const drift: Drift = found ?? inStep
  if (format === 'json' || format === 'yaml') out(JSON.stringify(drift))
  else {
    const state = (drift.differs ? paint.yellow : paint.green)(drift.decision)
    out([new Date().toISOString(), labelOf(drift), state, drift.message].join('  ').trimEnd())
  }
}

async function followKind(
  { signal }: Input,
  { client }: Api,
  kind: ServedKind,
  tell: (object: KubeObject, gone: boolean) => void,
): Promise<void> {
  while (!signal.aborted) {
    const { items, metadata } = await client.list(kind, { signal })
    for (const object of items) tell(object, false)
    try {
      const { resourceVersion } = metadata
      for await (const event of client.watch(kind, { resourceVersion, signal })) {
        if (event.type !== 'BOOKMARK') tell(event.object, event.type === 'DELETED')
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isExpired(error)) throw error
    }
    // A delay, in case the server ends watches immediately.
    await sleep(RETRY_MS, signal)
  }
}
