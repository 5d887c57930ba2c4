import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { attempt } from '@crosstie/kube'

/** TLS settings for a connection. Certificates and keys are PEM. */
export interface TlsMaterial {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly passphrase?: string
  /** The name that the server's certificate must carry, if it differs from the host of the URL. */
  readonly servername?: string
  /** False accepts any certificate. Set only when the user asked for it. */
  readonly rejectUnauthorized?: boolean
}

/** The address of a Kubernetes API and the credentials for it. */
export interface Access {
  /** `https://host:port`, optionally with a path prefix. */
  readonly server: string
  /** The HTTP proxy to use. Defaults to the proxy that the environment names. */
  readonly proxy?: string | undefined
  /** The default namespace, if the kubeconfig or the pod defines one. */
  readonly namespace?: string
  /** Called for every new connection. */
  tls(): Promise<TlsMaterial>
  /** Returns the headers that authenticate a request. Called for every request. */
  headers(): Promise<Readonly<Record<string, string>>>
  /** Drops cached credentials. Called after the server rejected them with 401. */
  renew(): void
}

/** Options of `staticAccess`: an address and credentials that do not change. */
export interface StaticAccess extends TlsMaterial {
  readonly server: string
  readonly proxy?: string | undefined
  readonly token?: string
}

/** Returns an Access with fixed credentials. */
export function staticAccess({ server, proxy, token, ...tls }: StaticAccess): Access {
  const headers: Readonly<Record<string, string>> = token ? { authorization: `Bearer ${token}` } : {}
  return { server, proxy, tls: async () => tls, headers: async () => headers, renew: () => {} }
}

/** Returns an Access that impersonates another user with the credentials of `access`. */
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
/** The kubelet replaces service account tokens long before they expire, so a copy of one minute is fresh enough. */
const TOKEN_FRESH_MS = 60_000

/** Options of `inClusterAccess`. The defaults fit a pod; tests replace them. */
export interface InClusterOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly accountDir?: string
  readonly now?: () => number
}

/** Reports whether this process runs in a pod: whether the environment names the API server. */
export function isInCluster(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return Boolean(environment['KUBERNETES_SERVICE_HOST'] && environment['KUBERNETES_SERVICE_PORT'])
}

/**
 * Returns an Access with the pod's service account. Rereads the token file at most once a minute, because the
 * kubelet rotates it. Throws if the environment does not name an API server.
 */
export function inClusterAccess(options: InClusterOptions = {}): Access {
  const { environment = process.env, accountDir = ACCOUNT_DIR, now = Date.now } = options
  const host = environment['KUBERNETES_SERVICE_HOST']
  const port = environment['KUBERNETES_SERVICE_PORT']
  if (!host || !port)
    throw new Error(
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this process does not run in a Kubernetes pod',
    )
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  let cached: { headers: Readonly<Record<string, string>>; at: number } | undefined
  return {
    server,
    tls: () => attempt('read the cluster CA', async () => ({ ca: await readFile(`${accountDir}/ca.crt`, 'utf8') })),
    async headers() {
      if (!cached || now() - cached.at > TOKEN_FRESH_MS) {
        const token = await attempt('read the service account token', () => readFile(`${accountDir}/token`, 'utf8'))
        cached = { headers: { authorization: `Bearer ${token.trim()}` }, at: now() }
      }
      return cached.headers
    },
    renew() {
      cached = undefined
    },
  }
}
