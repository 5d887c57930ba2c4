import type { KubeObject } from '@crosstie/kube'
import { oldPolicyNames, policyNames } from '../../definition/policies.js'

/** An action on an external resource. */
export type Action = 'create' | 'update' | 'delete' | 'lateInitialize' | 'observe'

/** The effective policies of an object. */
export interface Policies {
  readonly paused: boolean
  /** The allowed actions. `observe` permits writing status.atProvider; observing itself is always allowed. */
  readonly may: Readonly<Record<Action, boolean>>
  /** Only observing is allowed. */
  readonly onlyObserve: boolean
  /** The reason why the policies are refused. */
  readonly refused: string | undefined
  /** The fields that are set but ignored, with the reason. */
  readonly ignored: string | undefined
}

/** The fields of a spec that determine the policies. */
export interface PolicySpec {
  readonly managementPolicies?: readonly string[] | string | null
  readonly managementPolicy?: string
  readonly deletionPolicy?: string
  readonly initProvider?: object
}

/** Options of `policiesOf`. */
export interface PolicyOptions {
  /** Whether `--enable-alpha-management-policies` is set. */
  readonly gate: boolean
  readonly hasDeletionPolicy: boolean
  readonly refuse?: ((policies: readonly string[]) => string | undefined) | undefined
}

const everything: Readonly<Record<Action, boolean>> = {
  create: true,
  update: true,
  delete: true,
  lateInitialize: true,
  observe: true,
}

/** Returns the effective policies of a spec (POL1 to POL9). Every subset of the six names is valid. */
export function policiesOf(spec: PolicySpec, options: PolicyOptions): Policies {
  return options.gate ? gatedPolicies(spec, options) : ungatedPolicies(spec, options)
}

function gatedPolicies(spec: PolicySpec, { hasDeletionPolicy, refuse }: PolicyOptions): Policies {
  const stated = namesOf(spec)
  const names = stated.length > 1 ? [...new Set(stated)] : stated
  const unknown = names.some((name) => !(policyNames as readonly string[]).includes(name))
  const contradiction = unknown ? undefined : contradictionOf(spec)
  const refused = unknown ? unsupported(names) : (contradiction ?? refuse?.(names))
  const paused = names.length === 0 && !contradiction
  const has = (name: string) => !unknown && (names.includes(name) || names.includes('*'))
  return {
    paused,
    may: {
      create: has('Create'),
      update: has('Update'),
      delete: has('Delete') && !(hasDeletionPolicy && keepsExternal(spec, names)),
      lateInitialize: has('LateInitialize'),
      observe: has('Observe'),
    },
    onlyObserve: !unknown && names.length === 1 && names[0] === 'Observe',
    refused: paused ? undefined : refused,
    ignored: undefined,
  }
}

function unsupported(names: readonly string[]): string {
  const message = `\`spec.managementPolicies\` is set to a value(${listOf(names)}) which is not supported. Check docs for supported policies`
  const old = names.find((name) => (oldPolicyNames as readonly string[]).includes(name))
  return old
    ? `${message}. ${old} is a value of the former \`spec.managementPolicy\`: run \`crosstie migrate\``
    : message
}

/**
 * Returns a message for a list that allows more than the old policy beside it. The list `["*"]` is the default and
 * does not contradict. The reconciler does nothing for such an object (POL9), because the user may have meant
 * either field.
 */
function contradictionOf({ managementPolicy, managementPolicies }: PolicySpec): string | undefined {
  if (!managementPolicy || !Array.isArray(managementPolicies) || isDefault(managementPolicies)) return undefined
  const allowed = allowedByBoth(managementPolicy, managementPolicies)
  const excess =
    allowed === managementPolicies ? [] : actionsOf(managementPolicies).filter((name) => !allowed.includes(name))
  if (excess.length === 0) return undefined
  return `\`spec.managementPolicy: ${managementPolicy}\` forbids ${excess.join(', ')}, which \`spec.managementPolicies\` allows. Nothing is done until one of them is removed: run \`crosstie migrate\`, or remove \`spec.managementPolicy\` if the list is right`
}

/** Returns the list without the actions that the old policy forbids. */
export function allowedByBoth(old: string | undefined, names: readonly string[]): readonly string[] {
  if (!old) return names
  const allowed = actionsOf(migratedPolicies(old))
  const actions = actionsOf(names)
  const both = actions.filter((name) => allowed.includes(name))
  return both.length === actions.length ? names : both
}

