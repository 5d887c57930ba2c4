import { setOwn } from './kubernetes/json.js'
import { formatDuration, formatTimestamp } from './time.js'
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  normalInt,
  type Value,
} from './values.js'

/**
 * Converts a value to plain data: times, durations and bytes become text, and library values become their type
 * name.
 */
export function toJson(value: Value): unknown {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof CelDouble) return value.value
  if (value instanceof CelUint) return normalInt(value.value)
  if (value instanceof CelList) return value.values().map(toJson)
  if (value instanceof CelMap) {
    const object: Record<string, unknown> = {}
    for (const key of value.keys()) setOwn(object, String(toJson(key)), toJson(value.find(key)!))
    return object
  }
  if (value instanceof CelTimestamp) return formatTimestamp(value)
  if (value instanceof CelDuration) return formatDuration(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof CelOptional) return value.value === undefined ? null : toJson(value.value)
  return String(value)
}
