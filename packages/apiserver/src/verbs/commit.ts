import { StatusError } from '@crosstie/kube'
import type { Engine } from '../engine.js'
import { StoreWriteError } from '../store/failures.js'
import type { Change, Write } from '../store/store.js'

/** Makes writes durable. What the disk refuses is told as a Status, alike to every client. */
export function commit({ store }: Engine, writes: readonly Write[]): Promise<readonly Change[]> {
  return store.write(writes).catch(refused)
}

/**
 * Waits until readers see what writers build on. Whoever is told that an object
 * is there, gone or changed must find it so, also after a crash.
 */
export async function settled(engine: Engine, key: string): Promise<void> {
  const { store } = engine
  if (store.tip(key)?.revision !== store.get(key)?.revision) await commit(engine, [])
}

function refused(error: unknown): never {
  if (!(error instanceof StoreWriteError)) throw error
  throw new StatusError(503, 'ServiceUnavailable', error.message, { cause: error, details: {} })
}
