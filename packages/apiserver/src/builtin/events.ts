import { append, equal, type FieldError, fieldErrors, type KubeObject, since } from '@crosstie/kube'
import type { Column, Definition, WriteContext } from '../definitions/definition.js'
import { decodeTyped } from '../gotypes/typed.js'
import { column } from './columns.js'
import { immutable } from './core.js'
import { defineKind, type KindStrategy } from './kind.js'
import { dnsSubdomainErrors, qualifiedName } from './names.js'

const CORE = 'io.k8s.api.core.v1.Event'
const EVENTS = 'io.k8s.api.events.v1.Event'
const EVENTS_GROUP = 'events.k8s.io'

/** The fields of a core event that rules and columns read. */
interface Event extends KubeObject {
  readonly involvedObject: Reference
  readonly reason?: string
  readonly message?: string
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly count?: number
  readonly type?: string
  readonly eventTime?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null }
  readonly action?: string
  readonly related?: Reference
  readonly reportingComponent?: string
  readonly reportingInstance?: string
}

interface Reference {
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** Field names of the two groups. The name in the core group comes first. */
const renamed = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const

/** Converts an event to the core group, in which events are stored. */
function toCoreEvent(event: KubeObject): KubeObject {
  return rename(event, 'v1', CORE, (core, other) => [other, core])
}

/** Converts a core event to events.k8s.io. */
function fromCoreEvent(event: KubeObject): KubeObject {
  return rename(event, `${EVENTS_GROUP}/v1`, EVENTS, (core, other) => [core, other])
}

function rename(
  event: KubeObject,
  apiVersion: string,
  model: string,
  pair: (core: string, other: string) => readonly [string, string],
): KubeObject {
  const result: Record<string, unknown> = { ...event, apiVersion }
  for (const [core, other] of renamed) {
    const [from, to] = pair(core, other)
    if (from in result) result[to] = result[from]
    delete result[from]
  }
  return decodeTyped(model, result, false).object as unknown as KubeObject
}

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const sourceOf = (event: KubeObject): string => {
  const { source, reportingComponent } = event as Event
  return source?.component || reportingComponent || ''
}

const strategy = (toCore: (event: KubeObject) => KubeObject): KindStrategy => ({
  generation: 'never',
  unconditionalUpdate: true,
  createOnUpdate: true,
  nameRule: 'pathSegment',
  validate: (event, old, context) => eventErrors(toCore(event) as Event, old && (toCore(old) as Event), context),
})

/** Event, core/v1. */
export function coreEventKind(): Definition {
  return defineKind({
    group: '',
    kind: 'Event',
    plural: 'events',
    model: CORE,
    namespaced: true,
    shortNames: ['ev'],
    columns: columnsFor((event) => event as Event),
    selectableFields: [
      ...referenceFields.map((field) => `.involvedObject.${field}`),
      '.reason',
      '.reportingComponent',
      '.type',
    ],
    fieldLabels: { source: sourceOf },
    strategy: strategy((event) => event),
  })
}

/** Event, events.k8s.io/v1. */
export function eventsEventKind(): Definition {
  return defineKind({
    group: EVENTS_GROUP,
    kind: 'Event',
    plural: 'events',
    model: EVENTS,
    namespaced: true,
    shortNames: ['ev'],
    columns: columnsFor((event) => toCoreEvent(event) as Event),
    selectableFields: [
      ...referenceFields.map((field) => `.regarding.${field}`),
      '.reason',
      '.reportingController',
      '.type',
    ],
    sharedWith: { group: '', fromShared: fromCoreEvent, toShared: toCoreEvent },
    strategy: strategy(toCoreEvent),
  })
}

const LENGTH_MAX = 128
const NOTE_MAX = 1024

function eventErrors(event: Event, old: Event | undefined, { type }: WriteContext): FieldError[] {
  const strict = type.group === EVENTS_GROUP
  const errors = event.eventTime ? newStyleErrors(event, strict) : namespaceErrors(event)
  for (const message of dnsSubdomainErrors(event.metadata.namespace ?? '')) {
    errors.push(fieldErrors.invalid('namespace', event.metadata.namespace ?? '', message))
  }
  if (!strict) return errors
  return [...errors, ...(old ? changeErrors(event, old) : strictErrors(event))]
}

const mismatch = ({ involvedObject }: Event): FieldError =>
  fieldErrors.invalid('involvedObject.namespace', involvedObject.namespace ?? '', 'does not match event.namespace')

function namespaceErrors(event: Event): FieldError[] {
  const { namespace = '' } = event.metadata
  const involved = event.involvedObject.namespace ?? ''
  const matches = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved
  return matches ? [] : [mismatch(event)]
}

function newStyleErrors(event: Event, strict: boolean): FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  const errors: FieldError[] = []
  const inherited = ['default', 'kube-system'].includes(event.metadata.namespace ?? '')
  if (!event.involvedObject.namespace && !inherited) errors.push(mismatch(event))
  const component = strict ? 'reportingController' : 'reportingComponent'
  if (reportingComponent === '') errors.push(fieldErrors.required(component))
  append(errors, qualifiedName(reportingComponent, component))
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === '') errors.push(fieldErrors.required(field))
    append(errors, longErrors(field, value, LENGTH_MAX))
  }
  return [...errors, ...longErrors('message', message, NOTE_MAX)]
}

