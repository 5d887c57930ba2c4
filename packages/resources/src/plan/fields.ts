import { equal, formatFieldPath, getOwn, isObject, type Json } from '@crosstie/kube'
import { holdsUnknown } from './unknown.js'

/** One field that a step sets or changes. */
export interface PlannedField {
  /** The path in the object, such as `spec.forProvider.size`, or the path below forProvider for calls. */
  readonly path: string
  /** The current value. Absent if the field is not set. */
  readonly from?: Json
  /** The new value. Absent if the value is removed, or if one of the marks below applies. */
  readonly to?: Json
  /** The value is secret and is omitted. */
  readonly sensitive?: true
  /** The value is known only after another resource of the plan is created. */
  readonly unknown?: true
  /** The value is generated at random when it is needed. */
  readonly generated?: true
}

/** How values are masked: which fields are sensitive, and how to redact other values. */
export interface FieldMasking {
  readonly isSensitive: (path: readonly string[]) => boolean
  readonly mask: <T>(value: T) => T
}

/** Returns one field for each value. Objects and maps are expanded; lists are not. */
export function fieldsOf(values: unknown, report: FieldMasking, path: readonly string[] = []): readonly PlannedField[] {
  return changedFields(undefined, values, report, path)
}

/** Returns the fields that differ between two values. */
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

/** Returns a field with its two values, masked if necessary. */
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
