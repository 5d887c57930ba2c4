import type { HttpClient } from '@crosstie/controller'
import { type KubeObject, type ResourceType, since } from '@crosstie/kube'
import { listAll } from '../shared/objects.js'
import type { Paint } from '../shared/terminal.js'

/** An Event object. */
export interface KubeEvent extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly eventTime?: string | null
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string }
}

/** The resource type of events. */
export const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }

/** Returns the time of the last occurrence. */
export const timeOf = (event: KubeEvent): string =>
  event.series?.lastObservedTime || event.lastTimestamp || event.eventTime || event.metadata.creationTimestamp || ''

/** Returns the namespace and selector of an object's events. Those of cluster-scoped objects are in `default`. */
export function eventsOf({ kind, metadata }: KubeObject): {
  readonly namespace: string
  readonly fieldSelector: string
} {
  const { name, namespace = 'default', uid } = metadata
  const fields = { kind, name, ...(uid ? { uid } : {}) }
  const fieldSelector = Object.entries(fields).map(([field, value]) => `involvedObject.${field}=${value}`)
  return { namespace, fieldSelector: fieldSelector.join(',') }
}

/** Reads the events of an object, the latest last. */
export async function readEvents(client: HttpClient, object: KubeObject): Promise<readonly KubeEvent[]> {
  return (await listAll<KubeEvent>(client, EVENTS, eventsOf(object))).toSorted(byTime)
}

/** Compares events by time. */
export const byTime = (a: KubeEvent, b: KubeEvent): number => (timeOf(a) < timeOf(b) ? -1 : 1)

/** The heading of a table of events. */
export const EVENT_HEADING = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']

/** Returns the table row of an event. */
export function eventRow(event: KubeEvent, paint: Paint, now = Date.now()): readonly string[] {
  const { type = '', reason = '', message = '', involvedObject: of = {} } = event
  const count = event.series?.count ?? event.count ?? 1
  const times = count > 1 ? ` (x${count})` : ''
  return [
    `${since(timeOf(event), now)}${times}`,
    type === 'Warning' ? paint.yellow(type) : type,
    reason,
    `${(of.kind ?? '').toLowerCase()}/${of.name ?? ''}`,
    message.replace(/\s*\n\s*/g, ' '),
  ]
}
