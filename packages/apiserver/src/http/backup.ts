import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '../store/store.js'
import type { Exchange, Outgoing } from '../transport/exchange.js'
import { type PathRoute, truthy } from './route.js'
import type { Page } from './serve.js'

/** The path of the backup endpoint. */
export const BACKUP_PATH = '/crosstie/v1/backup'

/**
 * Streams a consistent copy of the store. Only users who may read every path (cluster-admin) are authorized.
 * `?keys=true` adds the encryption keys.
 */
export function backupPage(store: Store, dataDir: string): Page {
  return async (exchange: Exchange, { query }: PathRoute) => {
    const folder = await mkdtemp(join(dataDir, 'backup-'))
    try {
      const file = join(folder, 'backup')
      const { revision } = await store.backup(file, { withKeys: truthy(query.get('keys')) })
      const { size } = await stat(file)
      const out = exchange.stream(200, {
        'content-type': 'application/octet-stream',
        'x-crosstie-revision': String(revision),
        'x-crosstie-bytes': String(size),
      })
      await send(file, out, exchange.signal)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function send(file: string, out: Outgoing, signal: AbortSignal): Promise<void> {
  let resume = () => {}
  out.onDrain(() => resume())
  for await (const chunk of createReadStream(file, { signal })) {
    if (!out.write(chunk as Buffer)) await new Promise<void>((resolve) => (resume = resolve))
  }
  out.end()
}
