import { type GroupVersionKind, StatusError } from '@crosstie/kube'

/** JSON. */
export const JSON_TYPE = 'application/json'
/** YAML. */
export const YAML_TYPE = 'application/yaml'
/** Protobuf. */
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'
/** The content types of bodies, in the order of error messages. */
export const mediaTypes = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE] as const
/** A content type of bodies. */
export type MediaType = (typeof mediaTypes)[number]

/** The negotiated form of a response. */
export interface Accepted {
  readonly mediaType: MediaType
  /** `;as=Table;v=v1;g=meta.k8s.io`: another kind in place of the object. */
  readonly as?: GroupVersionKind
  readonly pretty: boolean
}

/** The forms that an endpoint offers. */
export interface Offer {
  /** The content types that can be written. Others are not acceptable. */
  readonly writes: readonly MediaType[]
  /** Whether the response can have this kind. Undefined stands for the plain response. */
  transforms(as: GroupVersionKind | undefined, mediaType: MediaType): boolean
  /** A watch. YAML has no stream, and the error lists stream types. */
  readonly stream?: boolean
}

const isTable = ({ kind }: GroupVersionKind): boolean => kind === 'Table'
const isPartial = ({ kind }: GroupVersionKind): boolean =>
  kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList'
const isMeta = ({ group, version }: GroupVersionKind): boolean =>
  group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1')

/** Returns the offer of objects, lists and watches: plain, as metadata, or as a Table unless the kind has none. */
export function resourceOffer({
  stream = false,
  tables = true,
  protobuf = 'metadata',
}: {
  stream?: boolean
  tables?: boolean
  protobuf?: 'metadata' | 'all'
} = {}): Offer {
  return {
    writes: mediaTypes,
    stream,
    transforms(as, mediaType) {
      if (as === undefined) return mediaType !== PROTOBUF_TYPE || protobuf === 'all'
      return isMeta(as) && ((tables && isTable(as) && mediaType !== PROTOBUF_TYPE) || isPartial(as))
    },
  }
}

/** The offer of endpoints whose response has one form only, such as `/version` or unaggregated discovery. */
export const plainOffer: Offer = { writes: [JSON_TYPE, YAML_TYPE], transforms: (as) => as === undefined }

/** The offer of `/api` and `/apis` for clients that support aggregated discovery. */
export const aggregatedDiscoveryOffer: Offer = {
  writes: [JSON_TYPE],
  transforms: (as) => as?.group === 'apidiscovery.k8s.io' && as.version === 'v2' && as.kind === 'APIGroupDiscoveryList',
}

/** Returns the best form that the endpoint offers and the Accept header allows. Undefined without a match. */
export function tryNegotiate(accept: string | undefined, offer: Offer): Accepted | undefined {
  if (accept === undefined || accept === '') {
    return offer.transforms(undefined, JSON_TYPE) ? { mediaType: JSON_TYPE, pretty: false } : undefined
  }
  // Almost every client that wants plain JSON sends this.
  if (accept === JSON_TYPE && offer.transforms(undefined, JSON_TYPE)) return { mediaType: JSON_TYPE, pretty: false }
  for (const clause of parseAccept(accept)) {
    for (const mediaType of mediaTypes) {
      if (!matches(clause, mediaType) || !offer.writes.includes(mediaType)) continue
      const accepted = accepts(clause, mediaType, offer)
      if (accepted) return accepted
    }
  }
  return undefined
}

/** As tryNegotiate, but throws 406. */
export function negotiate(accept: string | undefined, offer: Offer): Accepted {
  const accepted = tryNegotiate(accept, offer)
  if (accepted && !(offer.stream && accepted.mediaType === YAML_TYPE)) return accepted
  const list = offer.stream ? streamTypes : mediaTypes
  throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${list.join(', ')}`)
}

/** The content types of streams. */
export const streamTypes = [`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`]

/**
 * Returns the content type of a body. Without a Content-Type header it is JSON. Throws 415 with the supported
 * types.
 */
export function bodyType<T extends string = MediaType>(
  contentType: string | undefined,
  supported: readonly T[] = mediaTypes as unknown as readonly T[],
): T {
  if (contentType === undefined || contentType === '') return supported[0]!
  const bare = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if ((supported as readonly string[]).includes(bare)) return bare as T
  throw unsupportedMediaType(supported)
}

/** Returns a 415 with the supported types. */
export function unsupportedMediaType(supported: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}

interface Clause {
  readonly type: string
  readonly subtype: string
  readonly q: number
  readonly parameters: readonly (readonly [string, string])[]
}

function parseAccept(header: string): readonly Clause[] {
  const clauses = header.split(',').flatMap(parseClause)
  return clauses.sort((a, b) => b.q - a.q || wild(a.type) - wild(b.type) || wild(a.subtype) - wild(b.subtype))
}

const wild = (word: string): number => (word === '*' ? 1 : 0)

function parseClause(text: string): Clause[] {
  const [name, ...rest] = text.split(';')
  const [type, subtype, ...extra] = name!
    .trim()
    .split('/')
    .map((part) => part.trim())
  if (extra.length > 0 || (subtype === undefined && type !== '*')) return []
  let q = 1
  const parameters: [string, string][] = []
  for (const parameter of rest) {
    const [key, value, ...more] = parameter.split('=').map((part) => part.trim())
    if (value === undefined || value === '' || more.length > 0) continue
    if (key === 'q') q = Number.parseFloat(value) || 0
    else parameters.push([key!, value])
  }
  return [{ type: type!, subtype: subtype ?? '*', q, parameters }]
}

function matches({ type, subtype }: Clause, mediaType: MediaType): boolean {
  if (type === '*') return subtype === '*'
  const [ownType, ownSubtype] = mediaType.split('/')
  return type === ownType && (subtype === '*' || subtype === ownSubtype)
}

function accepts({ parameters }: Clause, mediaType: MediaType, offer: Offer): Accepted | undefined {
  let as: { group: string; version: string; kind: string } | undefined
  let pretty = false
  for (const [key, value] of parameters) {
    if (key === 'as' || key === 'g' || key === 'v') {
      as ??= { group: '', version: '', kind: '' }
      if (key === 'as') as.kind = value
      else if (key === 'g') as.group = value
      else as.version = value
    } else if (key === 'stream') {
      if (value !== 'watch' || mediaType === YAML_TYPE) return undefined
    } else if (key === 'sv') {
      if (value !== 'v1') return undefined
    } else if (key === 'pretty') pretty = value === '1'
  }
  if (!offer.transforms(as, mediaType)) return undefined
  return { mediaType, pretty, ...(as ? { as } : {}) }
}

/**
 * The error of the typed part of kube-apiserver for a response type that it does not have. Returns `error` when it is about
 * something else.
 */
export function representationError(error: unknown, accept: string | undefined, { streams = false } = {}): unknown {
  if (!(error instanceof StatusError) || error.code !== 406) return error
  if (tryNegotiate(accept, { writes: mediaTypes, transforms: () => true })) return error
  return notRepresentable(streams ? [...mediaTypes, ...streamTypes] : mediaTypes)
}

/** 406 with the list of content types that a URL has. */
export function notRepresentable(offered: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`
  return new StatusError(406, 'NotAcceptable', message, { details: {} })
}
