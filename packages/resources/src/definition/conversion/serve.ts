import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { attempt, isObject, type KubeObject, messageOf, parseJson, stringify } from '@crosstie/kube'
import type { ManagedKind } from '../managed.js'
import { CONVERSION_PATH } from './endpoint.js'

/** The options of `serveConversions`. */
export interface ConversionOptions {
  readonly kinds: readonly ManagedKind[]
  readonly host: string
  /** The port to listen on. 0 selects a free port. */
  readonly port: number
  readonly cert: string
  readonly key: string
  readonly ca: string
}

/** A running conversion server. */
export interface ConversionServer extends AsyncDisposable {
  /** The endpoint to pass to `crd()` of the kinds. */
  readonly endpoint: { readonly url: string; readonly ca: string }
  close(): Promise<void>
}

const BODY_MAX = 256 * 1024 * 1024

/**
 * Starts a server that answers ConversionReviews of any Kubernetes API server for all kinds. It is stateless, so
 * several processes can serve the same kinds.
 */
export async function serveConversions(options: ConversionOptions): Promise<ConversionServer> {
  const { kinds, host, port, cert, key, ca } = options
  const server = createServer({ cert, key }, async (request, response) => {
    try {
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of request as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > BODY_MAX) throw new Error('the review is too large')
        chunks.push(chunk)
      }
      const answer = answerReview(kinds, parseJson(Buffer.concat(chunks).toString('utf8')))
      response.writeHead(200, { 'content-type': 'application/json' }).end(stringify(answer))
    } catch (error) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(messageOf(error))
    }
  })
  server.listen(port, host)
  await attempt(`serve conversions on ${host}:${port}`, () => once(server, 'listening'))
  const { port: taken } = server.address() as AddressInfo
  const close = async () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    endpoint: { url: `https://${host.includes(':') ? `[${host}]` : host}:${taken}${CONVERSION_PATH}`, ca },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Returns the answer to a ConversionReview. Throws only if the request is not a ConversionReview. */
function answerReview(kinds: readonly ManagedKind[], review: unknown): object {
  const request = isObject(review) ? review['request'] : undefined
  if (!isObject(review) || review['kind'] !== 'ConversionReview' || !isObject(request)) {
    throw new Error('this is no ConversionReview')
  }
  const { uid, desiredAPIVersion, objects } = request as {
    uid?: string
    desiredAPIVersion?: string
    objects?: readonly KubeObject[]
  }
  const { apiVersion } = review
  const respond = (response: object) => ({ apiVersion, kind: 'ConversionReview', response: { uid, ...response } })
  try {
    const convertedObjects = (objects ?? []).map((object) => convertOne(kinds, object, desiredAPIVersion ?? ''))
    return respond({ convertedObjects, result: { status: 'Success' } })
  } catch (error) {
    return respond({ convertedObjects: [], result: { status: 'Failure', message: messageOf(error) } })
  }
}

function convertOne(kinds: readonly ManagedKind[], object: KubeObject, desired: string): KubeObject {
  const [group, version = ''] = desired.split('/')
  const kind = kinds.find(({ type }) => type.group === group && type.kind === object.kind)
  if (!kind?.convert) throw new Error(`${object.kind}.${group} is not converted here`)
  return kind.convert(object, version)
}
