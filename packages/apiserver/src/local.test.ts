import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { clientContract } from '@crosstie/kube/testing'
import { type Server, startServer } from './server.js'

let server: Promise<Server> | undefined
let dataDir: string | undefined

async function open() {
  server ??= mkdtemp(join(tmpdir(), 'crosstie-local-')).then((folder) => {
    dataDir = folder
    return startServer({ dataDir: folder, host: '127.0.0.1', port: 0 })
  })
  const running = await server
  const stranger = running.client({ name: 'stranger', groups: ['system:authenticated'] })
  return { admin: running.client(), stranger }
}

after(async () => {
  await (await server)?.close()
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

clientContract('in the process', open)
