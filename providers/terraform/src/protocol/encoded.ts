import { decodeJson } from './json.js'
import { decodeMsgpack, encodeMsgpack } from './msgpack.js'
import type { CtyType } from './types.js'
import type { Value } from './values.js'
import type { WireValue } from './wire.js'

/** A value as it goes to a provider. */
export function encodeValue(type: CtyType, value: Value): WireValue {
  return { msgpack: encodeMsgpack(type, value) }
}

/** A value as it came from a provider, which may use either of two encodings. An absent value is null. */
export function decodeValue(type: CtyType, { msgpack, json }: WireValue): Value {
  if (msgpack && msgpack.length > 0) return decodeMsgpack(type, msgpack)
  if (json && json.length > 0) return decodeJson(type, Buffer.from(json).toString('utf8'))
  return null
}
