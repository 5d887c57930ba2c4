import { isObject, type KubeObject, type ObjectMeta, type OwnerReference, parseGoDuration } from '@crosstie/kube'

/** Annotations of managed resources. */

export const annotations = {
  externalName: 'crossplane.io/external-name',
  paused: 'crossplane.io/paused',
  pollInterval: 'crossplane.io/poll-interval',
  reconcileRequestedAt: 'crossplane.io/reconcile-requested-at',
  createPending: 'crossplane.io/external-create-pending',
  createSucceeded: 'crossplane.io/external-create-succeeded',
  createFailed: 'crossplane.io/external-create-failed',
  /** The requests of creates whose result is unknown. */
  asked: 'crosstie.io/create-asked',
  /** The processes that started an idempotent create, with the time. */
  creating: 'crosstie.io/creating',
  /** The Secret revisions whose values the external resource has. */
  secretRevisions: 'crosstie.io/secret-revisions',
  /** The keys of shared maps that the control plane set. */
  appliedKeys: 'crosstie.io/applied-keys',
  /** "required" means that changes of the external resource need approval. */
  approval: 'crossplane.io/approval',
  /** The digest of the plan that may be executed. */
  approvedPlan: 'crossplane.io/approved-plan',
  /** The digest of the approved plan that was executed last. */
  executedPlan: 'crosstie.io/executed-plan',
} as const

/** The finalizer of managed resources. */
export const finalizer = 'finalizer.managedresource.crossplane.io'

/** Returns the value of an annotation; empty if it is absent. */
export function annotationOf(object: KubeObject, name: string): string {
  return object.metadata.annotations?.[name] ?? ''
}

/** Returns the external name in the annotation; empty if it is absent. */
export const externalNameOf = (object: KubeObject): string => annotationOf(object, annotations.externalName)

/** The metadata of a stored object, which always has a name and a uid. */
export type StoredMeta = ObjectMeta & Required<Pick<ObjectMeta, 'name' | 'uid'>>

/** Returns the metadata of an object that was read from the server. Throws for an object that was never stored. */
export function storedMeta({ kind, metadata }: KubeObject): StoredMeta {
  const { name, uid } = metadata
  if (name === undefined || uid === undefined)
    throw new Error(`${kind} ${name ?? ''} has no name or uid: it was never stored`)
  return { ...metadata, name, uid }
}

/** Returns the preconditions with which a delete removes exactly this revision of the object. */
export function revisionOf(object: KubeObject): { readonly uid: string; readonly resourceVersion: string } {
  const { name, uid, resourceVersion } = storedMeta(object)
  if (resourceVersion === undefined) throw new Error(`${object.kind} ${name} has no resourceVersion`)
  return { uid, resourceVersion }
}

/** Reports whether the object is paused. Only the exact value "true" pauses. */
export const isPaused = (object: KubeObject): boolean => annotationOf(object, annotations.paused) === 'true'

/**
 * Reports whether the object was provisioned for a claim that does not reference it yet. Controllers ignore such an
 * object.
 */
export const isProvisioning = (object: KubeObject): boolean =>
  annotationOf(object, 'resourceclaim.crossplane.io/provisioning') !== '' && !isDeleted(object)

/** The label with the uid of the query that found the resource. */
export const queryLabel = 'crosstie.io/query'

/**
 * Reports whether a query created the object. The label counts in addition to the owner: if a query is deleted and
 * its dependents are orphaned, they must still only observe.
 */
export function isQueried({ kind, metadata: { labels, ownerReferences } }: KubeObject): boolean {
  return labels?.[queryLabel] !== undefined || controllerOf(ownerReferences)?.kind === `${kind}Query`
}

/** Reports whether the object is being deleted. */
export const isDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined

/** Returns the finalizers with `name`. Returns the same list if it is already included. */
export function withFinalizer(finalizers: readonly string[] | undefined, name: string): readonly string[] {
  return finalizers?.includes(name) ? finalizers : [...(finalizers ?? []), name]
}

/** Returns the finalizers without `name`. */
export function withoutFinalizer(finalizers: readonly string[] | undefined, name: string): readonly string[] {
  return (finalizers ?? []).filter((other) => other !== name)
}

/** Returns the owner that is the controller, if there is one. */
export function controllerOf(owners: readonly OwnerReference[] | undefined): OwnerReference | undefined {
  return owners?.find(({ controller }) => controller)
}

/** Reports whether both objects have the same controller. Objects without a controller do not. */
export function haveSameController(a: readonly OwnerReference[] | undefined, b: readonly OwnerReference[] | undefined) {
  const controller = controllerOf(a)
  return controller !== undefined && controller.uid === controllerOf(b)?.uid
}

/** Adds or replaces an owner. Throws if the object has another controller. */
export function withControllerReference(
  owners: readonly OwnerReference[] | undefined,
  owner: OwnerReference,
  ofObject: string,
): readonly OwnerReference[] {
  const controller = controllerOf(owners)
  if (controller && controller.uid !== owner.uid) {
    throw new Error(
      `${ofObject} is already controlled by ${controller.kind} ${controller.name} (UID ${controller.uid})`,
    )
  }
  const at = (owners ?? []).findIndex(({ uid }) => uid === owner.uid)
  return at < 0 ? [...(owners ?? []), owner] : (owners ?? []).with(at, owner)
}

