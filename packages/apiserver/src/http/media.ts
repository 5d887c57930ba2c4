import { type Accepted, negotiate, plainOffer, resourceOffer, YAML_TYPE } from '../wire/negotiate.js'

/** How an answer is written. */
export interface Media {
  readonly format: 'json' | 'yaml'
  readonly contentType: string
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** meta.k8s.io/v1, or v1beta1 for those who still ask for it. */
  readonly asVersion: string
}

export const plainJson: Media = { format: 'json', contentType: 'application/json', as: undefined, asVersion: 'v1' }

/** For objects, lists and watches. */
export function resourceMedia(accept: string | undefined, stream = false): Media {
  return mediaOf(negotiate(accept, resourceOffer(stream)))
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

function mediaOf({ mediaType, as }: Accepted): Media {
  if (!as && mediaType === 'application/json') return plainJson
  return {
    format: mediaType === YAML_TYPE ? 'yaml' : 'json',
    contentType: mediaType,
    as: as?.kind as Media['as'],
    asVersion: as?.version ?? 'v1',
  }
}
