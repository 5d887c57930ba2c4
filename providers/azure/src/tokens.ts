import { execFile } from 'node:child_process'
import { createHash, createPrivateKey, createSign, randomUUID, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { messageOf } from '@crosstie/kube'
import { type AzureSettings, ConfigError } from './config.js'
import { valuesOf } from './values.js'

export interface Token {
  readonly value: string
  readonly expiresAt: number
}

export type TokenSource = (audience: string, signal: AbortSignal) => Promise<Token>

const BEFORE_EXPIRY_MS = 5 * 60_000
const ASSERTION_SECONDS = 300
const IMDS = 'http://169.254.169.254/metadata/identity/oauth2/token'
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Tokens by audience, kept until shortly before they expire. */
export class Tokens {
  readonly #source: TokenSource
  readonly #held = new Map<string, Promise<Token>>()

  constructor(source: TokenSource) {
    this.#source = source
  }

  async of(audience: string, signal: AbortSignal): Promise<string> {
    const held = this.#held.get(audience)
    const token = await held?.catch(() => undefined)
    if (token && token.expiresAt - BEFORE_EXPIRY_MS > Date.now()) return token.value
    const current = this.#held.get(audience)
    // Another request may have renewed the token meanwhile.
    if (current && current !== held) return (await current).value
    const asked = this.#source(audience, signal)
    this.#held.set(audience, asked)
    asked.catch(() => this.#held.delete(audience))
    return (await asked).value
  }
}

/** The way to a token that the settings choose. Throws a ConfigError when they choose none. */
export function tokenSource(settings: AzureSettings, env: NodeJS.ProcessEnv = process.env): TokenSource {
  switch (settings.identity ?? inferred(settings, env)) {
    case 'ServicePrincipal':
      return servicePrincipal(settings)
    case 'WorkloadIdentity':
      return workloadIdentity(settings)
    case 'ManagedIdentity':
      return managedIdentity(settings, env)
    default:
      return azureCli(settings)
  }
}

function inferred(settings: AzureSettings, env: NodeJS.ProcessEnv): AzureSettings['identity'] {
  if (settings.clientSecret !== undefined || settings.certificate !== undefined) return 'ServicePrincipal'
  if (settings.tokenFile !== undefined) return 'WorkloadIdentity'
  const inCloud = env['IDENTITY_ENDPOINT'] ?? env['MSI_ENDPOINT'] ?? env['KUBERNETES_SERVICE_HOST']
  return inCloud === undefined ? 'AzureCLI' : 'ManagedIdentity'
}

function servicePrincipal(settings: AzureSettings): TokenSource {
  const { clientSecret, certificate } = settings
  if (certificate !== undefined) {
    return async (audience, signal) =>
      await requested(settings, audience, signal, assertedBy(signed(settings, certificate)))
  }
  if (clientSecret !== undefined) {
    return async (audience, signal) => await requested(settings, audience, signal, { client_secret: clientSecret })
  }
  throw new ConfigError(
    `ProviderConfig ${settings.config} has no clientSecret and no clientCertificate in its credentials: add one, or choose another spec.identity`,
  )
}

function workloadIdentity(settings: AzureSettings): TokenSource {
  const { tokenFile } = settings
  if (tokenFile === undefined) {
    throw new ConfigError(
      `ProviderConfig ${settings.config} uses workload identity without a token: set spec.tokenFile or AZURE_FEDERATED_TOKEN_FILE`,
    )
  }
  // Kubernetes replaces the file before the token expires: it is read for each request.
  return async (audience, signal) =>
    await requested(settings, audience, signal, assertedBy((await readFile(tokenFile, 'utf8')).trim()))
}

const assertedBy = (assertion: string) => ({ client_assertion_type: JWT_BEARER, client_assertion: assertion })

async function requested(
  settings: AzureSettings,
  audience: string,
  signal: AbortSignal,
  proof: Readonly<Record<string, string>>,
): Promise<Token> {
  const { tenant, clientId, authority } = settings
  if (tenant === undefined || clientId === undefined) {
    const missing = tenant === undefined ? 'tenantID' : 'clientID'
    throw new ConfigError(
      `ProviderConfig ${settings.config} does not name a ${missing}: set spec.${missing}, or add it to the credentials`,
    )
  }
  const form = { grant_type: 'client_credentials', client_id: clientId, scope: `${audience}/.default`, ...proof }
  const url = `${authority}/${tenant}/oauth2/v2.0/token`
  return await answered(await fetch(url, { method: 'POST', body: new URLSearchParams(form), signal }), settings)
}

/** The identity of the machine, or of the App Service or Container App. */
function managedIdentity(settings: AzureSettings, env: NodeJS.ProcessEnv): TokenSource {
  const { clientId } = settings
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret } = env
  const chosen: Readonly<Record<string, string>> = clientId ? { client_id: clientId } : {}
  return async (resource, signal) => {
    const version = endpoint ? '2019-08-01' : '2018-02-01'
    const query = new URLSearchParams({ 'api-version': version, resource, ...chosen })
    const headers: Record<string, string> = endpoint ? { 'X-IDENTITY-HEADER': secret ?? '' } : { Metadata: 'true' }
    return await answered(await fetch(`${endpoint ?? IMDS}?${query}`, { headers, signal }), settings)
  }
}

const run = promisify(execFile)

/** The login of the Azure CLI, for people at their own machine. */
function azureCli(settings: AzureSettings): TokenSource {
  return async (audience, signal) => {
    const tenant = settings.tenant ? ['--tenant', settings.tenant] : []
    const args = ['account', 'get-access-token', '--output', 'json', '--resource', audience, ...tenant]
    try {
      const { stdout } = await run('az', args, { signal })
      const { accessToken, expires_on: seconds } = JSON.parse(stdout)
      return { value: String(accessToken), expiresAt: Number(seconds) * 1000 }
    } catch (error) {
      if (signal.aborted) throw error
      throw new ConfigError(
        `ProviderConfig ${settings.config}: no credentials were found, and the Azure CLI gave no token (${firstLine(error)}). Run az login, or give the ProviderConfig credentials`,
      )
    }
  }
}

const firstLine = (error: unknown): string => messageOf(error).split('\n')[0] ?? ''

async function answered(response: Response, settings: AzureSettings): Promise<Token> {
  const body = valuesOf(await response.json().catch(() => ({})))
  const { access_token: value, expires_in: seconds, error, error_description: description } = body
  if (response.ok && typeof value === 'string') return { value, expiresAt: Date.now() + Number(seconds ?? 0) * 1000 }
  const reason = String(description ?? error ?? response.status).split(/\r?\n/)[0]
  throw new ConfigError(
    `ProviderConfig ${settings.config}: Microsoft Entra ID refuses the credentials: ${reason}. Check clientID, tenantID and the secret, certificate or federated credential`,
  )
}

/** A client assertion that the private key of the certificate signs. */
function signed({ clientId = '', tenant, authority }: AzureSettings, pem: string): string {
  const certificate = new X509Certificate(pem)
  const thumbprint = createHash('sha256').update(certificate.raw).digest('base64url')
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    aud: `${authority}/${tenant}/oauth2/v2.0/token`,
    iss: clientId,
    sub: clientId,
    jti: randomUUID(),
    nbf: now,
    exp: now + ASSERTION_SECONDS,
  }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', typ: 'JWT', 'x5t#S256': thumbprint })}.${part(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(createPrivateKey(pem), 'base64url')}`
}