/** Returns the owner reference with which the object controls another one. */
export function controllerReference(object: KubeObject): OwnerReference {
  const { apiVersion, kind } = object
  const { name, uid } = storedMeta(object)
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

/**
 * Parses an RFC 3339 time as Go does. Returns milliseconds since the epoch; undefined for invalid text and for Go's
 * zero time.
 */
export function parseTime(text: string): number | undefined {
  const match = rfc3339.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (year <= 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined
  const [fraction = '', sign, zoneHours = '0', zoneMinutes = '0'] = match.slice(7)
  if (Number(zoneHours) > 24 || Number(zoneMinutes) > 60) return undefined
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return Date.UTC(year, month - 1, day, hour, minute - offset, second, milliseconds)
}

/** The recorded progress of creating the external resource. Times are in milliseconds. */
export interface CreateHistory {
  readonly pending: number | undefined
  readonly succeeded: number | undefined
  readonly failed: number | undefined
  /** A create was started, and its result is unknown. */
  readonly incomplete: boolean
  /** A create was started and is not known to have succeeded. It may have failed. */
  readonly attempted: boolean
}

const never = Number.NEGATIVE_INFINITY

/** Returns the create history from the annotations of the object. */
export function createHistoryOf(object: KubeObject): CreateHistory {
  const at = (name: string) => parseTime(annotationOf(object, name))
  const pending = at(annotations.createPending)
  const succeeded = at(annotations.createSucceeded)
  const failed = at(annotations.createFailed)
  const begun = pending ?? never
  return {
    pending,
    succeeded,
    failed,
    incomplete: begun > Math.max(succeeded ?? never, failed ?? never),
    attempted: begun > (succeeded ?? never),
  }
}

/** Reports whether the last create succeeded within this time, so that the provider may not show the resource yet. */
export function createdWithin({ succeeded }: CreateHistory, milliseconds: number, now: number): boolean {
  return succeeded !== undefined && now - succeeded < milliseconds
}

/** Parses a Go duration (`1h30m`, `100ms`) to nanoseconds. Returns undefined if it is invalid or not positive. */
export function positiveDuration(text: string): bigint | undefined {
  const duration = parseGoDuration(text)
  return duration !== undefined && duration > 0n ? duration : undefined
}

/** Returns the poll interval in the annotation, in seconds. */
export function pollIntervalOf(object: KubeObject): number | undefined {
  const text = annotationOf(object, annotations.pollInterval)
  if (text === '') return undefined
  const duration = positiveDuration(text)
  return duration === undefined ? undefined : Number(duration) / 1e9
}

/** Returns a request to reconcile that was not handled yet. */
export function newReconcileRequest(object: KubeObject): string | undefined {
  const token = annotationOf(object, annotations.reconcileRequestedAt)
  const status = object['status'] as { lastHandledReconcileAt?: string } | undefined
  return token !== '' && token !== status?.lastHandledReconcileAt ? token : undefined
}

const ownNotes: readonly string[] = [
  annotations.createPending,
  annotations.createFailed,
  annotations.asked,
  annotations.creating,
  annotations.secretRevisions,
  annotations.appliedKeys,
  annotations.executedPlan,
]

/**
 * Reports whether a change of the object requires a reconcile. The controller's own annotations and the status do
 * not. The removal of the create-pending annotation does: with it, a user states that it is safe to proceed.
 */
export function desiredStateChanged(before: KubeObject, after: KubeObject): boolean {
  return (
    before.metadata.generation !== after.metadata.generation ||
    !sameStrings(before.metadata.labels, after.metadata.labels) ||
    !sameStrings(withoutNotes(before), withoutNotes(after)) ||
    (holds(before) && !holds(after) && !isDeleted(after)) ||
    (annotationOf(before, annotations.createPending) !== '' && annotationOf(after, annotations.createPending) === '')
  )
}

/**
 * Reports whether the object has the finalizer. The controller restores it if a user removes it from an object that
 * stays.
 */
const holds = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(finalizer) ?? false

function withoutNotes(object: KubeObject): Readonly<Record<string, string>> {
  const entries = Object.entries(object.metadata.annotations ?? {})
  return Object.fromEntries(entries.filter(([name]) => !ownNotes.includes(name)))
}

function sameStrings(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** Returns the tags in a field of forProvider or atProvider. */
export function tagsIn(values: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, string>> {
  const held = values[field]
  const isTag = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'
  return isObject(held) ? Object.fromEntries(Object.entries(held).filter(isTag)) : {}
}

/** Returns the tags that show which object an external resource belongs to (MR13). */
export function externalTags(object: KubeObject, group: string): Readonly<Record<string, string>> {
  const spec = object['spec'] as { providerConfigRef?: { name?: string; kind?: string } } | undefined
  const config = spec?.providerConfigRef
  const { name = '', namespace } = object.metadata
  return {
    'crossplane-kind': `${object.kind}.${group}`.toLowerCase(),
    'crossplane-name': name,
    ...(namespace ? { 'crossplane-namespace': namespace } : {}),
    ...(config?.name ? { 'crossplane-providerconfig': config.name } : {}),
    ...(config?.kind ? { 'crossplane-providerconfig-kind': config.kind } : {}),
  }
}

/**
 * Replaces `.` and `/` by `-` where a key must not contain them, and removes all three where `-` is not allowed
 * (MR13).
 */
export function tagKey(key: string, allowed: 'any' | 'dashes' | 'alphanumeric'): string {
  if (allowed === 'any') return key
  const dashed = key.replace(/[./]/g, '-')
  return allowed === 'dashes' ? dashed : dashed.replaceAll('-', '')
}
