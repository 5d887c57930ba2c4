import { isObject } from '@crosstie/kube'
import type { PlannedField } from './fields.js'

/**
 * A plan as data, in the format of `crosstie plan -o json`. As long as apiVersion is the same, fields may be added
 * but not renamed. docs/reference/plan.md describes each field.
 */
export interface Plan {
  readonly apiVersion: 'plan.crosstie.io/v1'
  readonly kind: 'Plan'
  readonly summary: Readonly<Record<Outcome, number>>
  readonly resources: readonly PlannedResource[]
  /** The planned claims. Their managed resources are part of `resources`. */
  readonly claims?: readonly PlannedClaim[]
}

/** A claim in a plan. */
export interface PlannedClaim {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** The class of the claim, as Kind/name. */
  readonly class?: string
  /** The reason for the choice of the class, or the reason why the claim waits. */
  readonly because: string
  /** The managed resources that satisfy the claim or would be provisioned for it. */
  readonly resources: readonly { readonly apiVersion: string; readonly kind: string; readonly name: string }[]
  readonly error?: string
}

/** All outcomes of a plan for one resource. */
export const outcomes = ['create', 'update', 'delete', 'release', 'adjust', 'wait', 'paused', 'none', 'error'] as const

/**
 * The outcome for one resource. create, update, delete: the provider is called. release: the object is deleted, and
 * the external resource stays. adjust: only objects of the control plane change. wait: another change must happen
 * first. none: the resource is in sync.
 */
export type Outcome = (typeof outcomes)[number]

/** A managed resource in a plan. */
export interface PlannedResource {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly externalName?: string
  /** How the object compares with the given manifests. */
  readonly object?: 'new' | 'changed' | 'unchanged'
  readonly outcome: Outcome
  readonly because: string
  readonly steps: readonly Step[]
  readonly suppressed: readonly SuppressedStep[]
  readonly approval: 'NotRequired' | 'Required' | 'Approved' | 'Stale'
  /** The digest to approve. Absent if the provider is not called, or if values are not known yet. */
  readonly digest?: string
  readonly error?: string
  /** Fields are omitted, since the user who requested the plan may not read the object. */
  readonly hidden?: true
}

/** One action of a plan. */
export interface Step {
  readonly action:
    | 'create'
    | 'update'
    | 'delete'
    | 'release'
    | 'lateInitialize'
    | 'resolveReferences'
    | 'writeConnectionSecret'
  /** The fields that change: below spec.forProvider for calls, keys for a Secret, otherwise paths in the object. */
  readonly fields: readonly PlannedField[]
  /** The namespace and name of a Secret that is written. */
  readonly secret?: string
}

/** An action that would be taken if it were not forbidden. */
export interface SuppressedStep {
  readonly action: 'create' | 'update' | 'delete' | 'lateInitialize' | 'observe'
  readonly because: string
  readonly fields: readonly PlannedField[]
}

const empty = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>

/** Returns the plan for these resources and claims. */
export function planOf(resources: readonly PlannedResource[], claims: readonly PlannedClaim[] = []): Plan {
  const summary = { ...empty }
  for (const { outcome } of resources) summary[outcome]++
  return {
    apiVersion: 'plan.crosstie.io/v1',
    kind: 'Plan',
    summary,
    resources,
    ...(claims.length > 0 ? { claims } : {}),
  }
}

/** Parses a saved plan. Throws if the value is not a plan or its version is unknown. */
export function readPlan(value: unknown): Plan {
  if (!isObject(value) || value['kind'] !== 'Plan') throw new Error('its kind is not Plan')
  if (value['apiVersion'] !== 'plan.crosstie.io/v1') {
    throw new Error(`its apiVersion is ${JSON.stringify(value['apiVersion'])}, not plan.crosstie.io/v1`)
  }
  if (!Array.isArray(value['resources'])) throw new Error('it has no resources')
  for (const resource of value['resources']) {
    const named =
      isObject(resource) && ['apiVersion', 'kind', 'name'].every((name) => typeof resource[name] === 'string')
    if (!named) throw new Error('a resource in it has no apiVersion, kind or name')
  }
  return value as unknown as Plan
}

/** Returns whether the plan contains any step. */
export const hasChanges = ({ resources }: Plan): boolean => resources.some(({ steps }) => steps.length > 0)

/** Returns whether the plan contains any error. */
export const hasErrors = ({ summary, claims = [] }: Plan): boolean =>
  summary.error > 0 || claims.some(({ error }) => error !== undefined)
