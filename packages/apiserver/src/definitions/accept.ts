import { append, equal, fieldErrors, fieldErrorText, quote, timestamp } from '@crosstie/kube'
import {
  approvalOf,
  type DefinitionCondition,
  type DefinitionNames,
  isProtectedGroup,
  structuralErrors,
  structuralProblem,
} from '@crosstie/kube/schema'
import { caBundleError } from './cabundle.js'
import type { CustomResourceDefinition } from './crd.js'

type Condition = Omit<DefinitionCondition, 'lastTransitionTime'>

const noNames: DefinitionNames = { plural: '', kind: '' }

/**
 * Returns the CRD with a status that says which names were accepted and whether it is established. A name belongs
 * to the first CRD of the group that requests it. Returns the same object when nothing changed.
 */
export function acceptNames(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: number,
): CustomResourceDefinition {
  const before = crd.status ?? {}
  const { names, conflict } = claimNames(crd, others)
  const changes = [
    namesAccepted(conflict),
    established(crd, conflict === undefined),
    approval(crd),
    nonStructural(crd),
  ].flatMap((condition) => condition ?? [])
  const kept = (before.conditions ?? []).filter(
    ({ type }) => type !== 'NonStructuralSchema' || changes.some(same(type)),
  )
  const conditions = changes.reduce<readonly DefinitionCondition[]>(
    (list, condition) => withCondition(list, condition, now),
    kept,
  )
  if (equal(names, before.acceptedNames) && equal(conditions, before.conditions)) return crd
  return { ...crd, status: { conditions, acceptedNames: names, storedVersions: storedVersions(crd) } }
}

/** Returns the CRD with the condition. The transition time changes only with the status. */
export function setCondition(
  crd: CustomResourceDefinition,
  condition: Condition,
  now: number,
): CustomResourceDefinition {
  const conditions = withCondition(crd.status?.conditions ?? [], condition, now)
  return { ...crd, status: { ...crd.status, conditions } }
}

const same = (type: string) => (condition: Condition) => condition.type === type

function withCondition(
  conditions: readonly DefinitionCondition[],
  { type, status, reason, message }: Condition,
  now: number,
): readonly DefinitionCondition[] {
  const old = conditions.find(same(type))
  const moved = old?.status !== status || !old.lastTransitionTime
  const lastTransitionTime = moved ? timestamp(now) : old.lastTransitionTime
  const next: DefinitionCondition = { lastTransitionTime, message, reason, status, type }
  if (!old) return [...conditions, next]
  return conditions.map((condition) => (condition === old ? next : condition))
}

function storedVersions(crd: CustomResourceDefinition): readonly string[] {
  const stored = crd.status?.storedVersions ?? []
  const storage = crd.spec.versions.find((version) => version.storage)?.name
  return storage === undefined || stored.includes(storage) ? stored : [...stored, storage]
}

interface Conflict {
  readonly reason: string
  readonly message: string
}

function claimNames(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): { readonly names: DefinitionNames; readonly conflict?: Conflict } {
  const wanted = crd.spec.names
  const had = crd.status?.acceptedNames ?? noNames
  if (equal(wanted, had)) return { names: had }
  const accepted = [...others.filter(({ spec }) => spec.group === crd.spec.group), crd].map(
    ({ status }) => status?.acceptedNames ?? noNames,
  )
  const resources = new Set(
    accepted.flatMap((names) => [names.plural, names.singular ?? '', ...(names.shortNames ?? [])]),
  )
  const kinds = new Set(accepted.flatMap((names) => [names.kind, names.listKind ?? '']))
  const claim = new Claim()
  const names: DefinitionNames = {
    plural: claim.one('PluralConflict', wanted.plural, had.plural, resources)!,
    ...given('singular', claim.one('SingularConflict', wanted.singular, had.singular, resources)),
    ...given('shortNames', claim.many('ShortNamesConflict', wanted.shortNames, had.shortNames, resources)),
    kind: claim.one('KindConflict', wanted.kind, had.kind, kinds)!,
    ...given('listKind', claim.one('ListKindConflict', wanted.listKind, had.listKind, kinds)),
    ...given('categories', wanted.categories),
  }
  return { names, conflict: claim.conflict }
}

function given<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined || value === '' ? {} : { [key]: value }) as { [key in K]?: V }
}

/** Collects free names and remembers the last conflict. */
class Claim {
  conflict: Conflict | undefined

  one(
    reason: string,
    wanted: string | undefined,
    had: string | undefined,
    used: ReadonlySet<string>,
  ): string | undefined {
    if ((wanted ?? '') === (had ?? '') || !used.has(wanted ?? '')) return wanted
    this.conflict = { reason, message: inUse(wanted ?? '') }
    return had
  }

  many(
    reason: string,
    wanted: readonly string[] | undefined,
    had: readonly string[] | undefined,
    used: ReadonlySet<string>,
  ): readonly string[] | undefined {
    const taken = (wanted ?? []).filter((name) => !had?.includes(name) && used.has(name))
    if (taken.length === 0) return wanted
    const messages = [...new Set(taken.map(inUse))]
    this.conflict = { reason, message: messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]` }
    return had
  }
}

const inUse = (name: string) => `${quote(name)} is already in use`

function namesAccepted(conflict: Conflict | undefined): Condition {
  if (conflict) return { type: 'NamesAccepted', status: 'False', ...conflict }
  return { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
}

/** An established CRD stays established when its new names are not accepted. */
function established(crd: CustomResourceDefinition, accepted: boolean): Condition {
  const type = 'Established'
  const old = crd.status?.conditions?.find(same(type))
  if (old?.status === 'True') return old
  if (!accepted) return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  const bundle = crd.spec.conversion?.webhook?.clientConfig?.caBundle
  if (bundle && caBundleError(bundle) !== undefined) {
    const message = 'The conversion webhook CABundle is invalid'
    return { type, status: 'False', reason: 'InvalidCABundle', message }
  }
  const message = 'the initial names have been accepted'
  return { type, status: 'True', reason: 'InitialNamesAccepted', message }
}

const approvalConditions = {
  invalid: ['False', 'InvalidAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
} as const

function approval(crd: CustomResourceDefinition): Condition | undefined {
  if (!isProtectedGroup(crd.spec.group)) return undefined
  const { state, reason: message } = approvalOf(crd)
  const [status, reason] = approvalConditions[state]
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }
}

/** Only CRDs from before structural schemas were required have this condition. */
function nonStructural(crd: CustomResourceDefinition): Condition | undefined {
  const type = 'NonStructuralSchema'
  const errors = crd.spec.preserveUnknownFields
    ? [fieldErrors.invalid('spec.preserveUnknownFields', true, 'must be false')]
    : []
  for (const [i, { name, schema }] of crd.spec.versions.entries()) {
    const root = schema?.openAPIV3Schema
    if (!root) continue
    const problem = structuralProblem(root)
    if (problem) {
      const message = `failed to check validation schema for version ${name}: ${problem}`
      return { type, status: 'Unknown', reason: 'StructuralError', message }
    }
    append(errors, structuralErrors(root, `spec.versions[${i}].schema.openAPIV3Schema`))
  }
  if (errors.length === 0) return undefined
  const texts = [...new Set(errors.map(fieldErrorText))]
  const message = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
  return { type, status: 'True', reason: 'Violations', message }
}
