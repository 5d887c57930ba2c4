/** Where an API server finds the conversions of kinds that have several versions. */
export type ConversionEndpoint = (
  | { readonly url: string }
  /** In the same cluster as the API server. */
  | { readonly service: ConversionService }
) & {
  /** PEM: what the certificate of the endpoint is signed by. Absent: somebody writes it into the definition later. */
  readonly ca?: string
}

export interface ConversionService {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** The path of the reviews. */
export const CONVERSION_PATH = '/convert'
