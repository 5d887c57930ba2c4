import { StatusError } from '@crosstie/kube'

/**
 * The maximum number of object fields of a body. Decoding, comparing and storing one field takes about ten
 * microseconds regardless of its size. Without a limit, three megabytes of short fields would block other requests.
 * kube-apiserver has no such limit, but cannot store such objects either: with their managedFields they exceed the
 * limit of etcd.
 */
const FIELDS_MAX = 200_000

/** Throws 413 for more fields than a request may have. */
export function checkFieldCount(count: number): void {
  if (count <= FIELDS_MAX) return
  const message = `Request entity too large: limit is ${FIELDS_MAX} fields in all objects of the body`
  throw new StatusError(413, 'RequestEntityTooLarge', message)
}

/**
 * Parsing YAML takes ten times as long as parsing JSON. Clients that send large objects, such as kubectl, send
 * JSON.
 */
const YAML_LETTERS_MAX = 1 << 20

/** Throws 413 for a body in YAML, and not JSON, that exceeds the limit. */
export function checkYamlSize(letters: number): void {
  if (letters <= YAML_LETTERS_MAX) return
  const message = `Request entity too large: limit is ${YAML_LETTERS_MAX} for YAML. Send JSON, which may be larger`
  throw new StatusError(413, 'RequestEntityTooLarge', message)
}
