import { badRequest, type FieldError, fieldErrors, invalid } from '@crosstie/kube'
import type { ListParameters } from '../verbs/list.js'
import type { WatchParameters } from '../verbs/watch.js'
import { integerFault } from '../wire/integer.js'
import { truthy } from './route.js'

const text = (query: URLSearchParams, name: string) => query.get(name) || undefined

/** Reads the query parameters of a list. */
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

/** Reads the query parameters of a watch. */
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

/** Throws 400 for the parameter `export`, which Kubernetes removed. */
export function checkExport(query: URLSearchParams): void {
  if (!truthy(query.get('export'))) return
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/**
 * Throws 400 for a `timeout` that is not a duration, with Go's message. Every valid timeout is longer than our
 * requests take.
 */
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

/** The query parameters of a write. */
export interface WriteParameters {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldManagerNamed: boolean
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
  readonly force: boolean | undefined
}

const MANAGER_LENGTH_MAX = 128

/** Reads the query parameters of a write. `kind` is the options kind in error messages. */
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

/** Returns the default field manager: `kubectl` for `kubectl/v1.34.4 (linux/amd64)`. */
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

// A few programs send most requests.
const managers = new Map<string, string>()
const MANAGERS_MAX = 1_000

/** Returns an integer parameter. Undefined when it is absent. Throws 400 with Go's message when it is not a number. */
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
