import { equal, formatFieldPath, getOwn, isObject, type Json } from '@crosstie/kube'
import { holdsUnknown } from './unknown.js'

/** One field that a step sets or changes. */
export interface PlannedField {
  /** As in the object: `spec.forProvider.size`, or below forProvider for calls. */
  readonly path: string
  /** As it is. Absent: there is no value. */
  readonly from?: Json
  /** As it will be. Absent: the value goes, or one of the marks below says why it is not told. */
  readonly to?: Json
  /** The value is a secret, and is not told. */
  readonly sensitive?: true
  /** The value is known once something else of the plan was made. */
  readonly unknown?: true
  /** The value is made up at random when it is needed. */
  readonly generated?: true
}

/** How values are told: which fields are secrets, and what must not be told of others. */
export interface FieldMasking {
  readonly isSensitive: (path: readonly string[]) => boolean
  readonly mask: <T>(value: T) => T
}

/** Every value below, one field each: objects and maps are opened, lists stay whole. */
export function fieldsOf(values: unknown, report: FieldMasking, path: readonly string[] = []): readonly PlannedField[] {
  return changedFields(undefined, values, report, path)
}

/** The fields in which two values differ. */
export function changedFields(
  before: unknown,
  after: unknown,
  report: FieldMasking,
  path: readonly string[] = [],
): readonly PlannedField[] {
  if (equal(before, after)) return []
  if (isObject(after) && (before === undefined || isObject(before)) && !report.isSensitive(path)) {
    const held = before ?? {}
    const names = [...new Set([...Object.keys(held), ...Object.keys(after)])]
    if (names.length > 0) {
      return names.flatMap((name) => changedFields(getOwn(held, name), getOwn(after, name), report, [...path, name]))
    }
  }
  return [field(path, before, after, report)]
}

function field(path: readonly string[], before: unknown, after: unknown, report: FieldMasking): PlannedField {
  return plannedField(formatFieldPath(path.map((name) => ({ field: name }))), before, after, {
    ...report,
    sensitive: report.isSensitive(path),
  })
}

/** One field with its two values, told as it may be. */
export function plannedField(
  path: string,
  before: unknown,
  after: unknown,
  { mask, sensitive }: Pick<FieldMasking, 'mask'> & { readonly sensitive: boolean },
): PlannedField {
  if (sensitive) return { path: mask(path), sensitive: true }
  const from = before === undefined ? {} : { from: mask(before) as Json }
  if (holdsUnknown(after)) return { path: mask(path), ...from, unknown: true }
  return { path: mask(path), ...from, ...(after === undefined ? {} : { to: mask(after) as Json }) }
}
