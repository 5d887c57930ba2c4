import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation } from '../reconciliation.js'

/**
 * Kinds whose create may be repeated keep no record of how it ended. What they
 * keep is who began one, and when: an object must not be let go while a create
 * of another process may yet take effect, as nobody would ever delete what it
 * makes. Two processes work on one object when a lease changes hands, or when
 * nobody keeps them apart.
 */

const SEPARATOR = ' '

const isSynced = (object: KubeObject): boolean =>
  conditionsOf(object).some(({ type, status }) => type === 'Synced' && status === 'True')

/** Who began to create, and when, in milliseconds; as `<who>=<time>`, with spaces in between. */
function begunBy(note: string): readonly (readonly [who: string, at: number])[] {
  const entries = note.split(SEPARATOR).filter((entry) => entry !== '')
  return entries.map((entry) => [entry.slice(0, entry.indexOf('=')), Date.parse(entry.slice(entry.indexOf('=') + 1))])
}

/** The note with which we begin to create; undefined when there is one that is good for a while. */
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
 * For how long, in milliseconds, a create that was begun may still take
 * effect; 0 when none may. Of our own we know when it ended, and of one that
 * nobody else had a part in when success was reported.
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

/** What a create was to make is there: when only one was in doubt, it took effect and cannot do so again. */
export function intentFulfilled({ state }: Reconciliation): void {
  if (state.creating === 1) state.creating = 0
}
