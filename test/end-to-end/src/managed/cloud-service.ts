import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { messageOf, systemClock } from '@crosstie/kube'
import { type CloudCapabilities, SimulatedCloud } from '@crosstie/resources/testing'

/** The cloud assigns names and has no idempotency tokens: resources of a dead process are found only by their tags. */
export const CAPABILITIES: CloudCapabilities = { naming: 'provider-assigned', tags: true, tokens: false, list: false }

/** A response of the cloud service. */
export interface Reply {
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

/** A simulated cloud that outlives its client processes, and records all their creations. */
export class CloudService implements AsyncDisposable {
  /** The path of the provider for `--providers`. It serves the kind `Thing`, and CLOUD_URL locates the cloud. */
  static readonly provider = fileURLToPath(new URL('cloud-provider.js', import.meta.url))
  readonly cloud = new SimulatedCloud({ ...CAPABILITIES, clock: systemClock })
  readonly #server: Server = createServer()

  static async start(): Promise<CloudService> {
    const service = new CloudService()
    service.#server.on('request', (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      // A partial request of a process that died is ignored.
      request.on('end', async () => response.end(JSON.stringify(await service.#answer(request.url!, body))))
    })
    service.#server.listen(0, '127.0.0.1')
    await once(service.#server, 'listening')
    return service
  }

  get env(): NodeJS.ProcessEnv {
    const { port } = this.#server.address() as AddressInfo
    return { ...process.env, CLOUD_URL: `http://127.0.0.1:${port}` }
  }

  async #answer(path: string, body: string): Promise<Reply> {
    try {
      const call = path.slice(1) as 'get'
      const given = JSON.parse(body) as [never]
      return { result: await this.cloud[call](...given) }
    } catch (error) {
      return { error: { name: error instanceof Error ? error.name : 'Error', message: messageOf(error) } }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
