import type { Next } from '@crosstie/controller'
import {
  type Condition,
  conditionsOf,
  isConflict,
  isObject,
  type Json,
  type KubeObject,
  messageOf,
  sameCondition,
} from '@crosstie/kube'
import { ChangeCount } from '../definition/change-count.js'
import type { Present } from '../definition/external.js'
import type { ProviderConfiguration } from '../definition/provider-config.js'
import type { Node } from '../definition/schema.js'
import {
  type CreateHistory,
  createHistoryOf,
  externalNameOf,
  isDeleted,
  isQueried,
  newReconcileRequest,
  pollIntervalOf,
} from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { Redactor } from '../status/redact.js'
import { type StatusChange, writeStatus } from '../status/write.js'
import type { ObjectState } from './object-state.js'
import type { AdoptionPolicy } from './ownership/ownership.js'
import { onlyObserving, type Policies, type PolicySpec, policiesOf } from './policy/policy.js'
import type { KindRuntime } from './runtime.js'
import type { GivenSecret } from './secrets/rotation.js'

/** Field values of an object, by name. */
export type Values = Readonly<Record<string, unknown>>

/** The spec of a managed resource. */
export interface ManagedSpec extends PolicySpec {
  readonly forProvider?: Values
  readonly initProvider?: Values
  readonly ignoreChanges?: readonly string[]
  readonly providerConfigRef?: { readonly name: string }
  readonly writeConnectionSecretToRef?: { readonly name: string; readonly namespace?: string }
  readonly aggregateRef?: { readonly name?: string; readonly uid?: string }
  readonly classRef?: { readonly name?: string }
  readonly adoptionPolicy?: AdoptionPolicy
}

/** Returns the spec of a managed resource; empty if it does not have one. */
export const managedSpecOf = (object: KubeObject): ManagedSpec => (object['spec'] ?? {}) as ManagedSpec

interface ManagedStatus extends Values {
  readonly atProvider?: Values
  readonly externalName?: string
  readonly creationInDoubt?: boolean
}

const REPORT_MS = 5_000

/** A failed step, with its event and the conditions to set. */
export class Failure extends Error {
  override readonly name = 'Failure'
  /** The reason of the event; undefined emits no event. */
  readonly reason: string | undefined
  readonly eventMessage: string
  readonly conditions: readonly Condition[]

  constructor(
    told: {
      readonly reason?: string | undefined
      readonly message: string
      readonly eventMessage?: string
      readonly conditions?: readonly Condition[]
    },
    options?: ErrorOptions,
  ) {
    super(told.message, options)
    this.reason = told.reason
    this.eventMessage = told.eventMessage ?? told.message
    this.conditions = told.conditions ?? []
  }
}

/** The known state of the external resource: its name if it exists, or whether a create is in doubt. */
export interface Existence {
  readonly name?: string
  readonly inDoubt?: boolean
}

/** How to report the failure of a step. */
export interface FailureReport {
  /** The reason of the event; absent emits no event. */
  readonly reason?: string
  /** A prefix of the error message in the condition. The event has it only with `both`. */
  readonly prefix?: string
  readonly both?: boolean
  readonly conditions?: readonly Condition[]
  /**
   * Whether to report conflicts as well. By default, a conflict means that another writer was faster, and the
   * reconciler retries.
   */
  readonly evenConflicts?: boolean
}

/** Runs one step. Throws a Failure, or a conflict that the reconciler retries without a report. */
export async function step<T>(report: FailureReport, run: () => Promise<T> | T): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw failure(report, error)
  }
}

/** Returns the error that a failed step throws. */
export function failure(report: FailureReport, error: unknown): unknown {
  if (error instanceof Failure || (isConflict(error) && !report.evenConflicts)) return error
  const message = `${report.prefix ?? ''}${messageOf(error)}`
  return new Failure(
    {
      reason: report.reason,
      message,
      eventMessage: report.both ? message : messageOf(error),
      ...(report.conditions ? { conditions: report.conditions } : {}),
    },
    { cause: error },
  )
}

/** One reconciliation of one object, from reading it to writing its status. */
export class Reconciliation {
  readonly policies: Policies
  readonly history: CreateHistory
  /** Whether this reconciliation has called the provider or is about to. */
  called = false
  /** Counts the requests of this reconciliation that change external resources. */
  readonly changes = new ChangeCount()
  /** A request to reconcile now. It is recorded as handled when the status is written. */
  request: string | undefined
  #managed: KubeObject
  /** Redacts secrets in everything that is reported. */
  readonly secrets = new Redactor()
  /** Values read from Secrets for fields of forProvider, by field. */
  readonly given: Map<string, GivenSecret> | undefined
  /** The Secret revision of each sensitive value, by field. */
  readonly revisions: Map<string, string> | undefined
  /** The provider configuration, once it is read. */
  config: ProviderConfiguration | undefined
  /** The Approved condition to report, if any. */
  approval: Condition | undefined
  /** The digest of the approved plan that is being executed. */
  executing: string | undefined
  #atProvider: Values | undefined
  #ready: Condition | undefined
  #existence: Existence | undefined

