import { equal } from '@crosstie/kube'
import { policiesOf } from '../managed/policy.js'
import type { Vector } from './report.js'

/**
 * Where we differ from the recorded runtime on purpose: the table "Where
 * upstream's runtime is not the model" of the architecture. A rule recognises
 * a situation, never a case by its name, and says what is expected instead.
 */

/** One reconcile of a case. */
export interface Round {
  readonly c: Vector
  readonly round: Vector
  /** All that was recorded of the real runtime. */
  readonly recorded: Vector
  /** Object and secret before it, in our world, and whether the object was deleted. */
  readonly before: Vector
  /** What ours did. */
  readonly actual: Vector
}

interface Rule {
  readonly name: string
  /** What is expected instead; undefined when the rule does not apply. */
  readonly expect: (round: Round, expected: Vector) => Vector | undefined
  /** After this the stored objects differ on purpose, so later rounds cannot be compared. */
  readonly diverges?: boolean
}

const EXTERNAL_NAME = 'crossplane.io/external-name'
const PENDING = 'crossplane.io/external-create-pending'
const SUCCEEDED = 'crossplane.io/external-create-succeeded'
const OURS = 'finalizer.managedresource.crossplane.io'

const rules: readonly Rule[] = [
  { name: 'every subset of the policies means something (POL9)', expect: everySubset, diverges: true },
  { name: 'with the gate off a policy is ignored with a warning, not refused (POL8)', expect: gateOff, diverges: true },
  { name: 'deletionPolicy Orphan wins over a list that names Delete (POL6)', expect: orphanWins, diverges: true },
  { name: 'a foreign finalizer holds the external resource, even alone', expect: foreignFinalizer, diverges: true },
  {
    name: 'name, finalizer and intent are one write: it fails as a whole, before anything is made',
    expect: oneWrite,
    diverges: true,
  },
  { name: 'absent and not ours to create: an error that says so, and nothing is called', expect: absentIsAnError },
  { name: 'nothing is written when nothing changed, so no write can fail', expect: nothingToWrite, diverges: true },
  { name: 'pausing is news once (MR15)', expect: pausedOnce },
  {
    name: 'without LateInitialize, or with nothing there, the spec is left alone (POL4)',
    expect: noLeak,
    diverges: true,
  },
  { name: 'what was observed is reported, whatever else is written', expect: observedIsReported },
  {
    name: 'an optional reference that leads nowhere stays as the user wrote it',
    expect: referenceIsKept,
    diverges: true,
  },
  { name: 'a create changes nothing of the object but its name', expect: createKeepsToTheName },
  { name: 'a failed write of the secret is tried again, and told of', expect: secretIsPublished, diverges: true },
  { name: 'drift is a condition and one event (MR14)', expect: driftIsShown },
  { name: 'deprecated and ignored fields are warned of once (POL6, POL8)', expect: warned },
  { name: 'the name is noted with the first other note: one write instead of three', expect: nameNotedLater },
]

export function wantedDifferences(round: Round, recorded: Vector) {
  let expected = recorded
  const applied: string[] = []
  let diverged = false
  for (const rule of rules) {
    const instead = rule.expect(round, expected)
    if (!instead) continue
    expected = instead
    applied.push(rule.name)
    diverged ||= rule.diverges ?? false
    // The recording did nothing, ours did what it may: there is no more to compare.
    if (instead === round.actual) break
  }
  return { expected, rules: applied, diverged }
}

const callsOf = ({ calls }: Vector): string[] => (calls as Vector[]).map(({ call }) => call)

/** What the policies of the object allow, by our reading. */
function allowed({ c, round }: Round) {
  const managementPolicies = round['before']?.['setPolicies'] ?? c['policies']
  const options = { gate: c['gate'], hasDeletionPolicy: c['kind'] === 'legacy' }
  return policiesOf({ managementPolicies, deletionPolicy: c['deletionPolicy'] ?? '' }, options)
}

/** Did ours do only what it may? All that can be asked where the recording did nothing at all. */
function keepsToPolicies(round: Round): boolean {
  const { may } = allowed(round)
  const calls = callsOf(round.actual)
  return (
    (may.create || !calls.includes('Create')) &&
    (may.update || !calls.includes('Update')) &&
    (may.delete || !calls.includes('Delete'))
  )
}

