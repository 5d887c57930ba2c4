import { encodeYaml } from '@crosstie/apiserver/yaml'
import {
  conditionsOf,
  groupKind,
  isNotFound,
  isObject,
  type Json,
  type KubeObject,
  parseApiVersion,
  StatusError,
  since,
} from '@crosstie/kube'
import { annotations, isPaused } from '@crosstie/resources'
import { eventRow, readEvents } from '../events/events.js'
import type { Api } from '../shared/access.js'
import type { Kinds } from '../shared/kinds.js'
import { painted, table } from '../shared/table.js'
import { oneLine, type Paint, paintState } from '../shared/terminal.js'

/** Returns a description of an object for people. It does not contain secrets. */
export async function describeObject(api: Api, kinds: Kinds, object: KubeObject, paint: Paint): Promise<string[]> {
  const events = await readEvents(api.client, object).catch(orNothing)
  const { spec, status, data: _, stringData: __, binaryData: ___, ...others } = object
  const { conditions: ____, ...rest } = (status ?? {}) as Record<string, unknown>
  const { apiVersion: _a, kind: _k, metadata: _m, ...fields } = others
  return [
    ...heading(object, paint),
    ...section('Conditions', conditionLines(object, paint), paint),
    ...section('Drift', driftLines(object, paint), paint),
    ...section('References', await referenceLines(api, kinds, object, paint), paint),
    ...section('Data', dataLines(object), paint),
    ...section('Spec', yamlLines(spec), paint),
    ...section('Status', yamlLines(rest), paint),
    ...section('Other fields', yamlLines(fields), paint),
    ...section('Events', eventLines(events, paint), paint),
  ]
}

const section = (title: string, lines: readonly string[], { bold }: Paint): string[] =>
  lines.length === 0 ? [] : ['', bold(`${title}:`), ...lines.map((line) => `  ${line}`)]

/** Ignores a missing permission to read related objects. */
function orNothing(error: unknown): [] {
  if (error instanceof StatusError && (error.code === 403 || error.code === 404)) return []
  throw error
}

/** Annotations that the control plane maintains, and copies of the whole object. */
const DULL_ANNOTATIONS: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  annotations.appliedKeys,
  annotations.secretRevisions,
]

function isWorthShowing(object: KubeObject, annotation: string): boolean {
  const synced = () => conditionsOf(object).some(({ type, status }) => type === 'Synced' && status === 'True')
  // The annotation about a started creation is shown until the creation is known to have succeeded.
  return !DULL_ANNOTATIONS.includes(annotation) && !(annotation === annotations.creating && synced())
}

function heading(object: KubeObject, paint: Paint): string[] {
  const { metadata, apiVersion, kind } = object
  const group = parseApiVersion(apiVersion)?.group ?? ''
  const notes = Object.entries(metadata.annotations ?? {}).filter(([name]) => isWorthShowing(object, name))
  const pairs = (entries: readonly [string, string][]) => entries.map(([name, value]) => `${name}=${value}`)
  const owners = (metadata.ownerReferences ?? []).map((owner) => `${owner.kind}/${owner.name}`)
  const deleted = metadata.deletionTimestamp
  const held = metadata.finalizers?.join(', ')
  const rows: [string, readonly string[]][] = [
    ['Name', [metadata.name ?? '']],
    ['Namespace', metadata.namespace ? [metadata.namespace] : []],
    ['Kind', [groupKind({ group, kind })]],
    ['Created', [`${since(metadata.creationTimestamp, Date.now())} ago`]],
    ['Deleted', deleted ? [paint.red(`${since(deleted, Date.now())} ago, held by ${held || 'no finalizer'}`)] : []],
    ['Paused', isPaused(object) ? [paint.yellow('yes')] : []],
    ['Owned by', owners],
    ['Labels', pairs(Object.entries(metadata.labels ?? {}))],
    ['Annotations', pairs(notes)],
  ]
  return rows
    .filter(([, values]) => values.length > 0)
    .flatMap(([name, values]) => values.map((value, i) => `${(i === 0 ? `${name}:` : '').padEnd(14)}${oneLine(value)}`))
}

function conditionLines(object: KubeObject, paint: Paint): readonly string[] {
  const rows = conditionsOf(object).map(({ type, status, reason, lastTransitionTime, message = '' }) => {
    // Drift is the only condition that is good if it is False.
    const good =
      type === 'Drifted' ? paintState(paint, status === 'True' ? 'False' : 'True') : paintState(paint, status)
    const shown = type === 'Drifted' ? good.replace(/True|False/, status) : good
    return [type, shown, reason, since(lastTransitionTime, Date.now()), message]
  })
  if (rows.length === 0) return []
  return table([['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'].map(paint.bold), ...rows])
}

