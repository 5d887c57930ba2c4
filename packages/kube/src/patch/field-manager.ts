import { timestamp } from '../clock.js'
import { badRequest, StatusError } from '../errors.js'
import { equal, isObject } from '../json.js'
import { parseApiVersion } from '../kind.js'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../object.js'
import { type Comparison, compare } from './compare.js'
import { type Conflict, conflictError, withoutAllowed } from './conflict.js'
import type { ApplyInput, ApplyResult, FieldManagerOptions, Pause, TrackInput } from './field-manager-input.js'
import {
  difference,
  EMPTY,
  type FieldSet,
  FieldSetError,
  fieldPaths,
  intersection,
  isEmpty,
  paths,
  recursiveDifference,
  union,
} from './field-set.js'
import { allowedByLastApplied, refreshLastApplied } from './last-applied.js'
import { type ManagedType, managedTypeOf, SchemaMismatchError } from './managed-type.js'
import { appliedFields, merge, reconcileWithType, removeItems, withNamedFields } from './managed-value.js'
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  type Holding,
  identity,
  isReset,
  type Managers,
} from './managers.js'
import { validate } from './validate.js'

type Values = Readonly<Record<string, unknown>>

/** A step that needs an object in another version. */
interface Conversion {
  readonly object: Values
  readonly version: string
}

/** A place where the work on a large object may be interrupted. */
const PAUSE = Symbol('pause')

type Steps<T> = Generator<Conversion | typeof PAUSE, T, Values>

/** Fields without an owner: those that the server sets and those that identify the object. */
const stripped = fieldPaths([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['metadata', name]),
])

const BEFORE_FIRST_APPLY = 'before-first-apply'

/** Tracks the managers of fields of one kind, and merges applied objects. Create one per kind and keep it. */
export class FieldManager {
  readonly #options: FieldManagerOptions
  readonly #types: ReadonlyMap<string, ManagedType>
  readonly #resets = new WeakMap<readonly (readonly string[])[], FieldSet>()

