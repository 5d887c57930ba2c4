import {
  apiVersionOf,
  groupResource,
  type KubeObject,
  messageOf,
  type ObjectKey,
  type ResourceType,
} from '@crosstie/kube'
import { forEachLimited } from '../concurrency.js'
import type { ManagedKind } from '../definition/managed.js'
import { fieldsBelow } from '../definition/schema.js'
import { reconcile } from '../managed/reconcile.js'
import { type KindRuntime, kindRuntimeFor, type ManagedOptions } from '../managed/runtime.js'
import { externalNameOf } from '../metadata/metadata.js'
import { type Outcome, type Plan, type PlannedResource, planOf, type Step } from './document.js'
import { imaginedKind } from './external.js'
import type { Imagination } from './imagined.js'
import { ReconciliationRecord } from './record.js'
import { UNKNOWN } from './unknown.js'

/** An object to plan for. */
export interface Subject {
  readonly kind: ManagedKind
  readonly key: ObjectKey
  readonly object?: PlannedResource['object']
}

/** The options of `plan`. */
export interface PlanOptions
  extends Pick<ManagedOptions, 'clock' | 'features' | 'budgets' | 'surroundings' | 'random'> {
  /** The planned state of the cluster. */
  readonly world: Imagination
  /** Returns the call budgets of a kind. Defaults to `budgets` for all kinds. */
  readonly budgetsFor?: (kind: ManagedKind) => ManagedOptions['budgets']
  /** The maximum number of resources that are planned at once. */
  readonly concurrency?: number
}

/** One resource of a plan, and the record of its reconciliation. */
interface Imagined {
  readonly resource: PlannedResource
  readonly record: ReconciliationRecord
}

const CONCURRENCY = 8

/**
 * Plans the next reconciliation of some objects. It runs the reconciler on the planned state, so nothing is written
 * to the server or to the provider.
 */
export async function plan(options: PlanOptions, subjects: readonly Subject[], signal: AbortSignal): Promise<Plan> {
  return planOf((await imagineAll(options, subjects, signal)).map(({ resource }) => resource))
}

/** Plans like `plan`, and also returns the calls to the provider. They contain secrets. */
export async function imagineAll(
  options: PlanOptions,
  subjects: readonly Subject[],
  signal: AbortSignal,
): Promise<readonly Imagined[]> {
  const done = new Map<Subject, Imagined>()
  const run = async (subject: Subject) => {
    // A retry starts from the same state as the first attempt.
    options.world.undo(done.get(subject)?.record.writes ?? [])
    done.set(subject, await imagine(options, subject, signal))
  }
  const hasFailed = (subject: Subject) => done.get(subject)?.resource.outcome === 'error'
  let open = subjects
  // A reference to a planned object resolves once that object is planned. The loop ends after a round without progress.
  while (open.length > 0) {
    for (const { members, apart } of inOrderOfReference(open)) {
      await forEachLimited(members, apart ? 1 : (options.concurrency ?? CONCURRENCY), run)
    }
    const failed = open.filter(hasFailed)
    if (failed.length === open.length) break
    open = failed
  }
  return subjects.map((subject) => done.get(subject)!)
}

/**
 * Sorts subjects so that referenced kinds come first. Objects of a kind that refers to itself are planned
 * sequentially, in the given order.
 */
function inOrderOfReference(subjects: readonly Subject[]) {
  const byKind = new Map<ManagedKind, Subject[]>()
  for (const subject of subjects) byKind.set(subject.kind, [...(byKind.get(subject.kind) ?? []), subject])
  const ordered: ManagedKind[] = []
  const visiting = new Set<ManagedKind>()
  const visit = (kind: ManagedKind): void => {
    if (visiting.has(kind)) return
    visiting.add(kind)
    for (const target of targetsOf(kind)) for (const other of byKind.keys()) if (isOf(other, target)) visit(other)
    ordered.push(kind)
  }
  for (const kind of byKind.keys()) visit(kind)
  return ordered.map((kind) => ({
    members: byKind.get(kind)!,
    apart: targetsOf(kind).some((target) => isOf(kind, target)),
  }))
}

