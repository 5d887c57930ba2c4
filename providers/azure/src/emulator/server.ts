import { once } from 'node:events'
import { createServer, type Server } from 'node:http'

export interface EmulatorOptions {
  readonly port?: number
}

/** An emulator of Azure Resource Manager and Microsoft Graph on the loopback interface. */
export class AzureEmulator implements AsyncDisposable {
  readonly #server: Server
  readonly url: string

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async start({ port = 0 }: EmulatorOptions = {}): Promise<AzureEmulator> {
    const server = createServer((_, response) => response.writeHead(404).end())
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return new AzureEmulator(server, `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
