import { StatusError } from '@crosstie/kube'

/**
 * The most object fields that a body may have. Each stage of a write takes about a microsecond per field, and a stage is
 * not interrupted. Upstream has no such limit, but needs more than 6 s of CPU time for 120,000 annotations.
 */
const FIELDS_MAX = 100_000

/** The most fields of one object. Objects with many keys are hash tables, which take several times as long. */
const KEYS_MAX = 60_000

/** The most values that a body may have: object fields and list elements. */
const VALUES_MAX = 250_000

/** The most elements of one list. A list may be a set, whose elements each have an owner. */
const ELEMENTS_MAX = 100_000

/**
 * The number of object fields, of fields in the largest object, of elements in the longest list, and of all fields and
 * elements together.
 */
export interface BodySize {
  readonly keys: number
  readonly elements: number
  readonly fields: number
  readonly values: number
}

/** Throws 413 if a body has more fields or values than a request may. */
export function checkBodySize({ keys, elements, fields, values }: BodySize): void {
  if (keys > KEYS_MAX) throw tooLarge(`limit is ${KEYS_MAX} fields in one object of the body`)
  if (elements > ELEMENTS_MAX) throw tooLarge(`limit is ${ELEMENTS_MAX} elements in one list of the body`)
  if (fields > FIELDS_MAX) throw tooLarge(`limit is ${FIELDS_MAX} fields in all objects of the body`)
  if (values > VALUES_MAX) throw tooLarge(`limit is ${VALUES_MAX} fields and list elements in the body`)
}

function tooLarge(why: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`)
}

/**
 * Parsing YAML takes ten times as long as parsing JSON. Clients that send large objects, such as kubectl, send
 * JSON.
 */
const YAML_LETTERS_MAX = 1 << 20

/** Throws 413 if a body in YAML that is not also JSON is longer, or has more values, than such a body may have. */
export function checkYamlSize(text: string): void {
  if (text.length > YAML_LETTERS_MAX) {
    throw tooLarge(`limit is ${YAML_LETTERS_MAX} for YAML. Send JSON, which may be larger`)
  }
  // Every value but the first follows a comma, a line break or a bracket. Text may contain them too.
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 44 || code === 10 || code === 91 || code === 123) values++
  }
  checkBodySize({ keys: 0, elements: 0, fields: 0, values })
}
