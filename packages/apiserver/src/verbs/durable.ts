import { type KubeObject, StatusError, stringify } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { Served } from '../serving/served.js'
import { StoreWriteError } from '../store/failures.js'
import { type Change, ObjectTooLargeError, type Write } from '../store/store.js'
import { encodeProtobuf } from '../wire/protobuf-encode.js'

/** The default request limit of etcd. */
const OBJECT_BYTES_MAX = 1_572_864
/** kube-apiserver refuses longer requests itself, with another message. */
const MESSAGE_BYTES_MAX = 2_097_152

/** Resolves when the writes are on disk. Throws 503 when the disk fails. */
export function writeDurably({ store }: Engine, writes: readonly Write[]): Promise<readonly Change[]> {
  return store.write(writes).catch(refused)
}

type Put = Write & { readonly do: 'put' }

/** Options of putDurably. */
export interface PutOptions {
  /** Whether an object that is too large may lose its managedFields. False for server-side apply, which needs them. */
  readonly mayDropOwners: boolean
}

/** Writes an object durably. Throws 500 with the message of kube-apiserver when it exceeds the limit of etcd. */
export function putDurably(engine: Engine, served: Served, put: Put, options: PutOptions): Promise<readonly Change[]> {
  return writeDurably(engine, [{ ...put, bytesMax: OBJECT_BYTES_MAX }]).catch((error) => {
    if (error instanceof ObjectTooLargeError) return putLarge(engine, served, put, options)
    throw error
  })
}

/** kube-apiserver stores built-in kinds in protobuf, which is shorter, and tries once more without managedFields. */
async function putLarge(engine: Engine, served: Served, put: Put, options: PutOptions): Promise<readonly Change[]> {
  const { managedFields, ...metadata } = put.object.metadata
  const candidates = [put.object]
  if (options.mayDropOwners && managedFields) candidates.push({ ...put.object, metadata })
  let size = 0
  for (const object of candidates) {
    await othersFirst()
    size = storedSize(served, object)
    await othersFirst()
    if (size <= OBJECT_BYTES_MAX) return await writeDurably(engine, [{ ...put, object }])
  }
  throw tooLarge(size)
}

/** Each pass over an object of megabytes takes long, so other requests run in between. */
function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function storedSize({ definition }: Served, object: KubeObject): number {
  return definition.strategy.storedAs === 'json' ? Buffer.byteLength(stringify(object)) : encodeProtobuf(object).length
}

function tooLarge(size: number): StatusError {
  if (size <= MESSAGE_BYTES_MAX) return new StatusError(500, '', 'etcdserver: request is too large')
  const why = `trying to send message larger than max (${size} vs. ${MESSAGE_BYTES_MAX})`
  return new StatusError(500, '', `rpc error: code = ResourceExhausted desc = ${why}`)
}

/**
 * Waits until the newest accepted state of the key is durable. A client that learns that an object exists, was
 * deleted or has changed must find it so, even after a crash.
 */
export async function awaitDurable(engine: Engine, key: string): Promise<void> {
  const { store } = engine
  if (store.tip(key)?.revision !== store.get(key)?.revision) await writeDurably(engine, [])
}

function refused(error: unknown): never {
  if (!(error instanceof StoreWriteError)) throw error
  throw new StatusError(503, 'ServiceUnavailable', error.message, { cause: error, details: {} })
}
