import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as AWS receives it. */
export interface Asked {
  /** The operation, if the protocol names it: `CreateVpc`. Otherwise method and path: `PUT /bucket`. */
  readonly operation: string
  readonly body: string
}

/** A response that replaces that of AWS. */
export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A fault: `lost` performs the call without a response, `cut` does not perform it. */
export type Fault = Answer | 'lost' | 'cut' | undefined

/** A proxy in front of moto that injects faults of AWS. */
export class Front implements AsyncDisposable {
  readonly requests: string[] = []
  /** Returns the fault for a request, or undefined to forward it. */
  fault: (asked: Asked) => Fault = () => undefined

  static async start(target: string): Promise<Front> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Front(server, target)
  }

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {
    server.on('request', (request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const asked = { operation: operationOf(request, body.toString()), body: body.toString() }
    this.requests.push(asked.operation)
    const fault = this.fault(asked)
    if (fault === 'cut') {
      response.destroy()
    } else if (fault === undefined || fault === 'lost') {
      const { status, headers, text } = await this.#forward(request, body)
      if (fault === 'lost') response.destroy()
      else response.writeHead(status, headers).end(text)
    } else {
      response.writeHead(fault.status, { 'content-type': 'text/xml', ...fault.headers }).end(fault.body)
    }
  }

  async #forward({ method, url, headers }: IncomingMessage, body: Buffer) {
    const { host: _, connection: __, 'content-length': ___, expect: ____, ...kept } = headers
    const answer = await fetch(`${this.target}${url}`, {
      method: method!,
      headers: kept as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
      redirect: 'manual',
    })
    const dropped = ['content-encoding', 'content-length', 'transfer-encoding', 'connection']
    const given = [...answer.headers].filter(([name]) => !dropped.includes(name))
    return { status: answer.status, headers: Object.fromEntries(given), text: Buffer.from(await answer.arrayBuffer()) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeAllConnections()
    await closed
  }
}

function operationOf({ method, url, headers }: IncomingMessage, body: string): string {
  const target = headers['x-amz-target']
  if (typeof target === 'string') return target.split('.').at(-1)!
  const action = /(?:^|&)Action=(\w+)/.exec(body)?.[1]
  return action ?? `${method} ${url?.replace(/\?.*/, '')}`
}

/** Error bodies in the formats of the services. */
export const errorBodies = {
  ec2: (status: number, code: string, message: string): Answer => ({
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>ea966190-f9aa-478e-9ede-example</RequestID></Response>`,
  }),
  query: (status: number, code: string, message: string): Answer => ({
    status,
    body: `<ErrorResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1e4d8ba7-example</RequestId></ErrorResponse>`,
  }),
  s3: (status: number, code: string, message: string): Answer => ({
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`,
    headers: { 'content-type': 'application/xml' },
  }),
  json: (status: number, code: string, message: string): Answer => ({
    status,
    body: JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message }),
    headers: { 'content-type': 'application/x-amz-json-1.0' },
  }),
}
