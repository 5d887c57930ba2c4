import { equal, isObject } from '@crosstie/kube'
import type { ManagedKind } from '../../definition/managed.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * The intent of a create records the requested values, because users may edit the spec while the result is unknown.
 * A token is valid only for the same request, and a created resource is recognized by the requested values.
 */

/** The maximum number of different requests in doubt that are recorded. */
const REMEMBERED = 5

function remembers(kind: ManagedKind): boolean {
  if (kind.naturalKey || kind.idempotentCreate) return false
  return kind.token || (kind.external.list !== undefined && kind.tags === undefined)
}

/**
 * Reports whether the create is repeated with the same token before any search, because the token identifies the
 * earlier one.
 */
export const repeatsByToken = ({ runtime, history }: Reconciliation): boolean =>
  history.incomplete && runtime.kind.token && !runtime.kind.naturalKey

/** Returns the requests of creates whose result is unknown, oldest first. */
export function requestedBefore({ managed, history }: Reconciliation): readonly Values[] {
  if (!history.attempted) return []
  try {
    const noted: unknown = JSON.parse(annotationOf(managed, annotations.asked) || '[]')
    return Array.isArray(noted) ? noted.filter(isObject) : []
  } catch {
    return []
  }
}

/**
 * Returns the values that the next create requests: those of the create in doubt. If the provider refuses them,
 * they may never have been valid, so later attempts alternate with the values of the spec.
 */
export function valuesToRequest(reconciliation: Reconciliation, wanted: Values): Values {
  if (!repeatsByToken(reconciliation)) return wanted
  const requests = withRequest(requestedBefore(reconciliation), wanted)
  return requests[reconciliation.state.refused % requests.length]!
}

/** Counts a refused request. The results of earlier requests remain unknown. */
export function noteRefusal(reconciliation: Reconciliation): void {
  if (!repeatsByToken(reconciliation)) return
  reconciliation.state.refused++
}

/** Returns the note of the request for the create intent; undefined for kinds that do not need one. */
export function requestNote(reconciliation: Reconciliation, asked: Values): string | undefined {
  if (!remembers(reconciliation.runtime.kind)) return undefined
  const before = repeatsByToken(reconciliation) ? requestedBefore(reconciliation) : []
  return JSON.stringify(withRequest(before, asked).slice(-REMEMBERED))
}

/** Returns the change that removes the note of the request, once the result of the create is known. */
export function withoutRequestNote({ managed, state }: Reconciliation): Readonly<Record<string, null>> {
  state.refused = 0
  return annotationOf(managed, annotations.asked) === '' ? {} : { [annotations.asked]: null }
}

const withRequest = (requests: readonly Values[], request: Values): readonly Values[] =>
  requests.some((other) => equal(other, request)) ? requests : [...requests, request]