  constructor(
    readonly runtime: KindRuntime,
    managed: KubeObject,
    readonly signal: AbortSignal,
  ) {
    this.#managed = managed
    if (runtime.sensitiveFields.length > 0) {
      this.given = new Map()
      this.revisions = new Map()
    }
    this.history = createHistoryOf(managed)
    this.request = newReconcileRequest(managed)
    const stated = policiesOf(this.spec, {
      gate: runtime.features.managementPolicies,
      hasDeletionPolicy: runtime.kind.hasDeletionPolicy,
      refuse: runtime.kind.refusePolicies,
    })
    // Objects of a query only observe, whatever their spec and the feature gates say (OBS4).
    this.policies = isQueried(managed) ? onlyObserving(stated) : stated
  }

  /** The latest known state of the object. */
  get managed(): KubeObject {
    return this.#managed
  }

  /** Records the write, so that its watch event does not trigger a reconcile. */
  set managed(written: KubeObject) {
    this.#managed = written
    this.runtime.selfWrites.add(written)
  }

  /** The in-memory state of the object. */
  get state(): ObjectState {
    return this.runtime.memory.of(this.managed)
  }

  get spec(): ManagedSpec {
    return managedSpecOf(this.managed)
  }

  get #status(): ManagedStatus {
    return (this.managed['status'] ?? {}) as ManagedStatus
  }

  get forProvider(): Values {
    return this.spec.forProvider ?? {}
  }

  /** Absent while the feature gate is off. */
  get initProvider(): Values | undefined {
    return this.runtime.features.managementPolicies ? this.spec.initProvider : undefined
  }

  /** The name to use with the provider: the annotation, or the name of the object if names are user-chosen. */
  get externalName(): string {
    const noted = externalNameOf(this.managed)
    return noted === '' && this.runtime.kind.naming === 'user-chosen' ? this.managed.metadata.name! : noted
  }

  /** The name of the external resource in the status; empty until the resource was known to exist. */
  get recordedName(): string {
    return this.#status.externalName ?? ''
  }

  /** Whether the status records a create with unknown result. */
  get recordedDoubt(): boolean {
    return this.#status.creationInDoubt === true
  }

  /**
   * Records for the next report whether the external resource exists. An object that may only observe records
   * nothing, so that a wrong name can be corrected. Nothing is changed under that name.
   */
  know(existence: Existence): void {
    if (this.policies.onlyObserve) return
    this.#existence = existence
    this.state.externalName = existence.name ?? ''
  }

  /** Records the observed resource for the next report. */
  saw(observed: Present): void {
    this.know({ name: observed.externalName || this.externalName })
    this.#atProvider = this.policies.may.observe
      ? this.secrets.mask(project(this.runtime, observed.atProvider))
      : undefined
    if (observed.ready !== undefined) {
      const said = observed.ready
      this.#ready = said === true ? conditions.available() : said === false ? conditions.unavailable() : said
    }
  }

  /** Whether the last report covers the current generation of the object. */
  get alreadyReported(): boolean {
    const synced = conditionsOf(this.managed).find(({ type }) => type === 'Synced')
    return synced?.observedGeneration === this.managed.metadata.generation
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.runtime.events.event(this.managed, type, reason, this.secrets.redact(message))
  }

  /** Writes the status if it changes. `said` are the conditions of the reconciler, in order. */
  async report(...said: readonly Condition[]): Promise<void> {
    const { runtime, managed } = this
    const held = conditionsOf(managed)
    const wanted = this.#conditions(said)
    runtime.witness?.reported(this, wanted)
    const fields = {
      ...(this.#atProvider ? { atProvider: this.#atProvider } : {}),
      ...(this.request ? { lastHandledReconcileAt: this.request } : {}),
    }
    const existence = this.#existenceIsReported() ? {} : { base: this.#withExistence(this.#status) }
    const transitionTime = (condition: Condition) => lasting(held, condition)
    // The report is sent even after the deadline of the reconciliation, since it may be about that.
    const signal = this.signal.aborted ? AbortSignal.timeout(REPORT_MS) : this.signal
    try {
      const written = await this.#writeStatus({ fields, conditions: wanted, transitionTime, ...existence }, signal)
      if (!written) return
      this.#notePruned()
      this.#measure(held)
    } catch (error) {
      if (isConflict(error)) throw error
      throw new Error(`cannot update managed resource status: ${messageOf(error)}`, { cause: error })
    }
  }

  async #writeStatus(change: StatusChange, signal: AbortSignal): Promise<boolean> {
    const { runtime, managed } = this
    const options = { now: runtime.clock.now(), signal }
    const written = await writeStatus(runtime.client, runtime.kind.type, managed, change, options)
    if (written === managed) return false
    this.managed = written
    return true
  }

  #existenceIsReported(): boolean {
    const { name = '', inDoubt = false } = this.#existence ?? { name: this.recordedName, inDoubt: this.recordedDoubt }
    return name === this.recordedName && inDoubt === this.recordedDoubt
  }

  #withExistence(status: Values): Values {
    if (!this.#existence) return status
    const { externalName: _, creationInDoubt: __, ...rest } = status
    const { name, inDoubt } = this.#existence
    return { ...rest, ...(name ? { externalName: name } : {}), ...(inDoubt ? { creationInDoubt: true } : {}) }
  }

  /** Writes the state of the external resource immediately, if the status differs. */
  async recordExistence(existence: Existence): Promise<void> {
    this.know(existence)
    if (this.#existenceIsReported()) return
    await this.#writeStatus({ base: this.#withExistence(this.#status) }, this.signal)
  }

  /** Returns the conditions to write. The observed readiness is used unless the reconciler reports its own. */
  #conditions(said: readonly Condition[]): readonly Condition[] {
    const { generation } = this.managed.metadata
    const seen = this.#ready && this.#redacted(this.#ready)
    const set: Condition[] = []
    if (seen && !said.some(({ type }) => type === 'Ready')) set.push(seen)
    for (const condition of this.approval ? [...said, this.approval] : said) {
      const told = this.#redacted(condition)
      if (seen && sameCondition(seen, told)) set.push(seen)
      else set.push(generation ? { ...told, observedGeneration: generation } : told)
    }
    return set
  }

  /**
   * Records fields that a server with an older CRD dropped. They are not sent again, since every report would
   * differ.
   */
  #notePruned(): void {
    if (!this.#atProvider) return
    const kept = this.#status.atProvider ?? {}
    for (const name in this.#atProvider) if (kept[name] === undefined) this.runtime.pruned.add(name)
  }

  /** Measures the time to ready and the duration of drift when they end. */
  #measure(before: readonly Condition[]): void {
    const { runtime, managed } = this
    const changed = (type: string, status: string) =>
      before.find((c) => c.type === type)?.status !== status &&
      conditionsOf(managed).some((c) => c.type === type && c.status === status)
    const since = (time: string | undefined) => (runtime.clock.now() - Date.parse(time ?? '')) / 1000
    const drifted = before.find((c) => c.type === 'Drifted' && c.status === 'True')
    if (changed('Ready', 'True')) runtime.metrics.ready(runtime.kind, since(managed.metadata.creationTimestamp))
    if (drifted && changed('Drifted', 'False')) runtime.metrics.drifted(runtime.kind, since(drifted.lastTransitionTime))
  }

  #redacted(condition: Condition): Condition {
    return condition.message ? { ...condition, message: this.secrets.redact(condition.message) } : condition
  }

  /** Returns the time of the next poll. */
  poll(): Next {
    const { runtime, managed } = this
    const asked = pollIntervalOf(managed)
    const settled = asked === undefined ? runtime.pollSeconds : Math.max(asked, runtime.minPollSeconds)
    const interval = this.#ready?.status === 'False' ? Math.min(settled, runtime.unreadySeconds) : settled
    const seconds = runtime.adjustPoll(managed, interval)
    return seconds > 0 ? { after: 'poll', seconds } : { after: 'never' }
  }

  /** Patches the metadata, based on the revision that was read. Throws a conflict if the object was written since. */
  async patchMetadata(metadata: Record<string, unknown>): Promise<void> {
    const { runtime, managed } = this
    const { name, namespace, resourceVersion } = managed.metadata
    const key = { name: name!, ...(namespace ? { namespace } : {}) }
    const patch = { metadata: { resourceVersion, ...metadata } } as unknown as Json
    this.managed = await runtime.client.patch(runtime.kind.type, key, { type: 'merge', patch }, { signal: this.signal })
  }
}

