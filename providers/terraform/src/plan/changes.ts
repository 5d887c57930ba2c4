import type { Path } from '../protocol/diagnostics.js'
import type { CtyType } from '../protocol/types.js'
import { Dynamic, isList, isMap, memberType, sameValue, type Value } from '../protocol/values.js'

/** One place where two values of a type differ. */
export interface ValueChange {
  readonly path: Path
  readonly before: Value
  readonly after: Value
}

/** Where two values differ, as deep as both have the same shape. Sets, and lists of different length, count as a whole. */
export function changesBetween(type: CtyType, before: Value, after: Value): readonly ValueChange[] {
  return [...walk(type, before, after, [])]
}

function* walk(type: CtyType, before: Value, after: Value, path: Path): Generator<ValueChange> {
  if (sameValue(type, before, after)) return
  if (before instanceof Dynamic && after instanceof Dynamic) {
    if (sameValue('dynamic', new Dynamic(before.type, null), new Dynamic(after.type, null))) {
      yield* walk(before.type, before.value, after.value, path)
      return
    }
  } else if (typeof type === 'object' && type.kind !== 'set') {
    if (isMap(before) && isMap(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        yield* walk(memberType(type, name), before[name] ?? null, after[name] ?? null, [...path, name])
      }
      return
    }
    if (isList(before) && isList(after) && before.length === after.length) {
      for (const [index, item] of before.entries()) {
        yield* walk(memberType(type, index), item, after[index]!, [...path, index])
      }
      return
    }
  }
  yield { path, before, after }
}