  constructor(options: FieldManagerOptions) {
    this.#options = options
    this.#types = new Map(
      Object.entries(options.versions).map(([version, schema]) => [version, managedTypeOf(schema)] as const),
    )
  }

  /**
   * Records the manager of a create, update or patch. Returns the object with current managedFields; a write
   * without changes keeps them. Never throws: an object that does not fit its schema loses its managedFields, as in
   * Kubernetes.
   */
  trackUpdate(input: TrackInput): KubeObject | Promise<KubeObject> {
    const bare = withManagedFields(input.updated, undefined)
    const lost = (error: unknown) => {
      if (error instanceof SchemaMismatchError) return bare
      throw error
    }
    try {
      const tracked = this.#drive(this.#track(input, bare), input.pause)
      return tracked instanceof Promise ? tracked.catch(lost) : tracked
    } catch (error) {
      return lost(error)
    }
  }

  /**
   * Applies an object. Throws a StatusError: 409 if another manager owns a field that would change, 400 for an
   * object that cannot be applied, 500 (as kube-apiserver) for an object that does not fit the schema.
   */
  applyPatch(input: ApplyInput): ApplyResult | Promise<ApplyResult> {
    return this.#drive(this.#applyAndUpgrade(input), input.pause)
  }

  /** Runs the steps. Returns a promise only after a pause or an asynchronous conversion. */
  #drive<T>(steps: Steps<T>, pause: Pause | undefined): T | Promise<T> {
    let next = steps.next(EMPTY)
    while (!next.done) {
      const answer = this.#answer(next.value, pause)
      if (answer instanceof Promise) return this.#driveLater(steps, answer, pause)
      next = steps.next(answer)
    }
    return next.value
  }

  async #driveLater<T>(steps: Steps<T>, answer: Promise<Values>, pause: Pause | undefined): Promise<T> {
    let pending: Values | Promise<Values> = answer
    for (;;) {
      const next = steps.next(await pending)
      if (next.done) return next.value
      pending = this.#answer(next.value, pause)
    }
  }

  #answer(step: Conversion | typeof PAUSE, pause: Pause | undefined): Values | Promise<Values> {
    if (step === PAUSE) return pause?.()?.then(() => EMPTY) ?? EMPTY
    const { object, version } = step
    if (!this.#options.convert) return { ...object, apiVersion: version }
    return this.#options.convert(object as KubeObject, version)
  }

  *#track(input: TrackInput, bare: KubeObject): Steps<KubeObject> {
    const { live, updated, subresource = '' } = input
    const managers = managersForUpdate(live, updated, subresource !== '')
    const created = !live?.metadata?.uid
    // Objects without managers are not tracked until the first apply.
    if (managers.size === 0 && !created) return bare
    const given = live?.metadata?.managedFields
    const old = live ? withManagedFields(live, undefined) : this.#emptyObject(input.version)
    yield PAUSE
    yield* this.#update(managers, old, bare, input)
    yield PAUSE
    const entries = encodeManagers(managers)
    return withManagedFields(bare, sameEntries(entries, given) ? given : entries)
  }

  #emptyObject(version: string): Values {
    return { apiVersion: version, kind: this.#options.kind, ...this.#options.empty }
  }

  /** Assigns the changes between two objects to their manager. */
  *#update(
    managers: Managers,
    old: Values,
    updated: Values,
    input: Pick<TrackInput, 'manager' | 'version' | 'subresource' | 'now' | 'resetFields'>,
  ): Steps<void> {
    this.#reconcile(managers)
    yield PAUSE
    const { comparison } = yield* this.#takeOver(managers, old, updated, input, undefined)
    if (comparison) {
      yield PAUSE
      const changed = union(comparison.modified ?? EMPTY, comparison.added ?? EMPTY)
      const set = difference(changed, stripped)
      yield PAUSE
      if (!isEmpty(set)) this.#hold(managers, set, input)
    }
    capUpdaters(managers)
  }

  #hold(
    managers: Managers,
    set: FieldSet,
    { manager, version, subresource = '', now }: Pick<TrackInput, 'manager' | 'version' | 'subresource' | 'now'>,
  ): void {
    const holder = { manager: manager || 'unknown', operation: 'Update', version, subresource } as const
    const id = identity(holder)
    const previous = managers.get(id)
    managers.set(id, { ...holder, time: this.#timestamp(now), set: previous ? union(set, previous.set) : set })
  }

  #second = Number.NaN
  #secondText = ''

  /** Formats the time. Cached, since many writes have the same second. */
  #timestamp(now: number): string {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText = timestamp(now)
    }
    return this.#secondText
  }

  /** Adapts entries to the current schema, and drops entries of removed versions. */
  #reconcile(managers: Managers): void {
    for (const [id, holding] of managers) {
      const type = this.#types.get(holding.version)
      if (!type) managers.delete(id)
      else keep(managers, id, holding, reconcileWithType(holding.set, type))
    }
  }

  /**
   * Removes changed fields from their previous owners. The applier keeps its own fields. With `conflicts`, fields
   * that would get another value are recorded there instead of being removed.
   */
  *#takeOver(
    managers: Managers,
    old: Values,
    updated: Values,
    { version, resetFields }: Pick<TrackInput, 'version' | 'resetFields'>,
    applier: { readonly id: string; readonly conflicts: Conflict[] | undefined } | undefined,
  ): Steps<{ comparison: Comparison | undefined }> {
    const comparisons = new Map<string, Comparison | undefined>()
    const raw = compare(this.#type(version), old, updated)
    yield PAUSE
    const comparison = this.#filter(raw, resetFields)
    comparisons.set(version, comparison)
    const losses: [id: string, holding: Holding, rest: FieldSet][] = []
    for (const [id, holding] of managers) {
      if (id === applier?.id) continue
      if (!comparisons.has(holding.version)) {
        comparisons.set(holding.version, yield* this.#compareIn(holding.version, version, raw, old, updated))
      }
      const theirs = comparisons.get(holding.version)
      if (!theirs) continue
      yield PAUSE
      const changed = union(theirs.modified ?? EMPTY, theirs.added ?? EMPTY)
      const lost = isEmpty(changed) ? EMPTY : intersection(holding.set, changed)
      yield PAUSE
      if (applier?.conflicts) for (const path of paths(lost)) applier.conflicts.push({ id, holding, path })
      losses.push([id, holding, difference(difference(holding.set, lost), theirs.removed ?? EMPTY)])
    }
    if (applier?.conflicts && applier.conflicts.length > 0) return { comparison }
    for (const [id, holding, rest] of losses) keep(managers, id, holding, rest)
    for (const [id, { set }] of managers) if (isEmpty(set)) managers.delete(id)
    return { comparison }
  }

  *#compareIn(
    version: string,
    ownVersion: string,
    own: Comparison | undefined,
    old: Values,
    updated: Values,
  ): Steps<Comparison | undefined> {
    const type = this.#type(version)
    if (!this.#options.convert && type === this.#type(ownVersion)) return own
    return compare(type, yield* this.#inVersion(old, version), yield* this.#inVersion(updated, version))
  }

  #filter(
    comparison: Comparison | undefined,
    resetFields: readonly (readonly string[])[] | undefined,
  ): Comparison | undefined {
    if (!comparison || !resetFields || resetFields.length === 0) return comparison
    const reset = this.#resetSet(resetFields)
    const without = (set: FieldSet | undefined) => set && recursiveDifference(set, reset)
    return {
      removed: without(comparison.removed),
      modified: without(comparison.modified),
      added: without(comparison.added),
    }
  }

  #resetSet(resetFields: readonly (readonly string[])[]): FieldSet {
    let set = this.#resets.get(resetFields)
    if (!set) {
      set = fieldPaths(resetFields)
      this.#resets.set(resetFields, set)
    }
    return set
  }

  #type(version: string): ManagedType {
    const type = this.#types.get(version)
    if (!type) throw new SchemaMismatchError(`no corresponding type for ${version}, Kind=${this.#options.kind}`)
    return type
  }

  *#inVersion(object: Values, version: string): Steps<Values> {
    if (object['apiVersion'] === version) return object
    const converted = yield { object, version }
    validate(this.#type(version), converted, 'refused')
    return converted
  }

  /** Applies, and lets kubectl take over fields that it set with client-side apply before. */
  *#applyAndUpgrade(input: ApplyInput): Steps<ApplyResult> {
    this.#checkApplied(input)
    let result: ApplyResult
    try {
      result = yield* this.#apply(input)
    } catch (error) {
      if (!(error instanceof Conflicts)) throw error
      if (input.manager !== 'kubectl' || !input.live) throw conflictError(error.conflicts)
      const allowed = allowedByLastApplied(this.#type(input.version), input.live, input.version)
      const rest = allowed ? withoutAllowed(error.conflicts, allowed) : error.conflicts
      if (rest.length > 0) throw conflictError(rest)
      result = yield* this.#apply({ ...input, force: true })
    }
    if (input.manager !== 'kubectl') return result
    return { ...result, object: refreshLastApplied(result.object, input.applied) }
  }

  #checkApplied({ applied, version }: ApplyInput): void {
    if (applied['apiVersion'] !== version || applied['kind'] !== this.#options.kind) {
      throw badRequest(`invalid object type: ${gvkText(applied)}`)
    }
    const meta = applied['metadata']
    if (isObject(meta) && Array.isArray(meta['managedFields'])) throw badRequest('metadata.managedFields must be nil')
  }

  *#apply(input: ApplyInput): Steps<ApplyResult> {
    const { applied, manager, force = false, version, subresource = '', now, resetFields } = input
    const type = this.#type(version)
    const given = input.live?.metadata?.managedFields
    const managers = managersForApply(given)
    const live = input.live
      ? withManagedFields(input.live, undefined)
      : ({ apiVersion: version, kind: this.#options.kind } as Values)
    if (managers.size === 0 && input.live) {
      const before = { ...input, manager: BEFORE_FIRST_APPLY, resetFields }
      yield* this.#update(managers, this.#emptyObject(version), live, before)
    }
    fit(type, applied, 'refused', `failed to create typed patch object (${nameText(applied)})`)
    yield PAUSE
    fit(type, live, 'allowed', `failed to create typed live object (${nameText(live)})`)

    yield PAUSE
    this.#reconcile(managers)
    yield PAUSE
    const holder = { manager: manager || 'unknown', operation: 'Apply', version, subresource } as const
    const id = identity(holder)
    const last = managers.get(id)
    const reset = resetFields?.length ? this.#resetSet(resetFields) : EMPTY
    const set = recursiveDifference(appliedFields(type, applied), reset)
    managers.set(id, { ...holder, time: last?.time, set })
    yield PAUSE
    const laid = merge(type, live, applied) as Values
    yield PAUSE
    const merged = yield* this.#prune(laid, managers, id, last)
    yield PAUSE
    const conflicts: Conflict[] = []
    yield* this.#takeOver(managers, live, merged, input, { id, conflicts: force ? undefined : conflicts })
    if (conflicts.length > 0) throw new Conflicts(conflicts)

    yield PAUSE
    const unchanged = equal(live, merged)
    yield PAUSE
    const owned = difference(set, stripped)
    const time = unchanged ? last?.time : this.#timestamp(now)
    const asBefore = last && last.version === version && last.time === time && equal(last.set, owned)
    if (isEmpty(owned)) managers.delete(id)
    else managers.set(id, asBefore ? last : { ...holder, time, set: owned })
    yield PAUSE
    const entries = encodeManagers(managers)
    const same = sameEntries(entries, given)
    const object = withManagedFields((unchanged ? live : merged) as KubeObject, same ? given : entries)
    return { object: same && unchanged && input.live ? input.live : object, managedFieldsChanged: !same }
  }

  /** Removes fields that the applier applied before, no longer applies, and that have no other owner. */
  *#prune(merged: Values, managers: Managers, id: string, last: Holding | undefined): Steps<Values> {
    const { version, set } = managers.get(id)!
    // If all fields of the last apply are applied again, everything that would be removed is added back.
    if (!last || (last.version === version && isEmpty(difference(last.set, set)))) return merged
    const type = this.#type(last.version)
    const base = yield* this.#inVersion(merged, last.version)
    const before = withNamedFields(last.set, type)
    yield PAUSE
    let pruned = removeItems(type, base, before) as Values
    yield PAUSE
    pruned = yield* this.#addBackOwned(base, pruned, last.version, managers)
    pruned = yield* this.#inVersion(pruned, last.version)
    const fieldsBefore = yield* namedFieldsOf(type, base)
    const fieldsAfter = yield* namedFieldsOf(type, pruned)
    const gone = intersection(difference(fieldsBefore, fieldsAfter), before)
    yield PAUSE
    pruned = removeItems(type, base, gone) as Values
    return yield* this.#inVersion(pruned, version)
  }

  /** Adds back fields that other managers, or the new configuration, own. */
  *#addBackOwned(base: Values, pruned: Values, version: string, managers: Managers): Steps<Values> {
    const owned = new Map<string, FieldSet>([[version, EMPTY]])
    for (const holding of managers.values()) {
      owned.set(holding.version, union(owned.get(holding.version) ?? EMPTY, holding.set))
    }
    let [mergedThere, prunedThere] = [base, pruned]
    for (const [there, set] of owned) {
      const type = this.#type(there)
      mergedThere = yield* this.#inVersion(mergedThere, there)
      prunedThere = yield* this.#inVersion(prunedThere, there)
      const all = yield* namedFieldsOf(type, mergedThere)
      const left = yield* namedFieldsOf(type, prunedThere)
      const kept = union(left, withNamedFields(set, type))
      yield PAUSE
      const gone = difference(all, kept)
      yield PAUSE
      prunedThere = removeItems(type, mergedThere, gone) as Values
    }
    return prunedThere
  }
}

