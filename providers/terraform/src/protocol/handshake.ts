/** Providers refuse to serve without this value, so that a user who starts one by hand gets an explanation. */
const MAGIC_COOKIE = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2'

/** The environment that makes a provider binary serve as a plugin. `certificate` is ours, in PEM: it asks for AutoMTLS. */
export function handshakeEnvironment(certificate: string): Readonly<Record<string, string>> {
  return {
    TF_PLUGIN_MAGIC_COOKIE: MAGIC_COOKIE,
    PLUGIN_PROTOCOL_VERSIONS: '5,6',
    PLUGIN_MIN_PORT: '10000',
    PLUGIN_MAX_PORT: '25000',
    PLUGIN_CLIENT_CERT: certificate,
  }
}

/** Where a provider serves, as it prints it in its first line. */
export interface Handshake {
  readonly protocol: 5 | 6
  /** For gRPC: `unix:/path` or `host:port`. */
  readonly address: string
  /** PEM. Absent for providers too old for AutoMTLS. */
  readonly serverCertificate: string | undefined
}

/** Reads `1|6|unix|/tmp/plugin123|grpc|MIIB…`. Throws when it cannot be served by us. */
export function parseHandshake(line: string): Handshake {
  const [core, protocol, network, address, kind, certificate] = line.trim().split('|')
  if (core !== '1') throw new Error(`the first line of the provider is not a plugin handshake: ${excerpt(line)}`)
  if (protocol !== '5' && protocol !== '6') {
    throw new Error(`the provider speaks plugin protocol ${protocol ?? ''}; versions 5 and 6 are supported`)
  }
  if (kind !== 'grpc') throw new Error(`the provider speaks ${kind ?? 'an unknown protocol'} instead of gRPC`)
  if (!address || (network !== 'unix' && network !== 'tcp')) {
    throw new Error(`the provider serves on the unknown network ${network ?? ''}`)
  }
  return {
    protocol: Number(protocol) as 5 | 6,
    address: network === 'unix' ? `unix:${address}` : address,
    serverCertificate: certificate ? pem(certificate) : undefined,
  }
}

const excerpt = (line: string): string => JSON.stringify(line.length > 200 ? `${line.slice(0, 200)}…` : line)

function pem(base64: string): string {
  const lines =
    Buffer.from(base64, 'base64')
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
