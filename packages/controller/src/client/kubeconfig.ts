import { existsSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { attempt } from '@crosstie/kube'
import type { Cluster, User } from '@kubernetes/client-node'
import { type Access, inClusterAccess, isInCluster, type TlsMaterial } from './access.js'

/** Options of `kubeconfigAccess` and `findAccess`. */
export interface KubeconfigOptions {
  /** Defaults to $KUBECONFIG, then ~/.kube/config. */
  readonly file?: string
  /**
   * The content of a kubeconfig, instead of a file. Entries that run a program or read a file are refused, because
   * the author of the text may not be trusted with this machine.
   */
  readonly text?: string
  /** Defaults to the current context. */
  readonly context?: string
}

/** Exec plugins cache credentials until they expire; for this long the plugin is not asked at all. */
const FRESH_MS = 10_000

interface Credentials {
  readonly tls: TlsMaterial
  readonly headers: Readonly<Record<string, string>>
}

const noCluster = (context: string | undefined): string =>
  context ? `context '${context}' does not exist or has no cluster` : 'it has no current context'

/**
 * Returns the Access that a kubeconfig describes: certificates, tokens, token files, exec plugins and OIDC. The
 * official client interprets it; that library is large and loaded only here. Throws if the file or context does not
 * exist.
 */
export async function kubeconfigAccess(options: KubeconfigOptions = {}): Promise<Access> {
  const where = options.text === undefined ? ` ${options.file ?? process.env['KUBECONFIG'] ?? '~/.kube/config'}` : ''
  return await attempt(`use the kubeconfig${where}`, async () => {
    const { KubeConfig } = await import('./kubeconfig-reader.js')
    const config = new KubeConfig()
    if (options.text !== undefined) config.loadFromString(options.text)
    else if (options.file !== undefined) {
      if (!existsSync(options.file)) throw new Error('the file does not exist')
      config.loadFromFile(options.file)
    } else config.loadFromDefault()
    if (options.context !== undefined) config.setCurrentContext(options.context)
    const cluster = config.getCurrentCluster()
    if (!cluster) throw new Error(noCluster(config.getCurrentContext()))
    const user = config.getCurrentUser()
    if (options.text !== undefined) refuseLocalAccess(user ?? {}, cluster)
    const context = config.getContexts().find(({ name }) => name === config.getCurrentContext())
    let renewals = 0
    const read = async (): Promise<Credentials> => {
      // Credentials are never sent over an unencrypted connection.
      if (cluster.server.startsWith('http:')) return { tls: {}, headers: {} }
      const request: RequestOptions = {}
      await config.applyToHTTPSOptions(request)
      return credentialsOf(request, cluster)
    }
    const forget = () => {
      if (!user || !context) return
      // The library caches plugin credentials by user name, also after the server rejected them.
      const name = `${user.name} (${++renewals})`
      config.loadFromOptions({
        clusters: [cluster],
        users: [{ ...user, name }],
        contexts: [{ ...context, user: name }],
        currentContext: context.name,
      })
    }
    const server = cluster.server.replace(/\/+$/, '')
    const namespace = context?.namespace
    return {
      ...withCache(read, forget),
      server,
      proxy: cluster.proxyUrl || undefined,
      ...(namespace ? { namespace } : {}),
    }
  })
}

/** Neither a kubeconfig nor a service account was found. */
export class NoAccessError extends Error {
  override readonly name = 'NoAccessError'
}

/** Refuses entries by which the author of a kubeconfig could read files or run programs on this machine. */
function refuseLocalAccess(user: Partial<User>, cluster: Cluster): void {
  const found = [
    user.exec && 'runs a program (exec)',
    user.authProvider && 'has an auth-provider or a tokenFile',
    (user.certFile || user.keyFile) && 'names files for the client certificate',
    cluster.caFile && 'names a file for the certificate authority',
  ].filter(Boolean)
  if (found.length === 0) return
  throw new Error(
    `it ${found.join(' and ')}, which is not allowed here: use token, client-certificate-data, client-key-data and certificate-authority-data instead`,
  )
}

/**
 * Finds the API in this order: the kubeconfig named in the options, the pod's service account, the user's
 * kubeconfig. Throws a NoAccessError when none of them exists.
 */
export async function findAccess(options: KubeconfigOptions = {}): Promise<Access> {
  const named = options.file ?? process.env['KUBECONFIG']?.split(delimiter).find((path) => path && existsSync(path))
  if (named !== undefined || existsSync(join(homedir(), '.kube/config'))) return await kubeconfigAccess(options)
  if (isInCluster()) return inClusterAccess()
  throw new NoAccessError('no kubeconfig found: name one, set KUBECONFIG, or create ~/.kube/config')
}

function withCache(
  read: () => Promise<Credentials>,
  forget: () => void,
): Omit<Access, 'server' | 'proxy' | 'namespace'> {
  let cached: { credentials: Promise<Credentials>; at: number } | undefined
  const credentials = () => {
    if (cached && Date.now() - cached.at < FRESH_MS) return cached.credentials
    const fresh = { credentials: read(), at: Date.now() }
    cached = fresh
    fresh.credentials.catch(() => {
      if (cached === fresh) cached = undefined
    })
    return fresh.credentials
  }
  return {
    tls: async () => (await credentials()).tls,
    headers: async () => (await credentials()).headers,
    renew() {
      cached = undefined
      forget()
    },
  }
}

function credentialsOf(
  request: RequestOptions,
  cluster: { readonly skipTLSVerify: boolean; readonly tlsServerName?: string },
): Credentials {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = String(value)
  }
  if (request.auth) headers['authorization'] = `Basic ${Buffer.from(request.auth).toString('base64')}`
  const { ca, cert, key, passphrase } = request as TlsMaterial
  return {
    headers,
    tls: {
      ...(ca ? { ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      ...(passphrase ? { passphrase } : {}),
      ...(cluster.tlsServerName ? { servername: cluster.tlsServerName } : {}),
      ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    },
  }
}
