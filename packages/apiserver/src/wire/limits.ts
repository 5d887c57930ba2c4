import { StatusError } from '@crosstie/kube'

/**
 * The most object fields that a body may have. Reading, comparing and storing one field takes about ten microseconds,
 * whatever its size: without a limit, three megabytes of short fields would block other requests. Upstream has no such
 * limit, but cannot store such objects either: with their managedFields they are larger than etcd allows.
 */
const FIELDS_MAX = 200_000

/** Throws 413 if a body has more fields than a request may. */
export function checkFieldCount(count: number): void {
  if (count <= FIELDS_MAX) return
  const message = `Request entity too large: limit is ${FIELDS_MAX} fields in all objects of the body`
  throw new StatusError(413, 'RequestEntityTooLarge', message)
}

/** Reading YAML takes ten times as long as reading JSON. Clients that send large objects, such as kubectl, send JSON. */
const YAML_LETTERS_MAX = 1 << 20

/** Throws 413 if a body in YAML that is not also JSON is longer than such a body may be. */
export function checkYamlSize(letters: number): void {
  if (letters <= YAML_LETTERS_MAX) return
  const message = `Request entity too large: limit is ${YAML_LETTERS_MAX} for YAML. Send JSON, which may have more`
  throw new StatusError(413, 'RequestEntityTooLarge', message)
}
