import { createHash } from 'node:crypto'
import type { Next } from '@crosstie/controller'
import { conditionsOf, isObject, type KubeObject, setFieldValue, stringify } from '@crosstie/kube'
import type { Difference } from '../../definition/external.js'
import type { Node } from '../../definition/schema.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import { approvals, conditions, drifts } from '../../status/conditions.js'
import { describe } from '../observe/describe.js'
import type { Reconciliation, Values } from '../reconciliation.js'
import { GENERATED } from '../secrets/secrets.js'

/** A call to the provider that changes something, before it is sent. */
export interface Intended {
  readonly call: 'Create' | 'Update' | 'Delete'
  readonly externalName: string
  readonly forProvider: Values
  readonly changed?: Values
  readonly differences?: readonly Difference[]
  readonly removed?: Readonly<Record<string, readonly string[]>>
  readonly tags?: Readonly<Record<string, string>>
  /** The observed values of the external resource. */
  readonly observed?: Values
}

/** Reports whether the object or its ProviderConfig requires approval before the external resource is changed. */
export function needsApproval({ managed, config }: Reconciliation): boolean {
  return annotationOf(managed, annotations.approval) === 'required' || config?.approval === true
}

/**
 * Checks the approval directly before a call. If approval is required, only the approved call passes, and undefined
 * is returned. Otherwise, reports the plan that awaits approval and returns the time of the next poll.
 */
export async function awaitApproval(reconciliation: Reconciliation, intended: Intended): Promise<Next | undefined> {
  const { witness } = reconciliation.runtime
  if (witness) {
    witness.calling(reconciliation, intended)
    return undefined
  }
  if (!needsApproval(reconciliation)) return undefined
  const digest = digestOf(reconciliation, intended)
  const approved = approvedPlan(reconciliation.managed)
  if (approved === digest) {
    reconciliation.approval = approvals.planApproved(digest)
    reconciliation.executing = digest
    return undefined
  }
  await hold(reconciliation, intended, digest, approved)
  return reconciliation.poll()
}

async function hold(
  reconciliation: Reconciliation,
  intended: Intended,
  digest: string,
  approved: string,
): Promise<void> {
  const what = summaryOf(reconciliation, intended)
  const stale = approved !== ''
  const message = stale
    ? `the approved plan ${short(approved)} no longer fits: what would be done now is ${what} (plan ${digest})`
    : `${what} (plan ${digest})`
  reconciliation.approval = stale ? approvals.stale(message) : approvals.required(message)
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Approved')
  if (held?.status !== 'False' || held.message !== reconciliation.secrets.redact(message)) {
    reconciliation.event('Warning', reconciliation.approval.reason, message)
  }
  const differs = intended.call === 'Update' ? [drifts.unapproved(differencesIn(reconciliation, intended))] : []
  await reconciliation.report(conditions.awaitingApproval(), ...differs)
}

const differencesIn = (reconciliation: Reconciliation, { differences = [] }: Intended): string =>
  describe(reconciliation.secrets, differences) || 'the provider reports a difference'

function summaryOf(reconciliation: Reconciliation, intended: Intended): string {
  const named = intended.externalName ? ` ${JSON.stringify(intended.externalName)}` : ''
  switch (intended.call) {
    case 'Create':
      return `to create the external resource${named}`
    case 'Delete':
      return `to delete the external resource${named}`
    case 'Update':
      return `to update the external resource${named}: ${differencesIn(reconciliation, intended)}`
  }
}

const short = (digest: string): string => digest.slice(0, 'sha256:'.length + 12)

/** Records that no plan awaits approval. */
export function nothingToApprove(reconciliation: Reconciliation): void {
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Approved')
  if (held?.status === 'False') reconciliation.approval = approvals.nothing()
}

/** Returns the digest of the plan that is approved and not executed yet; empty without one. */
export function approvedPlan(managed: KubeObject): string {
  const approved = annotationOf(managed, annotations.approvedPlan)
  return approved === annotationOf(managed, annotations.executedPlan) ? '' : approved
}

/** Returns the annotation for an executed plan. An approval is valid for one execution. */
export function noteExecuted({ executing }: Reconciliation): Readonly<Record<string, string>> {
  return executing ? { [annotations.executedPlan]: executing } : {}
}

/**
 * Returns a digest of a call and everything that it depends on: its parameters, the observed resource, the provider
 * configuration, the policies and the plan that was executed before. Any change results in another digest.
 *
 * Sensitive values are represented by the revision of their Secret, because a short password could be guessed from
 * a digest. The uid is not included, so that an object can be planned before it is created.
 */
export function digestOf(reconciliation: Reconciliation, intended: Intended): string {
  const { runtime, managed, spec, policies, config } = reconciliation
  const { name, namespace, uid = '' } = managed.metadata
  const { forProvider, changed, observed, tags, ...rest } = intended
  const document = {
    version: 1,
    object: { group: runtime.kind.type.group, kind: runtime.kind.type.kind, namespace, name },
    ...rest,
    forProvider: withRevisions(reconciliation, forProvider),
    changed: changed && withRevisions(reconciliation, changed),
    observed: observed && settable(runtime.kind.parameters, observed),
    tags: tags && Object.entries(tags).map(([key, value]) => [key, value === uid ? '(uid)' : value]),
    settings: {
      may: policies.may,
      onlyObserve: policies.onlyObserve,
      ignoreChanges: runtime.features.ignoreChanges ? spec.ignoreChanges : undefined,
      providerConfig: config && { name: config.name, spec: config.spec, credentials: config.credentialsRevision },
    },
    after: annotationOf(managed, annotations.executedPlan),
  }
  const text = stringify(sorted(reconciliation.secrets.mask(document)))
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Replaces sensitive values by the revision of their Secret. */
function withRevisions(reconciliation: Reconciliation, values: Values): Values {
  let filled = values
  for (const { path } of reconciliation.runtime.sensitiveFields) {
    if (valueAt(values, path) === undefined) continue
    const revision = reconciliation.revisions?.get(path.join('.')) ?? GENERATED
    filled = setFieldValue(
      filled,
      path.map((field) => ({ field })),
      revision,
    )
  }
  return filled
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

/**
 * Returns the reported fields that a spec could set. Counters and timestamps of the provider do not change the
 * digest.
 */
function settable(node: Node, value: unknown): unknown {
  if (node.type === 'object' && isObject(value)) {
    const fields = Object.entries(node.fields ?? {}).filter(([, field]) => !field.sensitive)
    return Object.fromEntries(fields.map(([name, field]) => [name, settable(field, value[name])]))
  }
  if (node.type === 'list' && Array.isArray(value)) {
    const items = value.map((item) => settable(node.items!, item))
    return node.set ? items.map((item) => stringify(sorted(item))).sort() : items
  }
  return value
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return keys.filter((key) => value[key] !== undefined).map((key) => [key, sorted(value[key])])
}