function longErrors(field: string, value: string, max: number): FieldError[] {
  return Buffer.byteLength(value) > max ? [fieldErrors.invalid(field, '', `can have at most ${max} characters`)] : []
}

function seriesErrors({ series }: Event): FieldError[] {
  if (!series) return []
  return [
    ...((series.count ?? 0) < 2 ? [fieldErrors.invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [fieldErrors.required('series.lastObservedTime')]),
  ]
}

/** Events written through events.k8s.io are validated more strictly than those of older clients. */
function strictErrors(event: Event): FieldError[] {
  const unset = (field: string) => fieldErrors.invalid(field, '', 'needs to be unset')
  const { type = '', source } = event
  return [
    ...seriesErrors(event),
    ...(event.eventTime ? [] : [fieldErrors.required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [fieldErrors.invalid('type', '', `has invalid value: ${type}`)]),
    ...(event.firstTimestamp ? [unset('firstTimestamp')] : []),
    ...(event.lastTimestamp ? [unset('lastTimestamp')] : []),
    ...(event.count ? [unset('count')] : []),
    ...(source?.component || source?.host ? [unset('source')] : []),
  ]
}

const lasting = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
]

function changeErrors(event: Event, old: Event): FieldError[] {
  const series = equal(event.series, old.series) ? [] : seriesErrors(event)
  const changed = lasting.filter((field) => !equal(event[field] ?? null, old[field] ?? null))
  const named = (field: string) => (field === 'reportingComponent' ? 'reportingController' : field)
  return [...series, ...changed.map((field) => immutable(named(field), shown(field, event)))]
}

/** kube-apiserver prints its internal types, with Go field names. */
function shown(field: string, event: Event): unknown {
  const { source } = event
  if (field === 'source') return { Component: source?.component ?? '', Host: source?.host ?? '' }
  const value = event[field] ?? null
  if (value === null || (field !== 'involvedObject' && field !== 'related')) return value ?? zeroOf(field)
  const { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath } = value as Reference
  const reference = { Kind: kind, Namespace: namespace, Name: name, UID: uid, APIVersion: apiVersion }
  const whole = { ...reference, ResourceVersion: resourceVersion, FieldPath: fieldPath }
  return Object.fromEntries(Object.entries(whole).map(([key, text]) => [key, text ?? '']))
}

function zeroOf(field: string): unknown {
  if (field === 'count') return 0
  return /Time(stamp)?$/.test(field) || field === 'related' ? null : ''
}

function columnsFor(core: (event: KubeObject) => Event): readonly Column[] {
  const of = (cell: (event: Event, now: number) => unknown) => (object: KubeObject, now: number) =>
    cell(core(object), now)
  return [
    column('Last Seen', 'string', 'How long ago it last happened.', of(lastSeen)),
    column(
      'Type',
      'string',
      'Normal or Warning.',
      of(({ type }) => type ?? ''),
    ),
    column(
      'Reason',
      'string',
      'Why it happened, in one word.',
      of(({ reason }) => reason ?? ''),
    ),
    column('Object', 'string', 'What it is about.', of(target)),
    column(
      'Subobject',
      'string',
      'The part it is about.',
      of((event) => event.involvedObject.fieldPath ?? ''),
      1,
    ),
    column('Source', 'string', 'Who reported it.', of(reporter), 1),
    column(
      'Message',
      'string',
      'What happened.',
      of(({ message }) => (message ?? '').trim()),
    ),
    column('First Seen', 'string', 'How long ago it first happened.', of(firstSeen), 1),
    column('Count', 'string', 'How often it happened.', of(timesSeen), 1),
    { ...column('Name', 'string', 'The name of the event.', ({ metadata }) => metadata.name, 1), format: 'name' },
  ]
}

const firstSeen = ({ firstTimestamp, eventTime }: Event, now: number): string => since(firstTimestamp ?? eventTime, now)

function lastSeen(event: Event, now: number): string {
  if (event.series) return since(event.series.lastObservedTime, now)
  return event.lastTimestamp ? since(event.lastTimestamp, now) : firstSeen(event, now)
}

const timesSeen = ({ series, count }: Event): number => (series ? (series.count ?? 0) : count || 1)

function target({ involvedObject: { kind = '', name = '' } }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function reporter({ source, reportingComponent = '', reportingInstance = '' }: Event): string {
  const component = source?.component || reportingComponent
  const host = source?.host || reportingInstance
  return host === '' ? component : `${component}, ${host}`
}
