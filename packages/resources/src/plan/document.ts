import { isObject } from '@crosstie/kube'
import type { PlannedField } from './fields.js'

/**
 * A plan as data: what `crosstie plan -o json` prints. Fields are added, never
 * renamed, as long as apiVersion is the same. docs/reference/plan.md tells what each means.
 */
export interface Plan {
  readonly apiVersion: 'plan.crosstie.io/v1'
  readonly kind: 'Plan'
  readonly summary: Readonly<Record<Outcome, number>>
  readonly resources: readonly PlannedResource[]
  /** With claims: what they would get. Their resources are among the others. */
  readonly claims?: readonly PlannedClaim[]
}

export interface PlannedClaim {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** The class by which it is met, as Kind/name. */
  readonly class?: string
  /** Why that class, or what the claim waits for. */
  readonly because: string
  /** The managed resources that meet it, or would be made for it. */
  readonly resources: readonly { readonly apiVersion: string; readonly kind: string; readonly name: string }[]
  readonly error?: string
}

export const outcomes = ['create', 'update', 'delete', 'release', 'adjust', 'wait', 'paused', 'none', 'error'] as const

/**
 * create, update, delete: the provider is called. release: the object goes, the
 * external resource stays. adjust: only our own objects change. wait: something
 * else has to happen first. none: all is as it should be.
 */
export type Outcome = (typeof outcomes)[number]

export interface PlannedResource {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly externalName?: string
  /** How the object itself stands to the files that were given. */
  readonly object?: 'new' | 'changed' | 'unchanged'
  readonly outcome: Outcome
  readonly because: string
  readonly steps: readonly Step[]
  readonly suppressed: readonly SuppressedStep[]
  readonly approval: 'NotRequired' | 'Required' | 'Approved' | 'Stale'
  /** What to approve. Absent when nothing is called, or when values are not known yet. */
  readonly digest?: string
  readonly error?: string
  /** Fields are left out, since the person who requested the plan may not read the object. */
  readonly hidden?: true
}

export interface Step {
  readonly action:
    | 'create'
    | 'update'
    | 'delete'
    | 'release'
    | 'lateInitialize'
    | 'resolveReferences'
    | 'writeConnectionSecret'
  /** Of calls: below spec.forProvider. Of a Secret: its keys. Else: in the object. */
  readonly fields: readonly PlannedField[]
  /** Namespace and name of a Secret that is written. */
  readonly secret?: string
}

/** What would be done if something did not forbid it. */
export interface SuppressedStep {
  readonly action: 'create' | 'update' | 'delete' | 'lateInitialize' | 'observe'
  readonly because: string
  readonly fields: readonly PlannedField[]
}

const empty = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>

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

/** A plan that was saved. Throws when it is none, or of a version that is not known here. */
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

/** Would executing it do anything at all? */
export const hasChanges = ({ resources }: Plan): boolean => resources.some(({ steps }) => steps.length > 0)

export const hasErrors = ({ summary, claims = [] }: Plan): boolean =>
  summary.error > 0 || claims.some(({ error }) => error !== undefined)