const refusedWith = ({ recorded }: Round, words: string): boolean =>
  (recorded['events'] as Vector[]).some(
    ({ reason, message }) => reason === 'CannotUseInvalidManagementPolicy' && message.includes(words),
  )

function everySubset(round: Round): Vector | undefined {
  if (!refusedWith(round, 'which is not supported') || round.c['options']?.['supportedPolicies']) return undefined
  return keepsToPolicies(round) && !round.actual['events'].includes('Warning CannotUseInvalidManagementPolicy')
    ? round.actual
    : undefined
}

function gateOff(round: Round): Vector | undefined {
  if (!refusedWith(round, 'the feature is not enabled')) return undefined
  return keepsToPolicies(round) && !round.actual['events'].includes('Warning CannotUseInvalidManagementPolicy')
    ? round.actual
    : undefined
}

function orphanWins({ c, before }: Round, expected: Vector): Vector | undefined {
  const stuck = (expected['events'] as string[]).includes('Warning CannotInitializeManagedResource')
  const touches = stuck || ['Connect', 'Observe', 'Delete'].some((call) => callsOf(expected).includes(call))
  const named = ((c['policies'] ?? []) as string[]).includes('Delete')
  if (!c['deleted'] || c['deletionPolicy'] !== 'Orphan' || !c['gate'] || !named || !touches) return undefined
  const finalizers = (before['after'].finalizers as string[]).filter((name) => name !== OURS)
  const after = finalizers.length === 0 ? { present: false } : { ...before['after'], finalizers }
  return {
    ...expected,
    calls: [],
    events: requestEvents(expected),
    result: { class: 'none' },
    after,
    secret: before['secret'],
  }
}

const requestEvents = ({ events }: Vector): string[] =>
  (events as string[]).filter((event) => event === 'Normal ReconcileRequestHandled')

function foreignFinalizer({ before }: Round, expected: Vector): Vector | undefined {
  const finalizers = (before['after'].finalizers ?? []) as string[]
  if (!callsOf(expected).includes('Delete') || finalizers.every((name) => name === OURS)) return undefined
  return {
    ...expected,
    calls: (expected['calls'] as Vector[]).filter(({ call }) => call !== 'Delete'),
    events: [...requestEvents(expected), ...disconnectEvents(expected)],
    result: { class: 'backoff' },
    after: before['after'],
    secret: before['secret'],
  }
}

function oneWrite({ recorded, before, actual }: Round): Vector | undefined {
  const noted = (write: Vector) => Object.keys(write['annotationsSet'] ?? {})
  const failed = (recorded['kubeWrites'] as Vector[]).some(
    (write) =>
      write['error'] &&
      write['verb'] === 'update' &&
      (write['finalizersAdded'] || noted(write).some((name) => name === PENDING || name === EXTERNAL_NAME)) &&
      !noted(write).some((name) => name === SUCCEEDED),
  )
  if (!failed || actual['result'].class !== 'backoff' || !actual['after'].present) return undefined
  const untouched = ['finalizers', 'annotations', 'forProvider'].every((field) =>
    equal(actual['after'][field], before['after'][field]),
  )
  const called = callsOf(actual).some((call) => call === 'Create' || call === 'Update' || call === 'Delete')
  return untouched && !called ? actual : undefined
}

function absentIsAnError(round: Round, expected: Vector): Vector | undefined {
  const { before, actual } = round
  const { may, onlyObserve } = allowed(round)
  const seen = callsOf(expected).includes('Observe') && !round.round['external'].observeError
  const waits = (expected['events'] as string[]).includes('Normal PendingExternalResource')
  const gone = before['deleted'] || waits || round.round['external'].exists
  if (may.create || onlyObserve || !seen || gone || !before['after'].present) return undefined
  const message = 'observe failed: external resource does not exist'
  return {
    ...expected,
    calls: (expected['calls'] as Vector[]).filter(({ call }) => call !== 'Update'),
    events: [...requestEvents(expected), 'Warning CannotObserveExternalResource', ...disconnectEvents(expected)],
    result: actual['result'].class === 'poll' ? actual['result'] : expected['result'],
    after: {
      ...expected['after'],
      finalizers: before['after'].finalizers,
      conditions: withCondition(before['after'].conditions, {
        type: 'Synced',
        status: 'False',
        reason: 'ReconcileError',
        message,
        observedGeneration: before['after'].generation,
      }),
    },
    secret: before['secret'],
  }
}

