import { badRequest, type FieldError, fieldErrors, invalid } from '@crosstie/kube'
import type { ListParameters } from '../verbs/list.js'
import type { WatchParameters } from '../verbs/watch.js'
import { integerFault } from '../wire/integer.js'
import { truthy } from './route.js'

const text = (query: URLSearchParams, name: string) => query.get(name) || undefined

export function listParameters(query: URLSearchParams): ListParameters {
  integer(query, 'timeoutSeconds')
  return {
    labelSelector: text(query, 'labelSelector'),
    fieldSelector: text(query, 'fieldSelector'),
    limit: integer(query, 'limit'),
    continue: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
    sendInitialEvents: boolean(query, 'sendInitialEvents'),
  }
}

export function watchParameters(query: URLSearchParams): WatchParameters & { readonly timeoutSeconds?: number } {
  const sendInitialEvents = boolean(query, 'sendInitialEvents')
  integer(query, 'limit')
  checkInitialEvents(query, sendInitialEvents)
  return {
    labelSelector: text(query, 'labelSelector'),
    fieldSelector: text(query, 'fieldSelector'),
    resourceVersion: text(query, 'resourceVersion'),
    allowWatchBookmarks: truthy(query.get('allowWatchBookmarks')),
    sendInitialEvents,
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  }
}

/** Refuses what reading one object once could do. */
export function checkExport(query: URLSearchParams): void {
  if (!truthy(query.get('export'))) return
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/** Refuses a `timeout` that is no duration to Go, in Go's words. We keep every deadline that could be asked for. */
export function checkTimeout(query: URLSearchParams): void {
  const value = query.get('timeout')
  const why = value ? durationError(value) : undefined
  if (why) throw badRequest(`invalid timeout specified in the request URL - time: ${why}`)
}

const units = new Set(['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'])

function durationError(value: string): string | undefined {
  const quoted = JSON.stringify(value)
  let rest = value.replace(/^[+-]/, '')
  if (rest === '0') return undefined
  do {
    const [all, number, unit] = /^(\d+\.?\d*|\.\d+)([^.\d]*)/.exec(rest) ?? []
    if (all === undefined || number === undefined) return `invalid duration ${quoted}`
    if (!unit) return `missing unit in duration ${quoted}`
    if (!units.has(unit)) return `unknown unit ${JSON.stringify(unit)} in duration ${quoted}`
    rest = rest.slice(all.length)
  } while (rest !== '')
  return undefined
}

const MATCH = 'resourceVersionMatch'

function checkInitialEvents(query: URLSearchParams, sendInitialEvents: boolean | undefined): void {
  const match = query.get(MATCH) ?? ''
  const errors: FieldError[] = []
  if (sendInitialEvents === undefined && match !== '') {
    errors.push(fieldErrors.forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`))
  }
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(fieldErrors.forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`))
  }
  if (match !== '' && match !== 'NotOlderThan') errors.push(fieldErrors.notSupported(MATCH, match, ['NotOlderThan']))
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
}

export interface WriteParameters {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldManagerNamed: boolean
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
  readonly force: boolean | undefined
}

const MANAGER_LENGTH_MAX = 128

/** The parameters of every write; `kind` names the options object that complaints are about. */
export function writeParameters(kind: string, query: URLSearchParams, userAgent: string | undefined): WriteParameters {
  const options = { group: 'meta.k8s.io', kind }
  const dryRun = query.getAll('dryRun')
  const wrong = dryRun.find((value) => value !== 'All')
  if (wrong !== undefined) throw invalid(options, '', [fieldErrors.notSupported('dryRun', dryRun, ['All'])])
  const validation = query.get('fieldValidation') || 'Warn'
  if (validation !== 'Strict' && validation !== 'Warn' && validation !== 'Ignore') {
    throw invalid(options, '', [
      fieldErrors.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']),
    ])
  }
  const fieldManager = query.get('fieldManager') ?? ''
  checkManager(options, fieldManager)
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager || managerOf(userAgent),
    fieldManagerNamed: fieldManager !== '',
    fieldValidation: validation,
    force: query.has('force') ? truthy(query.get('force')) : undefined,
  }
}

function checkManager(options: { group: string; kind: string }, manager: string): void {
  if (manager.length > MANAGER_LENGTH_MAX) {
    throw invalid(options, '', [fieldErrors.tooLong('fieldManager', manager, MANAGER_LENGTH_MAX)])
  }
  let position = 0
  for (const letter of manager) {
    if (/\p{C}/u.test(letter)) {
      const point = letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      const why = `invalid character U+${point} (at position ${position})`
      throw invalid(options, '', [fieldErrors.invalid('fieldManager', manager, why)])
    }
    position += Buffer.byteLength(letter)
  }
}

/** `kubectl/v1.34.4 (linux/amd64)` is known as `kubectl`. */
function managerOf(userAgent: string | undefined): string {
  const agent = userAgent ?? ''
  const known = managers.get(agent)
  if (known !== undefined) return known
  const [name = ''] = agent.split('/')
  const printable = [...name].filter((letter) => !/\p{C}/u.test(letter)).join('')
  const manager = printable.slice(0, MANAGER_LENGTH_MAX) || 'unknown'
  if (managers.size < MANAGERS_MAX) managers.set(agent, manager)
  return manager
}

// The same few programs send most requests.
const managers = new Map<string, string>()
const MANAGERS_MAX = 1_000

/** Undefined when it is not there; refused, in Go's words, when it is no number. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  const fault = integerFault(value, 'ParseInt')
  if (fault) throw badRequest(fault)
  return Number(value)
}

function boolean(query: URLSearchParams, name: string): boolean | undefined {
  return query.has(name) ? truthy(query.get(name)) : undefined
}
