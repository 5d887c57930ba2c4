import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isObject, parseJson, type Reason, type StatusDetails, StatusError } from '@crosstie/kube'
import type { HttpResponse } from './transport.js'

const unzip = promisify(gunzip)

/** Reads the whole response body as text. Rejects if the body is incomplete or destroyed. */
export async function textOf({ headers, body }: HttpResponse): Promise<string> {
  const bytes = await bytesOf(body, headers['content-length'])
  return (headers['content-encoding'] === 'gzip' ? await unzip(bytes) : bytes).toString('utf8')
}

/** `length` is the Content-Length header. */
function bytesOf(body: Readable, length: string | readonly string[] | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const cut = () => new Error('the connection was lost before the response was complete')
    let ended = false
    body.on('data', (chunk: Buffer) => chunks.push(chunk))
    body.on('error', reject)
    body.on('end', () => {
      ended = true
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      // A lost HTTP/2 connection emits `end` on its streams as if they were complete.
      const reset = (body as { rstCode?: number }).rstCode
      if (reset || (length !== undefined && Number(length) !== bytes.length)) reject(cut())
      else resolve(bytes)
    })
    body.on('close', () => {
      if (!ended) reject(cut())
    })
  })
}

const reasons: Readonly<Record<number, Reason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

const TEXT_SHOWN = 200

/** Converts an error response to a StatusError. The body may not be a Status if a proxy sent the response. */
export function errorOf(code: number, text: string): StatusError {
  const status = parsed(text)
  if (isObject(status) && status['kind'] === 'Status') return statusError(status, code)
  const message = text.trim().slice(0, TEXT_SHOWN) || 'the server gave no reason'
  return new StatusError(code, reasons[code] ?? '', message)
}

/** Converts a `Status` object to a StatusError. `code` applies if the object has no code. */
export function statusError(status: Readonly<Record<string, unknown>>, code = 500): StatusError {
  const { message, reason, details, metadata } = status
  const said = typeof status['code'] === 'number' ? status['code'] : code
  return new StatusError(said, (reason as Reason | undefined) ?? reasons[said] ?? '', String(message ?? reason ?? ''), {
    ...(isObject(details) ? { details: details as StatusDetails } : {}),
    ...(isObject(metadata) && Object.keys(metadata).length > 0 ? { metadata } : {}),
  })
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