const disconnectEvents = ({ events }: Vector): string[] =>
  (events as string[]).filter((event) => event === 'Warning CannotDisconnectFromProvider')

function withCondition(held: readonly Vector[], condition: Vector): readonly Vector[] {
  const at = held.findIndex(({ type }) => type === condition['type'])
  return at < 0 ? [...held, condition] : held.with(at, condition)
}

/** A recorded write that failed and would have changed nothing. */
function nothingToWrite({ recorded, before, actual }: Round): Vector | undefined {
  const writes = recorded['kubeWrites'] as Vector[]
  const idleStatus = writes.some(
    (write) => write['verb'] === 'updateStatus' && write['error'] && !write['conditionsSet'] && !write['statusSet'],
  )
  const failedSecret = writes.some(
    (write) => write['verb'] === 'patch' && write['target'] === 'secret' && write['error'],
  )
  const kept = equal(actual['secret'], before['secret'])
  if (!idleStatus && !(failedSecret && kept && actual['secret'] !== undefined)) return undefined
  const quiet = equal(withoutDrift(actual['after'].conditions), withoutDrift(before['after'].conditions))
  const called = callsOf(actual).some((call) => call === 'Create' || call === 'Update' || call === 'Delete')
  return quiet && !called && actual['result'].class === 'poll' ? actual : undefined
}

const withoutDrift = (conditions: readonly Vector[] = []): readonly Vector[] =>
  conditions.filter(({ type }) => type !== 'Drifted')

function pausedOnce({ before }: Round, expected: Vector): Vector | undefined {
  const synced = ((before['after'].conditions ?? []) as Vector[]).find(({ type }) => type === 'Synced')
  const events = expected['events'] as string[]
  const paused = 'Normal ReconciliationPaused'
  if (synced?.['reason'] !== 'ReconcilePaused' || !events.includes(paused)) return undefined
  return { ...expected, events: events.filter((event) => event !== paused) }
}

function noLeak(round: Round, expected: Vector): Vector | undefined {
  const { before } = round
  const held = before['after'].forProvider
  const { after } = expected
  if (!after.present || after.forProvider?.size === undefined || held?.size !== undefined) return undefined
  const failed = (round.recorded['kubeWrites'] as Vector[]).some(({ verb, error }) => verb === 'update' && error)
  if (allowed(round).may.lateInitialize && round.round['external'].exists && !failed) return undefined
  const { size, ...forProvider } = after.forProvider
  const lower = (generation: number | undefined) => (generation === after.generation ? generation! - 1 : generation)
  const conditions = (after.conditions as Vector[]).map((condition) =>
    condition['observedGeneration'] === undefined
      ? condition
      : { ...condition, observedGeneration: lower(condition['observedGeneration']) },
  )
  return { ...expected, after: { ...after, forProvider, generation: after.generation - 1, conditions } }
}

/** Upstream loses the observation to its own later writes of the object. */
function observedIsReported(round: Round, expected: Vector): Vector | undefined {
  const { external } = round.round
  const { after } = expected
  const observed = (expected['calls'] as Vector[]).some(({ call, error }) => call === 'Observe' && !error)
  if (!external?.exists || !observed || !after.present || !allowed(round).may.observe) return undefined
  const statusWritten = (round.recorded['kubeWrites'] as Vector[]).some(
    ({ verb, error }) => verb === 'updateStatus' && !error,
  )
  if (!statusWritten || after === round.before['after']) return undefined
  const ready = external.observeSetsReady as string | undefined
  const own = callsOf(expected).some((call) => call === 'Create' || call === 'Delete')
  const held = (after.conditions as Vector[]).find(({ type }) => type === 'Ready')
  if (after.atProvider?.state === 'seen' && (own || !ready || (held?.['reason'] === ready && !held['message'])))
    return undefined
  const status = ready === 'Available' ? 'True' : 'False'
  return {
    ...expected,
    after: {
      ...after,
      atProvider: { state: 'seen' },
      conditions:
        ready && !own ? withCondition(after.conditions, { type: 'Ready', status, reason: ready }) : after.conditions,
    },
  }
}

