/** Where a provider comes from: `registry.terraform.io/hashicorp/random`. */
export interface ProviderSource {
  readonly host: string
  readonly namespace: string
  /** The name of the provider, and the first word of its types. */
  readonly type: string
}

const HOST = 'registry.terraform.io'
const part = /^[0-9a-z](?:[0-9a-z_-]*[0-9a-z])?$/
const hostname = /^[0-9a-z](?:[0-9a-z.-]*[0-9a-z])?(?::\d+)?$/

/** Reads `type`, `namespace/type` or `host/namespace/type`, as Terraform does. Throws when it is neither. */
export function parseSource(text: string): ProviderSource {
  const parts = text.toLowerCase().split('/')
  const [type = '', namespace = 'hashicorp', host = HOST] = [...parts].reverse()
  // Names become folders, so they must not lead elsewhere.
  const valid = parts.length <= 3 && part.test(type) && part.test(namespace) && hostname.test(host)
  if (!valid || host.includes('..')) {
    throw new Error(`${JSON.stringify(text)} is not a provider source: write one such as hashicorp/random`)
  }
  return { host, namespace, type }
}

export const sourceText = ({ host, namespace, type }: ProviderSource): string => `${host}/${namespace}/${type}`
