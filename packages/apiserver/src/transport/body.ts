import type { IncomingHttpHeaders } from 'node:http'
import { StatusError } from '@crosstie/kube'
import { tooMany } from './limits.js'

/** The limit of kube-apiserver: three times the value limit of etcd. */
const BODY_BYTES_MAX = 3 * 1024 * 1024

/** A request body as it arrives. */
export interface Body {
  /** Called before the first byte is awaited: sends `100 Continue` to a client that waits for it. */
  proceed(): void
  receive(receiver: Receiver): void
}

/** Receives the parts of a body. */
export interface Receiver {
  data(chunk: Buffer): void
  /** The body is complete. */
  end(): void
  /** Called when the rest of the body will not arrive. */
  cut(): void
}

/** @param take Reserves memory. Returns false when the client has used its share. */
export function readBody(
  body: Body,
  headers: IncomingHttpHeaders,
  timeoutMs: number,
  take: (bytes: number) => boolean,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let over = false
    const late = setTimeout(() => fail(timedOut()), timeoutMs)
    late.unref()
    const conclude = () => {
      over = true
      clearTimeout(late)
    }
    // Bytes that arrive after a failure are dropped.
    const fail = (error: StatusError) => {
      conclude()
      chunks.length = 0
      reject(error)
    }
    if (Number(headers['content-length'] ?? 0) > BODY_BYTES_MAX) fail(tooLarge())
    else body.proceed()
    body.receive({
      data(chunk) {
        if (over) return
        size += chunk.length
        if (size > BODY_BYTES_MAX) fail(tooLarge())
        else if (!take(chunk.length)) fail(tooMany('the client sends too many request bodies at the same time'))
        else chunks.push(chunk)
      },
      end() {
        if (over) return
        conclude()
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      },
      cut() {
        if (!over) fail(cutOff())
      },
    })
  })
}

/** Whether the client waits for `100 Continue`. */
export function expectsContinue({ expect }: IncomingHttpHeaders): boolean {
  return expect?.toLowerCase() === '100-continue'
}

function timedOut(): StatusError {
  return new StatusError(408, 'Timeout', 'the body of the request did not arrive in time', { details: {} })
}

function cutOff(): StatusError {
  return new StatusError(400, 'BadRequest', 'the request ended before its body did')
}

function tooLarge(): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${BODY_BYTES_MAX}`)
}