function referenceIsKept({ c, recorded, before, actual }: Round): Vector | undefined {
  const optional = c['references']?.['ref']?.['policy']?.['resolution'] === 'Optional'
  const patched = (recorded['kubeWrites'] as Vector[]).some(
    ({ verb, target }) => verb === 'patch' && target === 'managed',
  )
  const kept = equal(actual['after'].forProvider, before['after'].forProvider)
  return optional && patched && kept && actual['result'].class === 'poll' ? actual : undefined
}

function createKeepsToTheName({ round }: Round, expected: Vector): Vector | undefined {
  if (!round['external']?.createMutatesSpecAndStatus) return undefined
  const { labels, atProvider, forProvider, annotations, ...after } = expected['after']
  const { 'example.org/from-create': _, ...notes } = annotations
  const { size, ...rest } = forProvider
  return { ...expected, after: { ...after, annotations: notes, forProvider: rest } }
}

function secretIsPublished({ round, recorded, actual }: Round, expected: Vector): Vector | undefined {
  const failed = (recorded['kubeWrites'] as Vector[]).some(
    ({ verb, target, error }) => verb === 'patch' && target === 'secret' && error,
  )
  const told = 'Warning CannotPublishConnectionDetails'
  if (!failed || (expected['events'] as string[]).includes(told)) return undefined
  if (actual['events'].includes(told)) return actual['result'].class === 'backoff' ? actual : undefined
  const { observeDetails, createDetails, updateDetails, updateError } = round['external']
  const calls = callsOf(actual)
  const details = {
    ...observeDetails,
    ...(calls.includes('Create') ? createDetails : {}),
    ...(calls.includes('Update') && !updateError ? updateDetails : {}),
  }
  return { ...expected, secret: { ...expected['secret'], data: { ...expected['secret'].data, ...details } } }
}

function driftIsShown(round: Round, expected: Vector): Vector | undefined {
  const { actual, before } = round
  const drift = (object: Vector) => ((object['conditions'] ?? []) as Vector[]).find(({ type }) => type === 'Drifted')
  const shown = drift(actual['after'])
  if (!shown || !expected['after'].present) return undefined
  const { external } = round.round
  const { update } = allowed(round).may
  const drifted = external?.exists && !external.upToDate
  const asBefore = equal(shown, drift(before['after']))
  const now = drifted ? (update ? 'False Corrected' : 'True NotAllowed') : 'False InStep'
  if (!asBefore && `${shown['status']} ${shown['reason']}` !== now) return undefined
  const news = !asBefore && drifted && !update
  return {
    ...expected,
    events: news ? insertBefore(expected['events'], 'Warning DriftDetected') : expected['events'],
    after: { ...expected['after'], conditions: [...expected['after'].conditions, shown] },
  }
}

/** Before the events that come last of all. */
function insertBefore(events: readonly string[], event: string): readonly string[] {
  const at = events.indexOf('Warning CannotDisconnectFromProvider')
  return at < 0 ? [...events, event] : events.toSpliced(at, 0, event)
}

function warned({ c, actual }: Round, expected: Vector): Vector | undefined {
  const warnings = (actual['events'] as string[]).filter((event) => /Field(Ignored|Deprecated)$/.test(event))
  if (warnings.length === 0) return undefined
  const orphan = c['gate'] && c['deletionPolicy'] === 'Orphan'
  const ignored = !c['gate'] && ((c['policies'] ?? []) as string[]).some((name) => name !== '*')
  if (!orphan && !ignored) return undefined
  const first = requestEvents(expected)
  return { ...expected, events: [...first, ...warnings, ...expected['events'].slice(first.length)] }
}

function nameNotedLater({ before, actual }: Round, expected: Vector): Vector | undefined {
  const { after } = expected
  const noted = (object: Vector) => object['annotations']?.[EXTERNAL_NAME]
  if (!after.present || noted(after) !== 'w' || noted(before['after']) || noted(actual['after'])) return undefined
  const { [EXTERNAL_NAME]: _, ...annotations } = after.annotations
  // An empty note stays where it was.
  const held = before['after'].annotations?.[EXTERNAL_NAME]
  return {
    ...expected,
    after: { ...after, annotations: held === '' ? { ...annotations, [EXTERNAL_NAME]: '' } : annotations },
  }
}
