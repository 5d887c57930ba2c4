import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The number of calls to the API of a provider by operation: `DescribeVpcs`, `GET /bucket`. */
export type Counted = ReadonlyMap<string, number>

const READS = /^(Describe|Get|List|Head|Lookup|GET |HEAD )/

/** A proxy between the control plane and an AWS emulator that counts every call, including retries. */
export class CountingProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #counts = new Map<string, number>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async before(url: string): Promise<CountingProxy> {
    const target = new URL(url)
    const server = createServer()
    const proxy = new CountingProxy(server)
    server.on('request', (incoming, answer) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const body = Buffer.concat(chunks)
        proxy.#count(nameOf(incoming.method ?? '', incoming.url ?? '', incoming.headers['x-amz-target'], body))
        const { method, url: path, headers } = incoming
        const { hostname, port } = target
        const passed = request({ hostname, port, method, path, headers }, (reply) => {
          answer.writeHead(reply.statusCode ?? 502, reply.headers)
          reply.pipe(answer)
        })
        passed.on('error', () => answer.destroy())
        passed.end(body)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get counts(): Counted {
    return new Map(this.#counts)
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Calls that may have changed something. */
  get writes(): readonly string[] {
    return [...this.#counts.keys()].filter((name) => !READS.test(name))
  }

  /** Resets the counters, and returns the previous total. */
  clear(): number {
    const { total } = this
    this.#counts.clear()
    return total
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/**
 * Returns the operation. The query protocol names it in the body, the JSON protocols in a header, others by method
 * and path.
 */
function nameOf(method: string, path: string, target: string | string[] | undefined, body: Buffer): string {
  if (typeof target === 'string') return target.split('.').at(-1)!
  const action = /(?:^|[?&])Action=(\w+)/.exec(body.toString('utf8')) ?? /[?&]Action=(\w+)/.exec(path)
  return action?.[1] ?? `${method} ${path.split('?')[0]}`
}
