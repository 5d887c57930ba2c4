import { timestamp } from '../clock.js'
import { isObject } from '../json.js'
import type { ManagedFieldsEntry } from '../object.js'
import { decodeFields, type FieldSet, FieldSetError, shared, union } from './field-set.js'

/** The fields of one manager, as an entry of managedFields states them. */
export interface Holding {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly version: string
  readonly subresource: string
  readonly time: string | undefined
  readonly set: FieldSet
  /** The original entry, if it has not changed. */
  readonly entry?: ManagedFieldsEntry
}

/** Holdings by identity: manager, operation and subresource, and for updates the version. */
export type Managers = Map<string, Holding>

const UPDATERS_MAX = 10
const ANCIENT = 'ancient-changes'

/** Returns the identity of a manager. An applier is the same in every version. */
export function identity(holding: Pick<Holding, 'manager' | 'operation' | 'version' | 'subresource'>): string {
  const { manager, operation, version, subresource } = holding
  return `${operation}\n${manager}\n${operation === 'Apply' ? '' : version}\n${subresource}`
}

/** Returns the key by which Kubernetes sorts managers. */
function sortKey({ manager, operation, version, subresource }: Holding): string {
  return JSON.stringify({
    manager: manager === '' ? undefined : manager,
    operation,
    apiVersion: operation === 'Apply' ? undefined : version,
    subresource: subresource === '' ? undefined : subresource,
  })
}

/** Compares holdings in the order of Kubernetes. */
export function compareHoldings(a: Holding, b: Holding): number {
  return compareText(sortKey(a), sortKey(b))
}

/** Decodes managedFields. Throws a FieldSetError if an entry is not valid. */
export function decodeManagers(entries: unknown): Managers {
  const managers: Managers = new Map()
  if (!Array.isArray(entries)) return managers
  entries.forEach((entry: unknown, index) => {
    const holding = decodeEntry(isObject(entry) ? entry : {}, index)
    managers.set(identity(holding), holding)
  })
  return managers
}

function decodeEntry(entry: Readonly<Record<string, unknown>>, index: number): Holding {
  const { operation, apiVersion, fieldsType, fieldsV1, manager, subresource, time } = entry
  if (operation !== 'Apply' && operation !== 'Update') throw new FieldSetError('operation must be `Apply` or `Update`')
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new FieldSetError('apiVersion must not be empty')
  if (fieldsType === undefined || fieldsType === '') {
    throw new FieldSetError(`missing fieldsType in managed fields entry ${index}`)
  }
  if (fieldsType !== 'FieldsV1') {
    throw new FieldSetError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`)
  }
  const set = decodeFields(fieldsV1)
  const holding = {
    manager: typeof manager === 'string' ? manager : '',
    operation,
    version: apiVersion,
    subresource: typeof subresource === 'string' ? subresource : '',
    time: typeof time === 'string' ? inSeconds(time) : undefined,
    set,
  } as const
  return set === fieldsV1 && isPlain(entry) ? { ...holding, entry: entry as ManagedFieldsEntry } : holding
}

const texts = new Set(['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'subresource'])

/** Reports whether encoding the entry again would return the same entry. */
function isPlain(entry: Readonly<Record<string, unknown>>): boolean {
  for (const key in entry) {
    if (key === 'fieldsV1') continue
    const value = entry[key]
    if (!texts.has(key) || typeof value !== 'string' || value === '') return false
    if (key === 'time' && !isInSeconds(value)) return false
  }
  return true
}

function isInSeconds(time: string): boolean {
  return time.length === 20 && time[19] === 'Z'
}

/** Converts a time to seconds in UTC. Clients may send fractions and other zones. */
function inSeconds(time: string): string {
  if (isInSeconds(time)) return time
  const milliseconds = Date.parse(time)
  return Number.isNaN(milliseconds) ? time : timestamp(milliseconds)
}

/** Returns the entries in the order of Kubernetes, or undefined for an empty map. */
export function encodeManagers(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  const holdings = [...managers.values()]
  if (holdings.length > 1) holdings.sort(byOperationAndTime)
  return holdings.map((holding) => holding.entry ?? encodeHolding(holding))
}

function encodeHolding({ manager, operation, version, subresource, time, set }: Holding): ManagedFieldsEntry {
  const entry: { -readonly [K in keyof ManagedFieldsEntry]: ManagedFieldsEntry[K] } = {}
  if (manager !== '') entry.manager = manager
  entry.operation = operation
  entry.apiVersion = version
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = shared(set)
  if (subresource !== '') entry.subresource = subresource
  return entry
}

function byOperationAndTime(a: Holding, b: Holding): number {
  return (
    compareText(a.operation, b.operation) ||
    compareTimes(a.time, b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.version, b.version) ||
    compareText(a.subresource, b.subresource)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Compares times by second. Clients may send any text. */
function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a !== undefined && b !== undefined && isInSeconds(a) && isInSeconds(b)) return compareText(a, b)
  return seconds(a) - seconds(b)
}

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000)
}

/** Merges the oldest updaters of a version if there are more than ten. */
export function capUpdaters(managers: Managers): void {
  const updaters: string[] = []
  for (const [id, { operation }] of managers) if (operation === 'Update') updaters.push(id)
  if (updaters.length <= UPDATERS_MAX) return
  const holding = (id: string) => managers.get(id)!
  updaters.sort((a, b) => compareTimes(holding(a).time, holding(b).time) || compareHoldings(holding(a), holding(b)))
  const firstOfVersion = new Map<string, string>()
  let count = updaters.length
  for (const id of updaters) {
    if (count <= UPDATERS_MAX) return
    const { version, time, set } = managers.get(id)!
    const first = firstOfVersion.get(version)
    if (first === undefined) {
      firstOfVersion.set(version, id)
      continue
    }
    const ancient = { manager: ANCIENT, operation: 'Update', version, subresource: '' } as const
    const bucket = identity(ancient)
    let earlier = managers.get(bucket)
    if (!earlier) {
      earlier = managers.get(first)!
      managers.delete(first)
    }
    managers.set(bucket, { ...ancient, time, set: union(set, earlier.set) })
    managers.delete(id)
    count--
  }
}

/** Reports whether a client resets managedFields by sending `[]` or `[{}]`. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries) || entries.length > 1) return false
  return entries.length === 0 || (isObject(entries[0]) && Object.keys(entries[0]).length === 0)
}
