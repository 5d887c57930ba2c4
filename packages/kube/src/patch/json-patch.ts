import { badRequest, StatusError } from '../errors.js'
import { clone, equal, getOwn, isObject, NESTING_MAX, nestsTooDeep, setOwn, stringify } from '../json.js'

const OPERATIONS_MAX = 10_000
/** The maximum number of bytes that `copy` operations may add to a document. */
const COPIED_BYTES_MAX = 3 * 1024 * 1024

/**
 * Applies a patch of RFC 6902 as kube-apiserver does. The document is not changed; untouched parts are shared with
 * the result. Throws a StatusError: 400 for an invalid patch, 413 for too many operations, 422 for an operation
 * that does not apply (its `cause` has the reason) or that nests too deep.
 */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  const steps = jsonPatchSteps(document, operations)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The operations of a patch, one by one. The result is the patched document. */
export type JsonPatchSteps = Generator<void, unknown, void>

/**
 * Like `applyJsonPatch`, but stops after every operation. Ten thousand insertions at the front of a large list take
 * seconds. Returns the patched document.
 */
export function* jsonPatchSteps(document: unknown, operations: unknown): JsonPatchSteps {
  const decoded = decodeOperations(operations)
  if (decoded.length > OPERATIONS_MAX) {
    const message = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${decoded.length}`
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
  }
  const patcher = new Patcher(document)
  try {
    for (const operation of decoded) {
      patcher.apply(operation)
      yield
    }
  } catch (cause) {
    if (!(cause instanceof DoesNotApply)) throw cause
    throw unprocessable(cause)
  }
  checkNesting(patcher.document)
  return patcher.document
}

/** Checks the nesting depth. Operations can nest a document deeper than any single patch. */
function checkNesting(value: unknown): void {
  if (!nestsTooDeep(value)) return
  const message = `the patch nests the object deeper than ${NESTING_MAX} levels`
  throw new StatusError(422, 'Invalid', message, { details: {} })
}

/** Returns the StatusError with code 422. kube-apiserver does not disclose the reason; the cause has it. */
export function unprocessable(cause: Error): StatusError {
  const message = 'the server rejected our request due to an error in our request'
  return new StatusError(422, 'Invalid', message, { cause, details: {} })
}

interface Operation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  /** The value. Undefined if the operation does not have one, null if it is null. */
  readonly value: unknown
}

function decodeOperations(operations: unknown): Operation[] {
  const complain = (type: string, into: string) =>
    badRequest(`error decoding patch: json: cannot unmarshal ${type} into Go ${into}`)
  if (operations === null) return []
  if (!Array.isArray(operations)) throw complain(jsonType(operations), 'value of type []handlers.jsonPatchOp')
  return operations.map((operation: unknown) => {
    if (operation === null) return { op: 'unknown', path: undefined, from: undefined, value: undefined }
    if (!isObject(operation)) throw complain(jsonType(operation), 'value of type handlers.jsonPatchOp')
    const text = (name: 'op' | 'path' | 'from') => {
      const value = getOwn(operation, name)
      if (value === undefined || value === null) return undefined
      if (typeof value !== 'string') {
        throw complain(jsonType(value), `struct field jsonPatchOp.${name} of type string`)
      }
      return value
    }
    return { op: text('op') ?? 'unknown', path: text('path'), from: text('from'), value: getOwn(operation, 'value') }
  })
}

/** Returns the name of a JSON type as Go's decoder prints it. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

class DoesNotApply extends Error {
  override readonly name = 'DoesNotApply'
}

type Container = unknown[] | Record<string, unknown>

const noPath = 'failed to decode path: operation missing path field'
const noFrom = 'failed to decode from: operation, missing from field'

class Patcher {
  document: unknown
  /** Containers that this patch created, and thus may change in place. */
  readonly #own = new WeakSet<object>()
  #copied = 0

  constructor(document: unknown) {
    this.document = document
  }

  apply(operation: Operation): void {
    const step = getOwn(this.#steps, operation.op) as ((operation: Operation) => void) | undefined
    if (!step) throw new DoesNotApply(`Unexpected kind: ${operation.op}`)
    step(operation)
  }

  readonly #steps: Readonly<Record<string, (operation: Operation) => void>> = {
    add: ({ path, value }) => this.#add(needed(path, 'add operation failed to decode path'), value ?? null),
    remove: ({ path }) => this.#remove(needed(path, 'remove operation failed to decode path')),
    replace: ({ path, value }) => this.#replace(needed(path, `replace operation ${noPath}`), value ?? null),
    move: ({ from, path }) => this.#move(needed(from, `move operation ${noFrom}`), path),
    test: ({ path, value }) => this.#test(needed(path, `test operation ${noPath}`), value ?? null),
    copy: ({ from, path }) => this.#copy(needed(from, `copy operation ${noFrom}`), path),
  }

  #add(path: string, value: unknown): void {
    const place = this.#find(path, true)
    if (!place) {
      throw new DoesNotApply(`add operation does not apply: doc is missing path: "${path}": missing value`)
    }
    prefixed(`error in add for path: '${path}'`, () => insert(place.container, place.key, value))
  }

  #remove(path: string): void {
    const place = this.#find(path, true)
    if (!place) {
      throw new DoesNotApply(`remove operation does not apply: doc is missing path: "${path}": missing value`)
    }
    prefixed(`error in remove for path: '${path}'`, () => takeOut(place.container, place.key))
  }

  #replace(path: string, value: unknown): void {
    if (path === '') {
      // Values other than objects and arrays are ignored, as in Kubernetes.
      if (typeof value === 'object' && value !== null) this.document = value
      return
    }
    const place = this.#find(path, true)
    if (!place) {
      throw new DoesNotApply(`replace operation does not apply: doc is missing path: ${path}: missing value`)
    }
    const { container, key } = place
    if (!Array.isArray(container)) {
      setOwn(container, key, value)
      return
    }
    let index: number
    try {
      index = indexOf(container, key)
    } catch {
      throw new DoesNotApply(`replace operation does not apply: doc is missing key: ${path}: missing value`)
    }
    container[index] = value
  }

  #move(from: string, to: string | undefined): void {
    const source = this.#find(from, true)
    if (!source) {
      throw new DoesNotApply(`move operation does not apply: doc is missing from path: ${from}: missing value`)
    }
    const value = prefixed(`error in move for path: '${source.key}'`, () => {
      const found = read(source.container, source.key)
      takeOut(source.container, source.key)
      return found
    })
    const path = needed(to, `move operation ${noPath}`)
    const target = this.#find(path, true)
    if (!target) {
      throw new DoesNotApply(`move operation does not apply: doc is missing destination path: ${path}: missing value`)
    }
    prefixed(`error in move for path: '${path}'`, () => insert(target.container, target.key, value ?? null))
  }

  #copy(from: string, to: string | undefined): void {
    const source = this.#find(from, false)
    if (!source) {
      throw new DoesNotApply(`copy operation does not apply: doc is missing from path: ${from}: missing value`)
    }
    const value = prefixed(`error in copy for from: '${from}'`, () => read(source.container, source.key)) ?? null
    const path = needed(to, 'copy operation failed to decode path')
    const target = this.#find(path, true)
    if (!target) {
      throw new DoesNotApply(`copy operation does not apply: doc is missing destination path: ${path}: missing value`)
    }
    checkNesting(value)
    this.#copied += value === null ? 0 : Buffer.byteLength(stringify(value))
    if (this.#copied > COPIED_BYTES_MAX) {
      const limits = `the limit is ${COPIED_BYTES_MAX}, the accumulated size is ${this.#copied}`
      throw new DoesNotApply(
        `Unable to complete the copy, the accumulated size increase of copy is too large: ${limits}`,
      )
    }
    prefixed('error while adding value during copy', () => insert(target.container, target.key, clone(value)))
  }

  #test(path: string, value: unknown): void {
    const fail = () => {
      throw new DoesNotApply(`testing value ${path} failed: test failed`)
    }
    if (path === '') {
      if (!equal(this.document, value)) fail()
      return
    }
    const place = this.#find(path, false)
    if (!place) throw new DoesNotApply(`test operation does not apply: is missing path: ${path}: missing value`)
    const found = prefixed(`error in test for path: '${path}'`, () => read(place.container, place.key))
    if (!equal(found ?? null, value)) fail()
  }

  /** Returns the container of the last key of a path. Containers on the way are copied if `toChange` is set. */
  #find(path: string, toChange: boolean): { container: Container; key: string } | undefined {
    const keys = path.split('/').slice(1).map(decodeKey)
    const key = keys.pop()
    if (key === undefined || typeof this.document !== 'object' || this.document === null) return undefined
    if (toChange) this.document = this.#owned(this.document as Container)
    let container = this.document as Container
    for (const part of keys) {
      let next: unknown
      try {
        next = read(container, part)
      } catch {
        return undefined
      }
      if (typeof next !== 'object' || next === null) return undefined
      if (toChange && !this.#own.has(next)) {
        next = this.#owned(next as Container)
        if (Array.isArray(container)) container[indexOf(container, part)] = next
        else setOwn(container, part, next)
      }
      container = next as Container
    }
    return { container, key }
  }

  #owned(container: Container): Container {
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : { ...container }
    this.#own.add(copy)
    return copy
  }
}