/** Returns the kind of a reference, from the reference itself or from its field name. */
function typeOf(kinds: Kinds, { apiVersion }: KubeObject, { path, kind, apiVersion: given }: Reference) {
  if (kind) return kinds.ofAnyVersion({ kind, apiVersion: given ?? apiVersion })
  if (/Secrets?(To)?Ref$/.test(path)) return kinds.of({ apiVersion: 'v1', kind: 'Secret' })
  if (!path.endsWith('providerConfigRef')) return undefined
  // One configuration serves all groups of a provider: sql.example.org serves groups with this suffix.
  const group = parseApiVersion(apiVersion)?.group ?? ''
  return kinds.all.find((each) => each.kind === 'ProviderConfig' && `.${group}`.endsWith(`.${each.group}`))
}

const driftMeanings: Readonly<Record<string, string>> = {
  NotAllowed: 'the management policies do not allow an update',
  Immutable: 'the field cannot be changed at the provider',
  Ignored: 'ignoreChanges contains the field',
  NotCorrected: 'the update sent no request to the provider',
  UpdateLoop: 'updates have no lasting effect',
}

function driftLines(object: KubeObject, paint: Paint): readonly string[] {
  const drifted = conditionsOf(object).find(({ type, status }) => type === 'Drifted' && status === 'True')
  if (!drifted) return []
  const why = driftMeanings[drifted.reason] ?? drifted.reason
  return [
    paint.yellow(`The external resource differs and is not corrected: ${why}.`),
    ...(drifted.message ?? '').split('; '),
  ]
}

interface Reference {
  readonly path: string
  readonly apiVersion?: string
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
}

/** Returns all references in a spec: `<field>Ref` and `<field>Refs`. */
function referencesIn(value: unknown, path: string): readonly Reference[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => referencesIn(item, `${path}[${i}]`))
  if (!isObject(value)) return []
  const here = /Refs?(\[\d+\])?$/.test(path) && typeof value['name'] === 'string' && value['name'] !== ''
  if (here) return [{ ...value, path, name: value['name'] as string }]
  return Object.entries(value).flatMap(([name, inner]) => referencesIn(inner, path ? `${path}.${name}` : name))
}

async function referenceLines(api: Api, kinds: Kinds, object: KubeObject, paint: Paint): Promise<readonly string[]> {
  const references = referencesIn(object['spec'], '')
  if (references.length === 0) return []
  const rows = await Promise.all(
    references.map(async (reference) => {
      const { path, name, namespace } = reference
      const type = typeOf(kinds, object, reference)
      const kind = reference.kind ?? type?.kind
      const where = namespace ?? (type?.namespaced ? (object.metadata.namespace ?? 'default') : undefined)
      const state = type ? await stateOf(api, type, { name, ...(where ? { namespace: where } : {}) }) : ''
      return [path, `${kind ? `${kind} ` : ''}${where ? `${where}/` : ''}${name}`, state]
    }),
  )
  return table(painted(paint, [['FIELD', 'OBJECT', 'STATE'], ...rows]))
}

async function stateOf(api: Api, type: Parameters<Api['client']['get']>[0], key: { name: string; namespace?: string }) {
  try {
    const found = await api.client.get(type, type.namespaced ? key : { name: key.name })
    const ready = conditionsOf(found).find(({ type: what }) => what === 'Ready')
    return ready ? (ready.status === 'True' ? 'Ready' : `not ready: ${ready.message ?? ready.reason}`) : 'there'
  } catch (error) {
    if (isNotFound(error)) return 'not there'
    return orNothing(error).join('') || 'unknown'
  }
}

/** Prints data. Secrets show only their keys, ConfigMaps the first line of each value. */
function dataLines(object: KubeObject): readonly string[] {
  const secret = object.kind === 'Secret' && object.apiVersion === 'v1'
  const data = (isObject(object['data']) ? object['data'] : {}) as Record<string, unknown>
  return table(
    Object.entries(data).map(([key, value]) => {
      const text = String(value)
      const bytes = secret ? Buffer.from(text, 'base64').length : Buffer.byteLength(text)
      return [key, secret ? `•••••••• (${bytes} bytes)` : text.includes('\n') ? `(${bytes} bytes)` : text]
    }),
  )
}

function yamlLines(value: unknown): readonly string[] {
  if (!isObject(value) || Object.keys(value).length === 0) return []
  return encodeYaml(value as Json)
    .trimEnd()
    .split('\n')
}

function eventLines(events: Awaited<ReturnType<typeof readEvents>>, paint: Paint): readonly string[] {
  if (events.length === 0) return []
  const rows = events
    .map((event) => eventRow(event, paint))
    .map(([age, type, reason, , message]) => [age!, type!, reason!, message!])
  return table([['LAST SEEN', 'TYPE', 'REASON', 'MESSAGE'].map(paint.bold), ...rows])
}
