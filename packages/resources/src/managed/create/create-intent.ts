import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation } from '../reconciliation.js'

/**
 * Kinds with an idempotent create do not record how a create ended. They record which process started one, and
 * when. An object must not be released while a create of another process may still take effect, because the
 * resource would leak. Two processes can reconcile one object while a lease changes hands, or if they run without
 * leader election.
 */

const SEPARATOR = ' '

const isSynced = (object: KubeObject): boolean =>
  conditionsOf(object).some(({ type, status }) => type === 'Synced' && status === 'True')

/** Parses the note of started creates: entries `<process>=<time>`, separated by spaces. Times are in milliseconds. */
function begunBy(note: string): readonly (readonly [who: string, at: number])[] {
  const entries = note.split(SEPARATOR).filter((entry) => entry !== '')
  return entries.map((entry) => [entry.slice(0, entry.indexOf('=')), Date.parse(entry.slice(entry.indexOf('=') + 1))])
}

/** Returns the note to write before a create; undefined if a recent note of this process exists. */
export function intentNote({ runtime, managed }: Reconciliation): string | undefined {
  const now = runtime.clock.now()
  const begun = begunBy(annotationOf(managed, annotations.creating))
  const isYoung = (at: number, seconds: number) => now - at < seconds * 1000
  if (begun.some(([who, at]) => who === runtime.id && isYoung(at, runtime.callSeconds / 2))) return undefined
  const others = begun.filter(([who, at]) => who !== runtime.id && isYoung(at, runtime.callSeconds))
  return [...others, [runtime.id, now] as const]
    .map(([who, at]) => `${who}=${new Date(at).toISOString()}`)
    .join(SEPARATOR)
}

/**
 * Returns for how many milliseconds a started create may still take effect, or 0. A create of this process counts
 * until its call returns. A single create of another process counts until Synced is true.
 */
export function intentAgeLeft({ runtime, managed, state }: Reconciliation): number {
  const begun = begunBy(annotationOf(managed, annotations.creating))
  const [only, ...more] = begun
  if (!only || (more.length === 0 && only[0] !== runtime.id && isSynced(managed))) return 0
  const ended = state.creating === 0
  const open = begun.filter(([who]) => !(ended && who === runtime.id))
  const until = Math.max(0, ...open.map(([, at]) => at + runtime.callSeconds * 1000))
  return Math.max(0, until - runtime.clock.now())
}

/**
 * Records that the external resource exists. If only one create was in doubt, it took effect and cannot take effect
 * again.
 */
export function intentFulfilled({ state }: Reconciliation): void {
  if (state.creating === 1) state.creating = 0
}
