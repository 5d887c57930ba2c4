import { once } from 'node:events'
import { createServer } from 'node:https'
import type { Case } from './case.js'
import { type Certificate, makeCertificate } from './certificate.js'
import type { Loose } from './http.js'

let authority: Certificate | undefined

/** A webhook server of a case. */
export interface Webhook {
  readonly url: string
  /** The certificate of the authority that signed the server certificate, in the format of webhook configurations. */
  readonly caBundle: string
  /** The server certificate, in the same format. */
  readonly certificate: string
  /** All requests in order. */
  readonly requests: Loose[]
  /** The path and query of each request. */
  readonly paths: string[]
}

/**
 * Starts a webhook on loopback that responds to each review with the result of `answer`. Stops at the end of the
 * case.
 */
export async function serveWebhook(t: Case, answer: (review: Loose) => Loose): Promise<Webhook> {
  authority ??= makeCertificate({ commonName: 'conformance', authority: true })
  const own = makeCertificate({ commonName: 'webhook', loopback: true }, authority)
  const requests: Loose[] = []
  const paths: string[] = []
  const server = createServer({ cert: own.cert, key: own.key }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const review = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    requests.push(review)
    paths.push(request.url ?? '')
    const body = answer(review)
    if (typeof body === 'number') response.writeHead(body).end('no')
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const bundle = ({ cert }: Certificate) => Buffer.from(cert).toString('base64')
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: bundle(authority),
    certificate: bundle(own),
    requests,
    paths,
  }
}
