import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { attempt } from '@crosstie/kube'

/** What a TLS connection is opened with. PEM texts. */
export interface TlsMaterial {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly passphrase?: string
  /** The name that the server's certificate must have, when it is not that of the URL. */
  readonly servername?: string
  /** False accepts any certificate: only where the user said so. */
  readonly rejectUnauthorized?: boolean
}

/** Where a Kubernetes API is, and who we are to it. */
export interface Access {
  /** `https://host:port`, perhaps with a path in front of the API's own. */
  readonly server: string
  /** The HTTP proxy to go through; absent: what the environment says. */
  readonly proxy?: string
  /** Where what names no namespace is meant to be, if the access says so. */
  readonly namespace?: string
  /** Asked for every new connection. */
  tls(): Promise<TlsMaterial>
  /** Asked for every request: those that say who we are. */
  headers(): Promise<Readonly<Record<string, string>>>
  /** The server does not know us any more: whatever was kept is to be had anew. */
  renew(): void
}

export interface StaticAccess extends TlsMaterial {
  readonly server: string
  readonly proxy?: string
  readonly token?: string
}

/** Access that never changes. */
export function staticAccess({ server, proxy, token, ...tls }: StaticAccess): Access {
  const headers: Readonly<Record<string, string>> = token ? { authorization: `Bearer ${token}` } : {}
  return { server, proxy, tls: async () => tls, headers: async () => headers, renew: () => {} }
}

/** The same access, acting as another user. */
export function impersonatingAccess(access: Access, user: string): Access {
  return {
    server: access.server,
    ...(access.proxy ? { proxy: access.proxy } : {}),
    ...(access.namespace ? { namespace: access.namespace } : {}),
    tls: () => access.tls(),
    headers: async () => ({ ...(await access.headers()), 'impersonate-user': user }),
    renew: () => access.renew(),
  }
}

const ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Tokens of service accounts are replaced long before they expire; reading them once a minute is often enough. */
const TOKEN_FRESH_MS = 60_000

export interface InClusterOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly accountDir?: string
  readonly now?: () => number
}

/** Are we in a pod that has a service account? */
export function isInCluster(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return Boolean(environment['KUBERNETES_SERVICE_HOST'] && environment['KUBERNETES_SERVICE_PORT'])
}

/** The access of a pod's service account. The files are read again from time to time, since they are replaced. */
export function inClusterAccess(options: InClusterOptions = {}): Access {
  const { environment = process.env, accountDir = ACCOUNT_DIR, now = Date.now } = options
  const host = environment['KUBERNETES_SERVICE_HOST']
  const port = environment['KUBERNETES_SERVICE_PORT']
  if (!host || !port) throw new Error('KUBERNETES_SERVICE_HOST and _PORT are not set: this is no pod of Kubernetes')
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  let kept: { headers: Readonly<Record<string, string>>; at: number } | undefined
  return {
    server,
    tls: () => attempt('read the cluster CA', async () => ({ ca: await readFile(`${accountDir}/ca.crt`, 'utf8') })),
    async headers() {
      if (!kept || now() - kept.at > TOKEN_FRESH_MS) {
        const token = await attempt('read the token of the service account', () =>
          readFile(`${accountDir}/token`, 'utf8'),
        )
        kept = { headers: { authorization: `Bearer ${token.trim()}` }, at: now() }
      }
      return kept.headers
    },
    renew() {
      kept = undefined
    },
  }
}
