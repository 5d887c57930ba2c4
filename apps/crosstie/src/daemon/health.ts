import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Metrics, messageOf } from '@crosstie/kube'
import type { Address } from './address.js'

/** Returns the reason why the process is not ready, or undefined. */
export type Unready = () => Promise<string | undefined>

/** Serves `/metrics`, `/livez`, `/healthz` and `/readyz`. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: Address,
  unready: Unready = async () => undefined,
): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const path = request.url?.replace(/\?.*/, '')
    const answers = (text: string, type = 'text/plain') => response.setHeader('content-type', type).end(text)
    if (path === '/metrics') answers(metrics.expose(), 'text/plain; version=0.0.4; charset=utf-8')
    else if (path === '/livez' || path === '/healthz') answers('ok')
    else if (path === '/readyz') {
      const why = await unready().catch(messageOf)
      if (why !== undefined) response.statusCode = 503
      answers(why === undefined ? 'ok' : `not ready: ${why}\n`)
    } else response.writeHead(404).end('not found\n')
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
