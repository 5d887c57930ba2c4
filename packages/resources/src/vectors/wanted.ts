import { type Condition, equal, sameCondition } from '@crosstie/kube'
import { policiesOf } from '../managed/policy/policy.js'
import type { Vector } from './report.js'
import { readyCondition } from './world.js'

/**
 * Intended differences from the recorded runtime: the table "Where upstream's runtime is not the model" of the
 * architecture. A rule matches a situation, never the name of a case, and returns the expected result instead.
 */

/** One reconciliation of a case. */
export interface Round {
  readonly c: Vector
  readonly round: Vector
  /** The complete recording of the real runtime. */
  readonly recorded: Vector
  /** The object and the Secret before the reconciliation, whether the object was deleted, and its spec. */
  readonly before: Vector
  /** Our result. */
  readonly actual: Vector
}

interface Rule {
  readonly name: string
  /** Returns the expected result instead; undefined if the rule does not apply. */
  readonly expect: (round: Round, expected: Vector) => Vector | undefined
}

const EXTERNAL_NAME = 'crossplane.io/external-name'
const PENDING = 'crossplane.io/external-create-pending'
const SUCCEEDED = 'crossplane.io/external-create-succeeded'
const OURS = 'finalizer.managedresource.crossplane.io'

const rules: readonly Rule[] = [
  { name: 'every subset of the policies means something (POL9)', expect: everySubset },
  { name: 'with the gate off a policy is ignored with a warning, not refused (POL8)', expect: gateOff },
  { name: 'deletionPolicy Orphan wins over a list that names Delete (POL6)', expect: orphanWins },
  {
    name: 'the finalizer without a name: the name of an external resource was lost, and nothing is created (XN1)',
    expect: lostName,
  },
  { name: 'a foreign finalizer holds the external resource, even alone', expect: foreignFinalizer },
  {
    name: 'name, finalizer and intent are one write: it fails as a whole, before anything is made',
    expect: oneWrite,
  },
  {
    name: 'a name that nobody needs any more is not written, so that write cannot fail',
    expect: nameNotNeeded,
  },
  {
    name: 'what an interrupted create made may yet show: deletion waits for it',
    expect: doubtIsWaitedOut,
  },
  { name: 'absent and not ours to create: an error that says so, and nothing is called', expect: absentIsAnError },
  { name: 'nothing is written when nothing changed, so no write can fail', expect: nothingToWrite },
  { name: 'pausing is news once (MR15)', expect: pausedOnce },
  { name: 'a create changes nothing of the object but its name', expect: createKeepsToTheName },
  {
    name: 'without LateInitialize, or with nothing there, the spec is left alone (POL4)',
    expect: noLeak,
  },
  { name: 'an empty list of policies stays as the user wrote it', expect: emptyListIsKept },
  { name: 'a condition that says what is there already leaves it as it is', expect: saidAgain },
  { name: 'what was observed is reported, whatever else is written', expect: observedIsReported },
  {
    name: 'an optional reference that leads nowhere stays as the user wrote it',
    expect: referenceIsKept,
  },
  { name: 'a failed write of the secret is tried again, and told of', expect: secretIsPublished },
  { name: 'drift is a condition and one event (MR14)', expect: driftIsShown },
  { name: 'deprecated and ignored fields are warned of once (POL6, POL8)', expect: warned },
  { name: 'the name is noted with the first other note: one write instead of three', expect: nameNotedLater },
]

/** Applies all intended differences to a recorded result. Returns the expected result and the names of the rules. */
export function wantedDifferences(round: Round, recorded: Vector) {
  let expected = recorded
  const applied: string[] = []
  for (const rule of rules) {
    const instead = rule.expect(round, expected)
    if (!instead) continue
    expected = instead
    applied.push(rule.name)
    // Our result was accepted as it is, so there is nothing left to compare.
    if (instead === round.actual) break
  }
  return { expected, rules: applied }
}

const callsOf = ({ calls }: Vector): string[] => (calls as Vector[]).map(({ call }) => call)

/** Returns the actions that the policies of the object allow, by our definition. */
function allowed({ c, before }: Round) {
  const { managementPolicies, deletionPolicy = '' } = before['spec']
  return policiesOf(
    { managementPolicies, deletionPolicy },
    { gate: c['gate'], hasDeletionPolicy: c['kind'] === 'legacy' },
  )
}

/** Returns whether our calls are all allowed. It is the only possible check if the recording did nothing. */
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

