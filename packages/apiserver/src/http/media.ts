import { StatusError } from '@crosstie/kube'
import {
  type Accepted,
  mediaTypes,
  negotiate,
  plainOffer,
  resourceOffer,
  tryNegotiate,
  YAML_TYPE,
} from '../wire/negotiate.js'
import { truthy } from './route.js'

/** How an answer is written. */
export interface Media {
  readonly format: 'json' | 'yaml'
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

/** For objects, lists and watches. */
export function resourceMedia(accept: string | undefined, options: { stream?: boolean; tables?: boolean } = {}): Media {
  return mediaOf(negotiate(accept, resourceOffer(options)))
}

/** People who look with a browser or curl get it readable, and so does who asks for it. */
export function readable(media: Media, pretty: string | null, userAgent: string | undefined): Media {
  const wanted = pretty === null ? /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent ?? '') : truthy(pretty)
  return wanted ? { ...media, pretty: true } : media
}

/** Built-in kinds are refused by another part of the real server than custom ones, in other words. */
export function builtInRefusal(error: unknown, accept: string | undefined): unknown {
  if (!(error instanceof StatusError) || error.code !== 406) return error
  if (tryNegotiate(accept, { writes: mediaTypes, transforms: () => true })) return error
  const message = `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(', ')}`
  return new StatusError(406, 'NotAcceptable', message, { details: {} })
}

/** For answers that have one shape only. */
export function plainMedia(accept: string | undefined): Media {
  return mediaOf(negotiate(accept, plainOffer))
}

/** For errors: whatever was asked for, JSON when that cannot be had. */
export function errorMedia(accept: string | undefined): Media {
  try {
    return { ...resourceMedia(accept), as: undefined }
  } catch {
    return plainJson
  }
}

function mediaOf({ mediaType, as, pretty }: Accepted): Media {
  if (!as && !pretty && mediaType === 'application/json') return plainJson
  return {
    format: mediaType === YAML_TYPE ? 'yaml' : 'json',
    contentType: mediaType,
    as: as?.kind as Media['as'],
    asVersion: as?.version ?? 'v1',
    pretty,
  }
}
