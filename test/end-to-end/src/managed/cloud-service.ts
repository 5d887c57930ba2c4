import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { messageOf, systemClock } from '@crosstie/kube'
import { type CloudCapabilities, SimulatedCloud } from '@crosstie/resources/testing'

/** It assigns names and knows no tokens: what a dead process made is found by its tags alone. */
export const CAPABILITIES: CloudCapabilities = { naming: 'provider-assigned', tags: true, tokens: false, list: false }

export interface Reply {
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

/** A simulated cloud that outlives the processes that use it, and sees all that any of them makes. */
export class CloudService implements AsyncDisposable {
  /** The provider whose kind `Thing` is kept there, for `--providers`. It is told where by CLOUD_URL. */
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
      // A request of which only a part arrived before its sender died is none.
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