function lostName({ before, actual }: Round): Vector | undefined {
  const { finalizers, annotations } = before['after'] as Vector
  const lost = (finalizers ?? []).includes(OURS) && !annotations?.[EXTERNAL_NAME]
  const acts = callsOf(actual).some((call) => ['Create', 'Update', 'Delete'].includes(call))
  return lost && !acts && actual['events'].includes('Warning ExternalNameLost') ? actual : undefined
}

function orphanWins({ c, before }: Round, expected: Vector): Vector | undefined {
  const stuck = (expected['events'] as string[]).includes('Warning CannotInitializeManagedResource')
  const touches = stuck || ['Connect', 'Observe', 'Delete'].some((call) => callsOf(expected).includes(call))
  const { managementPolicies = [], deletionPolicy } = before['spec']
  const named = managementPolicies.includes('Delete')
  if (!before['deleted'] || deletionPolicy !== 'Orphan' || !c['gate'] || !named || !touches) return undefined
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

const noted = (write: Vector): string[] => Object.keys(write['annotationsSet'] ?? {})

/** Returns the fault of the first status write of this round, if any. */
const statusFault = ({ round }: Round): string | undefined =>
  ((round['kubeFaults'] ?? []) as Vector[]).find(({ op, nth }) => op === 'updateStatus' && nth === 1)?.['error']

function oneWrite(of: Round, expected: Vector): Vector | undefined {
  const { recorded, before, actual } = of
  const failed = (recorded['kubeWrites'] as Vector[]).some(
    (write) =>
      write['error'] &&
      write['verb'] === 'update' &&
      (write['finalizersAdded'] || noted(write).some((name) => name === PENDING || name === EXTERNAL_NAME)) &&
      !noted(write).some((name) => name === SUCCEEDED),
  )
  const { class: next } = actual['result']
  const retried = next === 'backoff' || (next === 'error' && statusFault(of))
  if (!failed || !retried || !actual['after'].present) return undefined
  const as = (other: Vector, ...fields: string[]) =>
    fields.every((field) => equal(actual['after'][field], other[field]))
  // References are resolved earlier, in a separate write.
  const untouched =
    as(before['after'], 'finalizers', 'annotations') &&
    (as(before['after'], 'forProvider') || as(expected['after'], 'forProvider'))
  const called = callsOf(actual).some((call) => call === 'Create' || call === 'Update' || call === 'Delete')
  return untouched && !called ? actual : undefined
}

/** Upstream records the name first, even for an object that is being deleted or waits for a user. */
function nameNotNeeded(round: Round): Vector | undefined {
  const { recorded, before, actual } = round
  const failed = (recorded['kubeWrites'] as Vector[]).some(
    (write) => write['error'] && equal(noted(write), [EXTERNAL_NAME]) && !write['finalizersAdded'],
  )
  const stuck = actual['events'].includes('Warning CannotInitializeManagedResource')
  return failed && (before['deleted'] || stuck) && keepsToPolicies(round) ? actual : undefined
}

/** Applies only to kinds with deterministic names. In both implementations, all others wait for a user. */
function doubtIsWaitedOut({ c, round, before, actual }: Round, expected: Vector): Vector | undefined {
  const waits = actual['events'].includes('Normal PendingExternalResource')
  const released = before['deleted'] && !round['external'].exists && !expected['after'].present
  if (!c['options']?.['deterministicExternalName'] || !waits || !released) return undefined
  const events = [...requestEvents(expected), 'Normal PendingExternalResource', ...disconnectEvents(expected)]
  return { ...expected, events, result: { class: 'backoff' }, after: before['after'] }
}

function absentIsAnError(round: Round, expected: Vector): Vector | undefined {
  const { before, actual } = round
  const { may, onlyObserve } = allowed(round)
  const seen = callsOf(expected).includes('Observe') && !round.round['external'].observeError
  const waits = (expected['events'] as string[]).includes('Normal PendingExternalResource')
  const gone = before['deleted'] || waits || round.round['external'].exists
  if (may.create || onlyObserve || !seen || gone || !before['after'].present) return undefined
  const message = 'observe failed: external resource does not exist'
  const fault = statusFault(round)
  return {
    ...expected,
    calls: (expected['calls'] as Vector[]).filter(({ call }) => call !== 'Update'),
    events: [...requestEvents(expected), 'Warning CannotObserveExternalResource', ...disconnectEvents(expected)],
    result: fault
      ? { class: fault === 'conflict' ? 'backoff' : 'error' }
      : polls(round)
        ? actual['result']
        : expected['result'],
    after: {
      ...expected['after'],
      finalizers: before['after'].finalizers,
      conditions: fault
        ? before['after'].conditions
        : withCondition(before['after'].conditions, {
            type: 'Synced',
            status: 'False',
            reason: 'ReconcileError',
            message,
            observedGeneration: expected['after'].generation,
          }),
    },
    secret: before['secret'],
  }
}

/** Returns whether we poll. If a hook reduces the interval to zero or less, we do not poll again. */
function polls({ c, actual }: Round): boolean {
  const { class: next } = actual['result']
  return next === 'poll' || (next === 'none' && c['options']?.['pollIntervalHookAddsSeconds'] < 0)
}

const disconnectEvents = ({ events }: Vector): string[] =>
  (events as string[]).filter((event) => event === 'Warning CannotDisconnectFromProvider')

function withCondition(held: readonly Vector[], condition: Vector): readonly Vector[] {
  const at = held.findIndex(({ type }) => type === condition['type'])
  return at < 0 ? [...held, condition] : held.with(at, condition)
}

const changes = [
  'finalizersAdded',
  'finalizersRemoved',
  'annotationsSet',
  'annotationsRemoved',
  'specSet',
  'specRemoved',
]
const reports = ['conditionsSet', 'statusSet', 'statusRemoved']

/** Applies if a recorded write failed that would have changed nothing. */
function nothingToWrite(round: Round, expected: Vector): Vector | undefined {
  const { recorded, before, actual } = round
  const { createDetails, updateDetails } = round.round['external'] ?? {}
  // Either the Secret was complete, or it was created in this round and no call added details.
  const whole = equal(actual['secret'], expected['secret']) && !createDetails && !updateDetails
  const kept = actual['secret'] !== undefined && (whole || equal(actual['secret'], before['secret']))
  const idle = (recorded['kubeWrites'] as Vector[]).some((write) => {
    if (!write['error'] || write['verb'] === 'create') return false
    if (write['target'] === 'secret') return kept
    return !write['patch'] && ![...changes, ...reports].some((change) => change in write)
  })
  return idle && actual['result'].class !== 'error' && keepsToPolicies(round) ? actual : undefined
}

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
  return { ...expected, after: withoutSpecWrite(after, forProvider) }
}