function* namedFieldsOf(type: ManagedType, object: Values): Steps<FieldSet> {
  yield PAUSE
  const fields = appliedFields(type, object)
  yield PAUSE
  return withNamedFields(fields, type)
}

class Conflicts extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super('conflicts')
  }
}

function keep(managers: Managers, id: string, holding: Holding, set: FieldSet): void {
  if (set === holding.set) return
  const { entry: _, ...rest } = holding
  managers.set(id, { ...rest, set })
}

function managersForApply(entries: unknown): Managers {
  try {
    return decodeManagers(entries)
  } catch (error) {
    if (!(error instanceof FieldSetError)) throw error
    throw new StatusError(500, '', `failed to decode managed fields: ${error.message}`)
  }
}

/**
 * Returns the managers of an update. A client may edit managedFields, but not through a subresource. A client that
 * drops them by accident, or sends invalid entries, does not lose the stored ones. Most clients send the entries
 * that they received, which are decoded already.
 */
function managersForUpdate(live: KubeObject | undefined, updated: KubeObject, subresource: boolean): Managers {
  const stored = live?.metadata?.managedFields
  if (!subresource) {
    const given = updated.metadata?.managedFields
    if (isReset(given)) return new Map()
    const managers = managersOrNone(equal(given, stored) ? stored : given)
    if (managers.size > 0) return managers
  }
  return managersOrNone(stored)
}