/**
 * Drifted and Approved keep their transition time while the status stays the same, even if reason or message
 * change.
 */
function lasting(held: readonly Condition[], { type, status }: Condition): string | undefined {
  if (type !== 'Drifted' && type !== 'Approved') return undefined
  return held.find((before) => before.type === type && before.status === status)?.lastTransitionTime
}

/**
 * Returns the reported values that the schema contains. The API server would drop the others, and every report
 * would differ.
 */
function project({ atProvider, pruned }: KindRuntime, value: unknown): Values {
  const values = (projected(atProvider, value) ?? {}) as Record<string, unknown>
  for (const name of pruned) delete values[name]
  return values
}

function projected(node: Node, value: unknown): unknown {
  if (value === undefined || value === null) return undefined
  if (node.type === 'object' && isObject(value)) {
    const kept: Record<string, unknown> = {}
    for (const name in value) {
      const field = node.fields?.[name]
      if (!field || field.sensitive) continue
      const inner = projected(field, value[name])
      if (inner !== undefined) kept[name] = inner
    }
    return kept
  }
  if (node.type === 'list' && Array.isArray(value)) return value.map((item) => projected(node.items!, item))
  return value
}

/**
 * Reports whether the object was ready and in sync at its current generation, without a pending request, create or
 * deletion.
 */
export function isInSync(reconciliation: Reconciliation): boolean {
  const conditions = conditionsOf(reconciliation.managed)
  const is = (type: string) => conditions.some((condition) => condition.type === type && condition.status === 'True')
  return (
    reconciliation.alreadyReported &&
    is('Ready') &&
    is('Synced') &&
    !isDeleted(reconciliation.managed) &&
    !reconciliation.history.attempted &&
    !reconciliation.request
  )
}