/** Returns the object without one write of its spec: its generation and observedGenerations are one lower. */
function withoutSpecWrite(after: Vector, forProvider: Vector): Vector {
  const generation = after['generation'] - 1
  const conditions = (after['conditions'] as Vector[]).map((condition) =>
    condition['observedGeneration'] === after['generation']
      ? { ...condition, observedGeneration: generation }
      : condition,
  )
  return { ...after, forProvider, generation, conditions }
}

/** Go omits empty lists when it serializes an object, so any later write of upstream removes the list. */
function emptyListIsKept({ recorded }: Round, expected: Vector): Vector | undefined {
  const { after } = expected
  const removed = (recorded['kubeWrites'] as Vector[]).some(
    ({ specRemoved, specSet, error }) => equal(specRemoved, ['managementPolicies']) && !specSet && !error,
  )
  return removed && after.present ? { ...expected, after: withoutSpecWrite(after, after.forProvider) } : undefined
}

/** Upstream sets the observed conditions first and thereby loses the previous ones. */
function saidAgain({ before }: Round, expected: Vector): Vector | undefined {
  const held = (before['after'].conditions ?? []) as Condition[]
  const conditions = (expected['after'].conditions ?? []) as Condition[]
  const kept = conditions.map(
    (c) => (c.observedGeneration && held.find((h) => !h.observedGeneration && sameCondition(h, c))) || c,
  )
  if (equal(kept, conditions)) return undefined
  return { ...expected, after: { ...expected['after'], conditions: kept } }
}

/** Later writes of upstream overwrite its observation. */
function observedIsReported(round: Round, expected: Vector): Vector | undefined {
  const { external } = round.round
  const { after } = expected
  const observed = (expected['calls'] as Vector[]).some(({ call, error }) => call === 'Observe' && !error)
  if (!external?.exists || !observed || !after.present || !allowed(round).may.observe) return undefined
  const statusWritten = (round.recorded['kubeWrites'] as Vector[]).some(
    ({ verb, error }) => verb === 'updateStatus' && !error,
  )
  if (!statusWritten || after === round.before['after']) return undefined
  const ready = external.observeSetsReady ? readyCondition(external.observeSetsReady) : undefined
  const own = callsOf(expected).some((call) => call === 'Create' || call === 'Delete')
  const held = (after.conditions as Vector[]).find(({ type }) => type === 'Ready')
  const told = held?.['reason'] === ready?.reason && held?.['message'] === ready?.message
  if (after.atProvider?.state === 'seen' && (own || !ready || told)) return undefined
  return {
    ...expected,
    after: {
      ...after,
      atProvider: { state: 'seen' },
      conditions: ready && !own && !told ? withCondition(after.conditions, { ...ready }) : after.conditions,
    },
  }
}