/** Returns the individual actions that a list of policies allows. */
function actionsOf(names: readonly string[]): readonly string[] {
  return names.includes('*') ? policyNames.filter((name) => name !== '*') : names
}

const isDefault = (names: readonly string[]): boolean => names.length === 1 && names[0] === '*'

/** Restricts policies to observing. Paused objects stay paused. */
export function onlyObserving({ paused, ignored }: Policies): Policies {
  const nothing = { create: false, update: false, delete: false, lateInitialize: false }
  return { paused, may: { ...nothing, observe: true }, onlyObserve: true, refused: undefined, ignored }
}

/**
 * Orphan always wins (POL6). If neither field requests deletion, as in a CRD without defaults, the resource is
 * kept.
 */
function keepsExternal({ deletionPolicy }: PolicySpec, names: readonly string[]): boolean {
  return deletionPolicy === 'Orphan' || (deletionPolicy !== 'Delete' && !names.includes('Delete'))
}

function ungatedPolicies(spec: PolicySpec, { hasDeletionPolicy }: PolicyOptions): Policies {
  const set = [
    ...(statesPolicies(spec) ? ['spec.managementPolicies'] : []),
    ...(spec.initProvider && Object.keys(spec.initProvider).length > 0 ? ['spec.initProvider'] : []),
  ]
  return {
    paused: false,
    may: { ...everything, delete: !(hasDeletionPolicy && spec.deletionPolicy === 'Orphan') },
    onlyObserve: false,
    refused: undefined,
    ignored:
      set.length > 0 ? `${set.join(' and ')} ignored: the feature management policies is not enabled` : undefined,
  }
}

/** Reports whether the user requests anything but the default. An empty list requests a pause. */
function statesPolicies({ managementPolicies, managementPolicy }: PolicySpec): boolean {
  if (managementPolicy) return true
  if (managementPolicies === undefined || managementPolicies === null) return false
  return typeof managementPolicies === 'string' || !isDefault(managementPolicies)
}

function namesOf(spec: PolicySpec): readonly string[] {
  const { managementPolicies, managementPolicy } = spec
  if (typeof managementPolicies === 'string') return migratedPolicies(managementPolicies, spec.deletionPolicy)
  const byDefault = !managementPolicies || isDefault(managementPolicies)
  if (managementPolicy && byDefault) return migratedPolicies(managementPolicy, spec.deletionPolicy)
  return allowedByBoth(managementPolicy, managementPolicies ?? [])
}

const allButDelete = ['Create', 'Update', 'Observe', 'LateInitialize']

/** Returns the management policies that correspond to the old, single-valued policy (POL7). */
export function migratedPolicies(old: string, deletionPolicy = 'Delete'): readonly string[] {
  switch (old) {
    case 'ObserveOnly':
      return ['Observe']
    case 'OrphanOnDelete':
      return allButDelete
    case 'Default':
    case 'Full':
    case 'FullControl':
      return deletionPolicy === 'Orphan' ? allButDelete : ['*']
    default:
      return [old]
  }
}

/**
 * Returns the object with migrated policies and without deletionPolicy. The old, single-valued policy is read from
 * either spelling of the field, and Orphan becomes a list without Delete. Undefined if the object has neither.
 */
export function migratePolicies<T extends KubeObject>(object: T): T | undefined {
  const spec = (object['spec'] ?? {}) as PolicySpec & Readonly<Record<string, unknown>>
  const { managementPolicy, managementPolicies, deletionPolicy, ...rest } = spec
  const old = managementPolicy ?? (typeof managementPolicies === 'string' ? managementPolicies : undefined)
  // An empty list pauses the object. Another list may resume it later, so deletionPolicy must stay.
  const orphans = deletionPolicy === 'Orphan' && managementPolicies?.length !== 0
  if (old === undefined && !orphans) return undefined
  const stated = old === undefined && !managementPolicies ? ['*'] : namesOf(spec)
  const names = withoutDelete(stated, deletionPolicy)
  return { ...object, spec: { ...rest, managementPolicies: names } }
}

/** Merges a deletionPolicy into a list of policies: Orphan removes Delete. */
export function withoutDelete(names: readonly string[], deletionPolicy: string | undefined): readonly string[] {
  if (deletionPolicy !== 'Orphan') return names
  return names.includes('*') ? allButDelete : names.filter((name) => name !== 'Delete')
}

/** Formats the names in a fixed order, so that repeated messages are identical. */
export function listOf(names: readonly string[]): string {
  return `[${[...names].sort().join(' ')}]`
}