function needed(text: string | undefined, complaint: string): string {
  if (text === undefined) throw new DoesNotApply(`${complaint}: missing value`)
  return text
}

function prefixed<T>(words: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof DoesNotApply) throw new DoesNotApply(`${words}: ${error.message}`)
    throw error
  }
}

function read(container: Container, key: string): unknown {
  return Array.isArray(container) ? container[indexOf(container, key)] : getOwn(container, key)
}

function insert(container: Container, key: string, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  const index = prefixed(`value was not a proper array index: '${key}'`, () => parseIndex(key))
  // An insertion has one more position than there are elements. Negative indexes count from it.
  container.splice(bounded(index, container.length + 1), 0, value)
}

function takeOut(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(indexOf(container, key), 1)
  else if (Object.hasOwn(container, key)) delete container[key]
  else throw new DoesNotApply(`Unable to remove nonexistent key: ${key}: missing value`)
}

function indexOf(array: readonly unknown[], key: string): number {
  return bounded(parseIndex(key), array.length)
}

function bounded(index: number, length: number): number {
  if (index >= length || index < -length) {
    throw new DoesNotApply(`Unable to access invalid index: ${index}: invalid index referenced`)
  }
  return index < 0 ? index + length : index
}

function parseIndex(key: string): number {
  if (!/^[+-]?[0-9]+$/.test(key)) {
    throw new DoesNotApply(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`)
  }
  const index = Number(key)
  if (index >= 2 ** 63 || index < -(2 ** 63)) {
    throw new DoesNotApply(`strconv.Atoi: parsing ${JSON.stringify(key)}: value out of range`)
  }
  return index
}

function decodeKey(part: string): string {
  return part.includes('~') ? part.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~')) : part
}
