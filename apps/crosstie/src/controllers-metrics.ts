import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Metrics } from '@crosstie/kube'
import type { Address } from './address.js'

/** `/metrics`, `/livez` and `/readyz` of a process that serves nothing else. */
export async function serveMetrics(metrics: Metrics, { host, port }: Address): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const path = request.url?.replace(/\?.*/, '')
    const answers = (text: string, type: string) => response.setHeader('content-type', type).end(text)
    if (path === '/metrics') answers(metrics.expose(), 'text/plain; version=0.0.4; charset=utf-8')
    else if (path === '/livez' || path === '/readyz' || path === '/healthz') answers('ok', 'text/plain')
    else response.writeHead(404).end('not found\n')
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
