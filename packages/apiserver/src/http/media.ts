import type { Exchange } from '../transport/exchange.js'
import {
  type Accepted,
  JSON_TYPE,
  mediaTypes,
  negotiate,
  notRepresentable,
  type Offer,
  PROTOBUF_TYPE,
  plainOffer,
  resourceOffer,
  tryNegotiate,
  YAML_TYPE,
} from '../wire/negotiate.js'

/** The encoding of a response. */
export interface Media {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly contentType: string
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** meta.k8s.io/v1, or v1beta1 for older clients. */
  readonly asVersion: string
  readonly pretty: boolean
}

/** Compact JSON. */
export const plainJson: Media = {
  format: 'json',
  contentType: 'application/json',
  as: undefined,
  asVersion: 'v1',
  pretty: false,
}

/**
 * Negotiates the encoding of objects, lists and watches. Clients that accept JSON get JSON even when they prefer
 * protobuf, because JSON is stored. Metadata is always encoded, so it is sent in the preferred encoding. `protobuf`
 * permits protobuf for whole objects. Throws 406.
 */
export function resourceMedia(
  accept: string | undefined,
  { protobuf = false, ...options }: { stream?: boolean; tables?: boolean; protobuf?: boolean } = {},
): Media {
  const cheap = tryNegotiate(accept, resourceOffer(options))
  const last = () => negotiate(accept, resourceOffer({ ...options, protobuf: protobuf ? 'all' : 'metadata' }))
  return mediaOf(cheap && !(options.stream && cheap.mediaType === YAML_TYPE) ? cheap : last(), options.stream)
}

/** Indents the response for browsers and curl, and on request. */
export function readable(media: Media, query: URLSearchParams, { headers }: Exchange): Media {
  const pretty = query.get('pretty')
  const wanted = pretty ? trueWords.has(pretty) : /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '')
  return wanted ? { ...media, pretty: true } : media
}

/** Values that Go's ParseBool reads as true. Other parameters are parsed less strictly. */
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

/** Negotiates the encoding of responses that have one form only. Throws 406. */
export function plainMedia(accept: string | undefined): Media {
  return mediaOf(tryNegotiate(accept, plainOffer) ?? negotiate(accept, anyPlainOffer))
}

/** Negotiates the encoding of errors. Falls back to indented JSON, as kube-apiserver does. */
export function errorMedia(accept: string | undefined): Media {
  const accepted = tryNegotiate(accept, plainOffer) ?? tryNegotiate(accept, anyPlainOffer)
  return accepted ? mediaOf(accepted) : { ...plainJson, pretty: true }
}

/** Throws 406 unless the client accepts JSON. */
export function requireJson(accept: string | undefined): void {
  if (tryNegotiate(accept, { writes: [JSON_TYPE], transforms: () => true })) return
  throw notRepresentable([JSON_TYPE])
}

/** Throws 406 unless the client accepts the type. */
export function requireType(accept: string | undefined, type: string): void {
  const asked = (accept || '*/*').split(',').map((clause) => clause.split(';', 1)[0]!.trim())
  if (!asked.includes('*/*') && !asked.includes(type)) throw notRepresentable([type])
}

const anyPlainOffer: Offer = { ...plainOffer, writes: mediaTypes }

const formats = { [JSON_TYPE]: 'json', [YAML_TYPE]: 'yaml', [PROTOBUF_TYPE]: 'protobuf' } as const

function mediaOf({ mediaType, as, pretty }: Accepted, stream = false): Media {
  if (!as && !pretty && mediaType === JSON_TYPE) return plainJson
  return {
    format: formats[mediaType],
    contentType: stream && mediaType === PROTOBUF_TYPE ? `${mediaType};stream=watch` : mediaType,
    as: as?.kind as Media['as'],
    asVersion: as?.version ?? 'v1',
    pretty,
  }
}
