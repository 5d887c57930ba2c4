import { equal, isObject } from '@crosstie/kube'
import type { ManagedKind } from '../../definition/managed.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * What a create asked for is part of its intent where the spec as it is now would mislead whoever comes back: people go on
 * editing while nobody knows how the create ended. A token is good only for the same request, and what was made is known
 * by being what was asked for.
 */

/** More than so many different requests in doubt are not remembered. */
const REMEMBERED = 5

function remembers(kind: ManagedKind): boolean {
  if (kind.naturalKey || kind.idempotentCreate) return false
  return kind.token || (kind.external.list !== undefined && kind.tags === undefined)
}

/** A repeated create can be told from the one before by its token alone, so it is repeated before anybody looks. */
export const repeatsByToken = ({ runtime, history }: Reconciliation): boolean =>
  history.incomplete && runtime.kind.token && !runtime.kind.naturalKey

/** What creates asked for of which nobody knows how they ended, the oldest first. */
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
 * What the next create asks for: the same as the one in doubt. When that is refused for sure it may never have been
 * acceptable, so what the spec wants has its turn as well, and so on.
 */
export function valuesToRequest(reconciliation: Reconciliation, wanted: Values): Values {
  if (!repeatsByToken(reconciliation)) return wanted
  const requests = withRequest(requestedBefore(reconciliation), wanted)
  return requests[reconciliation.state.refused % requests.length]!
}

/** A request was refused, and nothing came of it; of those before it that is not known. */
export function noteRefusal(reconciliation: Reconciliation): void {
  if (!repeatsByToken(reconciliation)) return
  reconciliation.state.refused++
}

/** What the intent says of the request; undefined for kinds that need no such note. */
export function requestNote(reconciliation: Reconciliation, asked: Values): string | undefined {
  if (!remembers(reconciliation.runtime.kind)) return undefined
  const before = repeatsByToken(reconciliation) ? requestedBefore(reconciliation) : []
  return JSON.stringify(withRequest(before, asked).slice(-REMEMBERED))
}

/** The note is taken away when it is known how the create ended. */
export function withoutRequestNote({ managed, state }: Reconciliation): Readonly<Record<string, null>> {
  state.refused = 0
  return annotationOf(managed, annotations.asked) === '' ? {} : { [annotations.asked]: null }
}

const withRequest = (requests: readonly Values[], request: Values): readonly Values[] =>
  requests.some((other) => equal(other, request)) ? requests : [...requests, request]
