import type { KubeObject } from '@crosstie/kube'
import { policyNames } from '../definition/crd.js'

/** What may be done to an external resource. */
export type Action = 'create' | 'update' | 'delete' | 'lateInitialize' | 'observe'

export interface Policies {
  readonly paused: boolean
  /** `observe` is leave to write what was seen into status.atProvider; looking is always allowed. */
  readonly may: Readonly<Record<Action, boolean>>
  /** Nothing but looking is allowed. */
  readonly onlyObserve: boolean
  /** Why the policies cannot be kept. */
  readonly refused: string | undefined
  /** What the user set but is ignored, and why. */
  readonly ignored: string | undefined
}

/** The parts of a spec that say what may be done. */
export interface PolicySpec {
  readonly managementPolicies?: readonly string[] | string | null
  readonly managementPolicy?: string
  readonly deletionPolicy?: string
  readonly initProvider?: object
}

export interface PolicyOptions {
  /** --enable-alpha-management-policies */
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

/** What the policies of a spec allow (POL1 to POL9). Every subset of the six names means something. */
export function policiesOf(spec: PolicySpec, options: PolicyOptions): Policies {
  return options.gate ? gatedPolicies(spec, options) : ungatedPolicies(spec, options)
}

function gatedPolicies(spec: PolicySpec, { hasDeletionPolicy, refuse }: PolicyOptions): Policies {
  const stated = namesOf(spec)
  const names = stated.length > 1 ? [...new Set(stated)] : stated
  const unknown = names.some((name) => !(policyNames as readonly string[]).includes(name))
  const refused = unknown
    ? `\`spec.managementPolicies\` is set to a value(${listOf(names)}) which is not supported. Check docs for supported policies`
    : refuse?.(names)
  const has = (name: string) => !unknown && (names.includes(name) || names.includes('*'))
  return {
    paused: names.length === 0,
    may: {
      create: has('Create'),
      update: has('Update'),
      delete: has('Delete') && !(hasDeletionPolicy && keepsExternal(spec, names)),
      lateInitialize: has('LateInitialize'),
      observe: has('Observe'),
    },
    onlyObserve: !unknown && names.length === 1 && names[0] === 'Observe',
    refused: names.length === 0 ? undefined : refused,
    ignored: undefined,
  }
}

/** The same with nothing allowed but looking. Whoever paused stays paused. */
export function onlyObserving({ paused, ignored }: Policies): Policies {
  const nothing = { create: false, update: false, delete: false, lateInitialize: false }
  return { paused, may: { ...nothing, observe: true }, onlyObserve: true, refused: undefined, ignored }
}

/** Orphan always wins (POL6). Where neither says to delete, as in a CRD without defaults, we err towards keeping. */
function keepsExternal({ deletionPolicy }: PolicySpec, names: readonly string[]): boolean {
  return deletionPolicy === 'Orphan' || (deletionPolicy !== 'Delete' && !names.includes('Delete'))
}

function ungatedPolicies(spec: PolicySpec, { hasDeletionPolicy }: PolicyOptions): Policies {
  const names = namesOf(spec)
  const set = [
    ...(names.some((name) => name !== '*') || spec.managementPolicy ? ['spec.managementPolicies'] : []),
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

function namesOf(spec: PolicySpec): readonly string[] {
  const { managementPolicies, managementPolicy } = spec
  if (typeof managementPolicies === 'string') return migratedPolicies(managementPolicies, spec.deletionPolicy)
  const byDefault = !managementPolicies || (managementPolicies.length === 1 && managementPolicies[0] === '*')
  if (managementPolicy && byDefault) return migratedPolicies(managementPolicy, spec.deletionPolicy)
  return managementPolicies ?? []
}

const allButDelete = ['Create', 'Update', 'Observe', 'LateInitialize']

/** What the old, single-valued policy means in new words (POL7). */
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
 * The object with its policies in new words and no deletionPolicy that says
 * more: the old, single-valued policy in either spelling of the field, and
 * Orphan as a list without Delete. Undefined when it has neither.
 */
export function migratePolicies<T extends KubeObject>(object: T): T | undefined {
  const spec = (object['spec'] ?? {}) as PolicySpec & Readonly<Record<string, unknown>>
  const { managementPolicy, managementPolicies, deletionPolicy, ...rest } = spec
  const old = managementPolicy ?? (typeof managementPolicies === 'string' ? managementPolicies : undefined)
  // One that is paused by an empty list may be resumed by any other, and must still know then what to keep.
  const orphans = deletionPolicy === 'Orphan' && managementPolicies?.length !== 0
  if (old === undefined && !orphans) return undefined
  const stated = old === undefined && !managementPolicies ? ['*'] : namesOf(spec)
  const names = withoutDelete(stated, deletionPolicy)
  return { ...object, spec: { ...rest, managementPolicies: names } }
}

/** What a list of policies means beside a deletionPolicy, which nobody needs to say any more then. */
export function withoutDelete(names: readonly string[], deletionPolicy: string | undefined): readonly string[] {
  if (deletionPolicy !== 'Orphan') return names
  return names.includes('*') ? allButDelete : names.filter((name) => name !== 'Delete')
}

/** The names as messages show them: always in the same order, so that a message is not news each time. */
export function listOf(names: readonly string[]): string {
  return `[${[...names].sort().join(' ')}]`
}
