import { badRequest, fieldErrors, invalid } from '@crosstie/kube'
import type { ListParameters } from '../verbs/list.js'
import type { WatchParameters } from '../verbs/watch.js'
import { truthy } from './route.js'

const text = (query: URLSearchParams, name: string) => query.get(name) || undefined

export function listParameters(query: URLSearchParams): ListParameters {
  return {
    labelSelector: text(query, 'labelSelector'),
    fieldSelector: text(query, 'fieldSelector'),
    limit: integer(query, 'limit'),
    continue: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  }
}

export function watchParameters(query: URLSearchParams): WatchParameters & { readonly timeoutSeconds?: number } {
  const sendInitialEvents = query.has('sendInitialEvents') ? truthy(query.get('sendInitialEvents')) : undefined
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

function checkInitialEvents(query: URLSearchParams, sendInitialEvents: boolean | undefined): void {
  const match = query.get('resourceVersionMatch') ?? ''
  const options = { group: 'meta.k8s.io', kind: 'ListOptions' }
  if (sendInitialEvents === undefined) {
    if (match === '') return
    throw invalid(options, '', [
      fieldErrors.forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ])
  }
  if (match === '') {
    throw invalid(options, '', [
      fieldErrors.forbidden(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ])
  }
  if (match !== 'NotOlderThan') {
    throw invalid(options, '', [fieldErrors.notSupported('resourceVersionMatch', match, ['NotOlderThan'])])
  }
}

export interface WriteParameters {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
  readonly force: boolean | undefined
}

const MANAGER_LENGTH_MAX = 128

/** The parameters of every write; `kind` names the options object that complaints are about. */
export function writeParameters(kind: string, query: URLSearchParams, userAgent: string | undefined): WriteParameters {
  const options = { group: 'meta.k8s.io', kind }
  const dryRun = query.getAll('dryRun').filter((value) => value !== '')
  const wrong = dryRun.find((value) => value !== 'All')
  if (wrong !== undefined) throw invalid(options, '', [fieldErrors.notSupported('dryRun', dryRun, ['All'])])
  const validation = query.get('fieldValidation') || 'Warn'
  if (validation !== 'Strict' && validation !== 'Warn' && validation !== 'Ignore') {
    throw invalid(options, '', [fieldErrors.notSupported('fieldValidation', validation, ['Ignore', 'Strict', 'Warn'])])
  }
  const fieldManager = query.get('fieldManager') ?? ''
  checkManager(options, fieldManager)
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager || managerOf(userAgent),
    fieldValidation: validation,
    force: query.has('force') ? truthy(query.get('force')) : undefined,
  }
}

function checkManager(options: { group: string; kind: string }, manager: string): void {
  if (manager.length > MANAGER_LENGTH_MAX) {
    throw invalid(options, '', [fieldErrors.tooLong('fieldManager', manager, MANAGER_LENGTH_MAX)])
  }
  const odd = [...manager].find((letter) => /\p{C}/u.test(letter))
  if (odd !== undefined) {
    throw invalid(options, '', [
      fieldErrors.invalid('fieldManager', manager, 'should only contain printable characters'),
    ])
  }
}

/** `kubectl/v1.34.4 (linux/amd64)` is known as `kubectl`. */
function managerOf(userAgent: string | undefined): string {
  const [name = ''] = (userAgent ?? '').split('/')
  return (
    [...name]
      .filter((letter) => !/\p{C}/u.test(letter))
      .join('')
      .slice(0, MANAGER_LENGTH_MAX) || 'unknown'
  )
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (!value) return undefined
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`)
  return Number(value)
}
