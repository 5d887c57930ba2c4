// A server process that reports its memory usage. Arguments: directory, timeout of requests in milliseconds. Needs
// --expose-gc.
import { startServer } from '@crosstie/apiserver'
import type { Held, Hello } from './messages.js'

// A client that attacks the transport gets short timeouts. Other clients keep their idle connections.
const [, , dataDir = '', timeoutMs] = process.argv
const short = { requestTimeoutMs: Number(timeoutMs), headerTimeoutMs: 5_000, idleTimeoutMs: 10_000 }
const connectionLimits = timeoutMs === undefined ? { requestTimeoutMs: 1_500 } : short

const server = await startServer({
  dataDir,
  host: '127.0.0.1',
  port: 0,
  connectionLimits,
  log: (line) => process.send!({ complaint: line }),
})

process.on('message', () => {
  // The first collection frees unreachable objects, the second one objects that their finalizers released.
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
