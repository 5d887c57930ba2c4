// A server in a process of its own that tells how much it holds. Arguments: directory. Needs --expose-gc.
import { startServer } from '@crosstie/apiserver'
import type { Held, Hello } from './messages.js'

const server = await startServer({
  dataDir: process.argv[2]!,
  host: '127.0.0.1',
  port: 0,
  connectionLimits: { requestTimeoutMs: 1_500 },
  log: (line) => process.send!({ complaint: line }),
})

process.on('message', () => {
  // Once for what is unreachable, again for what its finalizers let go.
  global.gc!()
  setImmediate(() => {
    global.gc!()
    const { heapUsed, external, rss } = process.memoryUsage()
    const handles = process.getActiveResourcesInfo().length
    const held: Held = { heap: heapUsed + external, rss, handles, watchers: server.engine.hub.watchers }
    process.send!(held)
  })
})
process.send!({ access: server.adminAccess() } satisfies Hello)
