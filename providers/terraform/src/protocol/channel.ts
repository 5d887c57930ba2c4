import * as grpc from '@grpc/grpc-js'
import type { ClientCertificate } from './certificate.js'
import type { Handshake } from './handshake.js'
import { messageType } from './wire.js'

/** Schemas of large providers are tens of megabytes. */
const MESSAGE_MAX = 256 * 1024 * 1024

/** The names by which version 5 knows methods that version 6 renamed. */
const renamed: Readonly<Record<string, string>> = {
  GetProviderSchema: 'GetSchema',
  ValidateProviderConfig: 'PrepareProviderConfig',
  ConfigureProvider: 'Configure',
  ValidateResourceConfig: 'ValidateResourceTypeConfig',
  ValidateDataResourceConfig: 'ValidateDataSourceConfig',
  StopProvider: 'Stop',
}

/** A call that ended without an answer of the provider. */
export class CallError extends Error {
  override readonly name = 'CallError'

  constructor(
    message: string,
    readonly code: grpc.status,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }

  /** The provider does not know the method. */
  get isUnimplemented(): boolean {
    return this.code === grpc.status.UNIMPLEMENTED
  }

  /** It is not known whether the provider did what was asked. */
  get isUncertain(): boolean {
    const { UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, UNKNOWN, INTERNAL, ABORTED, DATA_LOSS } = grpc.status
    return [UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, UNKNOWN, INTERNAL, ABORTED, DATA_LOSS].includes(this.code)
  }
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** A gRPC connection to one provider process. */
export class Channel {
  readonly #client: grpc.Client
  readonly #protocol: 5 | 6
  /** Ends the calls in progress: the library leaves some of them pending when a connection is closed. */
  readonly #ends = new Set<(error: CallError) => void>()
  #closed = false

  constructor({ address, protocol, serverCertificate }: Handshake, own: ClientCertificate) {
    const credentials = serverCertificate
      ? grpc.credentials.createSsl(Buffer.from(serverCertificate), Buffer.from(own.key), Buffer.from(own.certificate))
      : grpc.credentials.createInsecure()
    this.#protocol = protocol
    this.#client = new grpc.Client(address, credentials, {
      'grpc.ssl_target_name_override': 'localhost',
      'grpc.default_authority': 'localhost',
      'grpc.max_receive_message_length': MESSAGE_MAX,
      'grpc.max_send_message_length': MESSAGE_MAX,
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
    })
  }

  /** One call of the provider service. Throws a CallError when no answer came. */
  call<T>(method: string, types: readonly [request: string, response: string], request: object, options: CallOptions) {
    return this.#unary<T>(this.#path(method), types, request, options)
  }

  /** A call that answers with a stream. */
  async *stream<T>(
    method: string,
    [requestType, responseType]: readonly [string, string],
    request: object,
    { signal }: CallOptions,
  ): AsyncGenerator<T> {
    const { encode, decode } = this.#codecs(requestType, responseType)
    const stream = this.#client.makeServerStreamRequest(
      this.#path(method),
      encode,
      decode,
      request,
      new grpc.Metadata(),
      {},
    )
    const cancel = () => stream.cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      for await (const message of stream) yield message as T
    } catch (error) {
      throw callError(method, error as grpc.ServiceError, signal)
    } finally {
      signal?.removeEventListener('abort', cancel)
      stream.cancel()
    }
  }

  /** Asks the process to exit. It closes the connection in answer, so an error says nothing. */
  async shutdown(): Promise<void> {
    await this.#unary('/plugin.GRPCController/Shutdown', ['Empty', 'Empty'], {}, {}).catch(() => {})
  }

  /** Closes the connection. Calls in progress, and later ones, fail as unavailable. */
  close(): void {
    this.#closed = true
    this.#client.close()
    for (const end of [...this.#ends]) end(gone())
  }

  #path(method: string): string {
    const name = this.#protocol === 5 ? (renamed[method] ?? method) : method
    return `/tfplugin${this.#protocol}.Provider/${name}`
  }

  #codecs(requestType: string, responseType: string) {
    const request = messageType(this.#protocol, requestType)
    const response = messageType(this.#protocol, responseType)
    return {
      encode: (message: object) => Buffer.from(request.encode(message as never).finish()),
      decode: (bytes: Buffer) => response.decode(bytes) as object,
    }
  }

  #unary<T>(
    path: string,
    [requestType, responseType]: readonly [string, string],
    request: object,
    { signal }: CallOptions,
  ): Promise<T> {
    const { encode, decode } = this.#codecs(requestType, responseType)
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (this.#closed) return reject(gone())
      this.#ends.add(reject)
      const done = (error: grpc.ServiceError | null, response?: object) => {
        this.#ends.delete(reject)
        signal?.removeEventListener('abort', cancel)
        if (error) reject(callError(path.split('/').at(-1)!, error, signal))
        else resolve(response as T)
      }
      const call = this.#client.makeUnaryRequest(path, encode, decode, request, new grpc.Metadata(), {}, done)
      const cancel = () => call.cancel()
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }
}

const gone = (): CallError => new CallError('the provider process has ended', grpc.status.UNAVAILABLE)

function callError(method: string, error: grpc.ServiceError, signal: AbortSignal | undefined): CallError {
  const why = signal?.aborted ? 'it was canceled' : error.details || error.message
  return new CallError(`the provider did not answer ${method}: ${why}`, error.code, { cause: error })
}
