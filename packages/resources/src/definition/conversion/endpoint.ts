/** The endpoint at which an API server requests conversions between the versions of a kind. */
export type ConversionEndpoint = (
  | { readonly url: string }
  /** A service in the cluster of the API server. */
  | { readonly service: ConversionService }
) & {
  /** The CA certificate of the endpoint, in PEM. If absent, another component must add it to the CRD later. */
  readonly ca?: string
}

/** A Kubernetes service that serves conversions. */
export interface ConversionService {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** The URL path of conversion requests. */
export const CONVERSION_PATH = '/convert'