function referenceIsKept(round: Round, expected: Vector): Vector | undefined {
  const { recorded, before, actual } = round
  const cleared = (recorded['kubeWrites'] as Vector[]).find(
    ({ patch }) => patch && Object.values(patch.spec?.forProvider ?? {}).includes(null),
  )
  if (!cleared) return undefined
  const held = before['after'].forProvider
  const kept = equal(actual['after'].forProvider?.parentRef, held.parentRef)
  // The failed write is one that we do not need.
  if (cleared['error']) return kept && keepsToPolicies(round) ? actual : undefined
  if (!expected['after'].present) return undefined
  const { parentId, parentRef } = held
  const forProvider = { ...expected['after'].forProvider, parentId, parentRef }
  return { ...expected, after: withoutSpecWrite(expected['after'], forProvider) }
}

function createKeepsToTheName({ round, recorded, before }: Round, expected: Vector): Vector | undefined {
  const created = callsOf(expected).includes('Create')
  if (!created || !round['external']?.createMutatesSpecAndStatus || !expected['after'].present) return undefined
  const held = before['after']
  const own = (field: string, value: unknown) => (value === undefined ? {} : { [field]: value })
  const { 'example.org/from-create': _, ...notes } = expected['after'].annotations
  const { size, ...rest } = expected['after'].forProvider
  const forProvider = { ...rest, ...own('size', held.forProvider.size) }
  const wrote = (recorded['kubeWrites'] as Vector[]).some(
    ({ specSet, error }) => specSet?.['forProvider.size'] === 99 && !error,
  )
  const after = wrote ? withoutSpecWrite(expected['after'], forProvider) : { ...expected['after'], forProvider }
  const annotations = { ...notes, ...own('example.org/from-create', held.annotations['example.org/from-create']) }
  return { ...expected, after: { ...after, labels: held.labels, atProvider: held.atProvider, annotations } }
}

function secretIsPublished(of: Round, expected: Vector): Vector | undefined {
  const { round, recorded, actual } = of
  if (!round['external'].exists && !allowed(of).may.create) return undefined
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
  if (!expected['after'].present) return undefined
  const { external } = round.round
  const { update } = allowed(round).may
  const drifted = external?.exists && !external.upToDate
  if (!shown) {
    // The event precedes the write of the condition, which failed in both implementations.
    const unwritten = drifted && !update && statusFault(round)
    const told = unwritten && actual['events'].includes('Warning DriftDetected')
    return told ? { ...expected, events: insertBefore(expected['events'], 'Warning DriftDetected') } : undefined
  }
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

/** Inserts an event before the disconnect event, which is always last. */
function insertBefore(events: readonly string[], event: string): readonly string[] {
  const at = events.indexOf('Warning CannotDisconnectFromProvider')
  return at < 0 ? [...events, event] : events.toSpliced(at, 0, event)
}

function warned({ c, before, actual }: Round, expected: Vector): Vector | undefined {
  const warnings = (actual['events'] as string[]).filter((event) => /Field(Ignored|Deprecated)$/.test(event))
  if (warnings.length === 0) return undefined
  const { managementPolicies, deletionPolicy } = before['spec']
  const orphan = c['gate'] && deletionPolicy === 'Orphan'
  const ignored = !c['gate'] && managementPolicies !== undefined && !equal(managementPolicies, ['*'])
  if (!orphan && !ignored) return undefined
  const first = requestEvents(expected)
  return { ...expected, events: [...first, ...warnings, ...expected['events'].slice(first.length)] }
}

function nameNotedLater({ before, actual }: Round, expected: Vector): Vector | undefined {
  const { after } = expected
  const noted = (object: Vector) => object['annotations']?.[EXTERNAL_NAME]
  if (!after.present || noted(after) !== 'w' || noted(before['after']) || noted(actual['after'])) return undefined
  const { [EXTERNAL_NAME]: _, ...annotations } = after.annotations
  // An empty annotation is kept.
  const held = before['after'].annotations?.[EXTERNAL_NAME]
  return {
    ...expected,
    after: { ...after, annotations: held === '' ? { ...annotations, [EXTERNAL_NAME]: '' } : annotations },
  }
}
