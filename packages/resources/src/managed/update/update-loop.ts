import { createHash } from 'node:crypto'
import type { Difference } from '../../definition/external.js'
import type { Reconciliation } from '../reconciliation.js'

/**
 * Detects update loops: the same difference remains although updates were sent for it. Either the provider does not
 * apply them, or something else reverts them. Further updates are sent at growing intervals.
 */

/** Consecutive updates for one difference. */
export interface Corrections {
  /** A digest of the generation and the differences, because values may be secret. */
  readonly difference: string
  readonly sent: number
  /** The time when the last update was counted. */
  readonly at: number
}

/** The number of updates without effect that counts as an update loop. */
const UPDATES_OF_A_LOOP = 3
/** The maximum time between two updates of a loop, in poll intervals. */
const MAX_INTERVALS = 16

function digestOf({ managed }: Reconciliation, differences: readonly Difference[]): string {
  const values = differences.map(({ path, desired, observed }) => [path, desired, observed])
  return createHash('sha256')
    .update(JSON.stringify([managed.metadata.generation, values]))
    .digest('base64')
}

/** Returns the number of updates for exactly this difference and this spec. */
function sentFor(reconciliation: Reconciliation, differences: readonly Difference[]): number {
  const { corrections } = reconciliation.state
  return corrections?.difference === digestOf(reconciliation, differences) ? corrections.sent : 0
}

const intervalOf = ({ runtime }: Reconciliation): number => Math.max(runtime.pollSeconds, 1) * 1000

/** Returns the number of updates without effect; undefined if there are too few for a loop. */
export function loopOf(reconciliation: Reconciliation, differences: readonly Difference[]): number | undefined {
  const sent = sentFor(reconciliation, differences)
  return sent >= UPDATES_OF_A_LOOP ? sent : undefined
}

/** Reports whether it is too early for the next update of a loop. A request to reconcile is never delayed. */
export function isBackingOff(reconciliation: Reconciliation, differences: readonly Difference[]): boolean {
  const sent = loopOf(reconciliation, differences)
  if (sent === undefined || reconciliation.request !== undefined) return false
  const intervals = Math.min(2 ** (sent - UPDATES_OF_A_LOOP + 1), MAX_INTERVALS)
  return (
    reconciliation.runtime.clock.now() < reconciliation.state.corrections!.at + intervals * intervalOf(reconciliation)
  )
}

/**
 * Counts an update that was sent. While the resource is not ready, a change may still be in progress and polls are
 * more frequent. Then at most one update in each poll interval counts.
 */
export function noteCorrection(
  reconciliation: Reconciliation,
  differences: readonly Difference[],
  ready: boolean,
): void {
  const { state, runtime } = reconciliation
  const now = runtime.clock.now()
  const sent = sentFor(reconciliation, differences)
  if (sent > 0 && !ready && now < state.corrections!.at + intervalOf(reconciliation)) return
  state.corrections = { difference: digestOf(reconciliation, differences), sent: sent + 1, at: now }
}
