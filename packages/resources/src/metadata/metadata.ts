import { isObject, type KubeObject, type ObjectMeta, type OwnerReference, parseGoDuration } from '@crosstie/kube'

/** What a managed resource says in its metadata. */

export const annotations = {
  externalName: 'crossplane.io/external-name',
  paused: 'crossplane.io/paused',
  pollInterval: 'crossplane.io/poll-interval',
  reconcileRequestedAt: 'crossplane.io/reconcile-requested-at',
  createPending: 'crossplane.io/external-create-pending',
  createSucceeded: 'crossplane.io/external-create-succeeded',
  createFailed: 'crossplane.io/external-create-failed',
  /** What creates asked for of which nobody knows yet how they ended. */
  asked: 'crosstie.io/create-asked',
  /** Who began a create that may be repeated, and when. */
  creating: 'crosstie.io/creating',
  /** Which revisions of Secrets the external resource has the values of. */
  secretRevisions: 'crosstie.io/secret-revisions',
  /** Which keys of shared maps we set. */
  appliedKeys: 'crosstie.io/applied-keys',
  /** "required": nothing is done to the external resource that nobody approved. */
  approval: 'crossplane.io/approval',
  /** The digest of the plan that may be executed. */
  approvedPlan: 'crossplane.io/approved-plan',
  /** The digest of the approved plan that was executed last. */
  executedPlan: 'crosstie.io/executed-plan',
} as const

export const finalizer = 'finalizer.managedresource.crossplane.io'

export function annotationOf(object: KubeObject, name: string): string {
  return object.metadata.annotations?.[name] ?? ''
}

export const externalNameOf = (object: KubeObject): string => annotationOf(object, annotations.externalName)

/** The metadata that tells an object from all others. */
export type StoredMeta = ObjectMeta & Required<Pick<ObjectMeta, 'name' | 'uid'>>

/** The metadata of an object that was read from the server. Throws for an object that was never stored. */
export function storedMeta({ kind, metadata }: KubeObject): StoredMeta {
  const { name, uid } = metadata
  if (name === undefined || uid === undefined)
    throw new Error(`${kind} ${name ?? ''} has no name or uid: it was never stored`)
  return { ...metadata, name, uid }
}

/** The preconditions under which a delete removes exactly this revision of the object. */
export function revisionOf(object: KubeObject): { readonly uid: string; readonly resourceVersion: string } {
  const { name, uid, resourceVersion } = storedMeta(object)
  if (resourceVersion === undefined) throw new Error(`${object.kind} ${name} has no resourceVersion`)
  return { uid, resourceVersion }
}

/** Only exactly "true" pauses. */
export const isPaused = (object: KubeObject): boolean => annotationOf(object, annotations.paused) === 'true'

/** Made for a claim that has not taken note of it yet: nothing is done for it until that note is taken away. */
export const isProvisioning = (object: KubeObject): boolean =>
  annotationOf(object, 'resourceclaim.crossplane.io/provisioning') !== '' && !isDeleted(object)

/** On what a query found: the uid of the query. */
export const queryLabel = 'crosstie.io/query'

/**
 * Was it made by a query? The label counts beside the owner: a query that was
 * deleted with its dependents orphaned must not leave something that acts.
 */
export function isQueried({ kind, metadata: { labels, ownerReferences } }: KubeObject): boolean {
  return labels?.[queryLabel] !== undefined || controllerOf(ownerReferences)?.kind === `${kind}Query`
}

export const isDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined

export function withFinalizer(finalizers: readonly string[] | undefined, name: string): readonly string[] {
  return finalizers?.includes(name) ? finalizers : [...(finalizers ?? []), name]
}

export function withoutFinalizer(finalizers: readonly string[] | undefined, name: string): readonly string[] {
  return (finalizers ?? []).filter((other) => other !== name)
}

export function controllerOf(owners: readonly OwnerReference[] | undefined): OwnerReference | undefined {
  return owners?.find(({ controller }) => controller)
}

/** Two objects without a controller do not have the same one. */
export function haveSameController(a: readonly OwnerReference[] | undefined, b: readonly OwnerReference[] | undefined) {
  const controller = controllerOf(a)
  return controller !== undefined && controller.uid === controllerOf(b)?.uid
}

/** Adds or replaces an owner; throws when another controller is there already. */
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

/** The owner reference by which an object controls another. */
export function controllerReference(object: KubeObject): OwnerReference {
  const { apiVersion, kind } = object
  const { name, uid } = storedMeta(object)
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

/** Milliseconds since the epoch, or undefined when the text is no RFC 3339 time as Go reads it (or Go's zero time). */
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

/** How far creating the external resource came, as far as anybody wrote it down. */
export interface CreateHistory {
  readonly pending: number | undefined
  readonly succeeded: number | undefined
  readonly failed: number | undefined
  /** A create was begun, and nobody saw its end. */
  readonly incomplete: boolean
  /** A create was begun that is not known to have succeeded; that it failed may be all that is known. */
  readonly attempted: boolean
}

const never = Number.NEGATIVE_INFINITY

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

/** Was it made so recently that the provider may not show it yet? */
export function createdWithin({ succeeded }: CreateHistory, milliseconds: number, now: number): boolean {
  return succeeded !== undefined && now - succeeded < milliseconds
}

/** A duration as Go writes it (`1h30m`, `100ms`), in nanoseconds; undefined when it is none, or not positive. */
export function positiveDuration(text: string): bigint | undefined {
  const duration = parseGoDuration(text)
  return duration !== undefined && duration > 0n ? duration : undefined
}

/** The poll interval that the object asks for, in seconds. */
export function pollIntervalOf(object: KubeObject): number | undefined {
  const text = annotationOf(object, annotations.pollInterval)
  if (text === '') return undefined
  const duration = positiveDuration(text)
  return duration === undefined ? undefined : Number(duration) / 1e9
}

/** A request to reconcile now that was not handled yet. */
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
 * Is a change of the object a reason to reconcile? Our own notes and the
 * status are not. That a pending note was taken away is: somebody says that
 * it is safe to go on.
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

/** Is our finalizer on it? It is put back at once when a user removes it from an object that stays. */
const holds = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(finalizer) ?? false

function withoutNotes(object: KubeObject): Readonly<Record<string, string>> {
  const entries = Object.entries(object.metadata.annotations ?? {})
  return Object.fromEntries(entries.filter(([name]) => !ownNotes.includes(name)))
}

function sameStrings(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** The tags in a field of forProvider or atProvider. */
export function tagsIn(values: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, string>> {
  const held = values[field]
  const isTag = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'
  return isObject(held) ? Object.fromEntries(Object.entries(held).filter(isTag)) : {}
}

/** Tags by which anybody can tell what an external resource belongs to (MR13). */
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

/** `.` and `/` become `-` where they are not allowed in a key, and vanish where `-` is not either (MR13). */
export function tagKey(key: string, allowed: 'any' | 'dashes' | 'alphanumeric'): string {
  if (allowed === 'any') return key
  const dashed = key.replace(/[./]/g, '-')
  return allowed === 'dashes' ? dashed : dashed.replaceAll('-', '')
}