const targetsOf = (kind: ManagedKind): readonly ResourceType[] =>
  [...fieldsBelow(kind.parameters)].flatMap(({ node }) => (node.reference ? [node.reference.to()] : []))

const isOf = ({ type }: ManagedKind, target: ResourceType): boolean => groupResource(type) === groupResource(target)

async function imagine(options: PlanOptions, subject: Subject, signal: AbortSignal): Promise<Imagined> {
  const { kind, key } = subject
  const { world, concurrency: _, budgetsFor, ...rest } = options
  const record = new ReconciliationRecord()
  const before = await world.find(kind.type, key).catch((error: unknown) => messageOf(error))
  if (before === undefined || typeof before === 'string') {
    const error = before ?? `there is no ${kind.type.kind} ${key.name}`
    return { record, resource: failedPlan(kind, key, error) }
  }
  const client = world.client((write) => record.wrote(write))
  const budgets = budgetsFor?.(kind) ?? options.budgets
  const more = { ...rest, ...(budgets ? { budgets } : {}) }
  const runtime: KindRuntime = kindRuntimeFor(imaginedKind(kind), { ...more, client, witness: record })
  let error: string | undefined
  try {
    await reconcile(runtime, key, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    error = messageOf(thrown)
  }
  const { object } = subject
  const resource = { ...identityOf(kind, key), ...(object ? { object } : {}), ...told(kind, record, before, error) }
  return { record, resource }
}

const identityOf = ({ type }: Pick<ManagedKind, 'type'>, key: ObjectKey) => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  ...key,
})

/** Returns the entry of an object that cannot be planned. */
export const failedPlan = (kind: Pick<ManagedKind, 'type'>, key: ObjectKey, error: string): PlannedResource => ({
  ...identityOf(kind, key),
  outcome: 'error',
  because: error,
  steps: [],
  suppressed: [],
  approval: 'NotRequired',
  error,
})

type Told = Omit<PlannedResource, 'apiVersion' | 'kind' | 'name' | 'namespace' | 'object'>

/** Reasons of Synced after which a user must act. */
const failures = new Set(['ReconcileError', 'ExternalNameTaken', 'ExternalNameForbidden'])

function told(kind: ManagedKind, record: ReconciliationRecord, managed: KubeObject, thrown: string | undefined): Told {
  const { decision, synced } = record
  const failed = synced !== undefined && failures.has(synced.reason)
  const error = thrown ?? (failed ? (synced.message ?? synced.reason) : undefined)
  const steps = error === undefined ? record.steps(managed) : []
  const externalName = nameAfter(kind, record, managed)
  const outcome = error === undefined ? outcomeOf(record, steps) : 'error'
  return {
    ...(externalName ? { externalName } : {}),
    outcome,
    because: error ?? (outcome === 'paused' ? 'reconciliation is paused' : (decision?.because ?? '')),
    steps,
    suppressed: record.suppressed,
    ...record.approval,
    ...(error === undefined ? {} : { error }),
  }
}

function nameAfter(kind: ManagedKind, record: ReconciliationRecord, managed: KubeObject): string {
  const [call] = record.calls
  if (!call) return externalNameOf(managed)
  return call.call === 'Create' && kind.naming === 'provider-assigned' ? UNKNOWN : call.externalName
}

function outcomeOf({ decision, synced }: ReconciliationRecord, steps: readonly Step[]): Outcome {
  for (const outcome of ['create', 'update', 'delete', 'release'] as const) {
    if (steps.some(({ action }) => action === outcome)) return outcome
  }
  if (steps.length > 0) return 'adjust'
  if (synced?.reason === 'ReconcilePaused') return 'paused'
  return decision?.do === 'wait' ? 'wait' : 'none'
}
