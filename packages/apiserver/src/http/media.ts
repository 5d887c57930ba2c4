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

/** How an answer is written. */
export interface Media {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly contentType: string
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** meta.k8s.io/v1, or v1beta1 for those who still ask for it. */
  readonly asVersion: string
  readonly pretty: boolean
}

export const plainJson: Media = {
  format: 'json',
  contentType: 'application/json',
  as: undefined,
  asVersion: 'v1',
  pretty: false,
}

/**
 * For objects, lists and watches. Who can read JSON gets JSON, even where protobuf
 * is preferred: it lies there already. Metadata has to be written anyway, and goes out
 * as preferred; `protobuf` is for kinds that can be written whole.
 */
export function resourceMedia(
  accept: string | undefined,
  { protobuf = false, ...options }: { stream?: boolean; tables?: boolean; protobuf?: boolean } = {},
): Media {
  const cheap = tryNegotiate(accept, resourceOffer(options))
  const last = () => negotiate(accept, resourceOffer({ ...options, protobuf: protobuf ? 'all' : 'metadata' }))
  return mediaOf(cheap && !(options.stream && cheap.mediaType === YAML_TYPE) ? cheap : last(), options.stream)
}

/** People who look with a browser or curl get it readable, and so does who asks for it. */
export function readable(media: Media, query: URLSearchParams, { headers }: Exchange): Media {
  const pretty = query.get('pretty')
  const wanted = pretty ? trueWords.has(pretty) : /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '')
  return wanted ? { ...media, pretty: true } : media
}

/** What Go's ParseBool takes for yes; other parameters are read less strictly. */
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

/** For answers that have one shape only. */
export function plainMedia(accept: string | undefined): Media {
  return mediaOf(tryNegotiate(accept, plainOffer) ?? negotiate(accept, anyPlainOffer))
}

/** For errors: whatever was asked for. When that cannot be had, JSON as the real server writes it then: readable. */
export function errorMedia(accept: string | undefined): Media {
  const accepted = tryNegotiate(accept, plainOffer) ?? tryNegotiate(accept, anyPlainOffer)
  return accepted ? mediaOf(accepted) : { ...plainJson, pretty: true }
}

/** For answers that are JSON and nothing else. Refuses in the words of the part of the real server that has them. */
export function requireJson(accept: string | undefined): void {
  if (tryNegotiate(accept, { writes: [JSON_TYPE], transforms: () => true })) return
  throw notRepresentable([JSON_TYPE])
}

/** As requireJson, for a document of a type of its own. */
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