function managersOrNone(entries: unknown): Managers {
  try {
    return decodeManagers(entries)
  } catch (error) {
    if (error instanceof FieldSetError) return new Map()
    throw error
  }
}

function sameEntries(
  a: readonly ManagedFieldsEntry[] | undefined,
  b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (a === undefined || b === undefined || a.length !== b.length) return a === b
  return a.every((entry, i) => entry === b[i])
}

function withManagedFields(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  const meta: ObjectMeta = object.metadata ?? {}
  if (meta.managedFields === entries && (entries !== undefined || !('managedFields' in meta))) return object
  if (entries !== undefined) return { ...object, metadata: { ...meta, managedFields: entries } }
  const { managedFields: _, ...bare } = meta
  return { ...object, metadata: bare }
}

function fit(type: ManagedType, object: Values, doubles: 'allowed' | 'refused', attempt: string): void {
  try {
    validate(type, object, doubles)
  } catch (error) {
    if (!(error instanceof SchemaMismatchError)) throw error
    throw new StatusError(500, '', `${attempt}: ${error.message}`)
  }
}

/** Formats an object as `default/web; apps/v1, Kind=Deployment`. */
function nameText(object: Values): string {
  const meta = isObject(object['metadata']) ? object['metadata'] : {}
  return `${meta['namespace'] ?? ''}/${meta['name'] ?? ''}; ${gvkText(object)}`
}

function gvkText(object: Values): string {
  const apiVersion = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : ''
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  return `${group}/${version}, Kind=${typeof object['kind'] === 'string' ? object['kind'] : ''}`
}
