import { createSign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, messageOf } from '@crosstie/kube'
import type { ProviderConfiguration } from '@crosstie/resources/provider'
import { ConfigError, credentialsSourceOf, specOf } from '../config.js'
import { exchangeSubjectToken } from './federation.js'
import { metadataProject, metadataToken } from './metadata.js'
import { requestToken, type Token, textOf } from './token.js'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

/** Credentials as the JSON files of Google have them; `type` says which of the forms it is. */
export type CredentialFile = Readonly<Record<string, unknown>>

export type TokenSource = (signal: AbortSignal) => Promise<Token | undefined>

export interface Credentials {
  readonly token: TokenSource
  /** The project that the credentials belong to, if they name one. */
  readonly project: (signal: AbortSignal) => Promise<string | undefined>
  readonly quotaProject?: string | undefined
}

const JWT_SECONDS = 3600
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const DEFAULT_TOKEN_URL = 'https://oauth2.googleapis.com/token'
const DEFAULT_LIFETIME_SECONDS = 3600

/** The credentials that a ProviderConfig names, and the service account that it acts as. */
export async function credentialsOf(
  config: ProviderConfiguration | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Credentials> {
  const source = credentialsSourceOf(config)
  if (source === 'None') return { token: async () => undefined, project: async () => undefined }
  const base =
    config?.credentials === undefined
      ? await applicationDefault(env)
      : fromFile(parsedFile(config.credentials, `the credentials of ProviderConfig ${config.name}`))
  const { impersonateServiceAccount: target, endpoint } = specOf(config)
  if (!target) return base
  const { email, delegates = [], lifetimeSeconds = DEFAULT_LIFETIME_SECONDS } = target
  const url = impersonationUrl(email, endpoint?.url)
  return { ...base, token: impersonated(base.token, url, delegates, lifetimeSeconds) }
}

/**
 * Application default credentials: the file of GOOGLE_APPLICATION_CREDENTIALS, the file that `gcloud auth application-default
 * login` wrote, or the metadata server of the machine.
 */
async function applicationDefault(env: NodeJS.ProcessEnv): Promise<Credentials> {
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']
  if (named) return fromFile(await fileAt(named, 'GOOGLE_APPLICATION_CREDENTIALS'))
  const known = join(
    env['CLOUDSDK_CONFIG'] ?? join(homedir(), '.config', 'gcloud'),
    'application_default_credentials.json',
  )
  const text = await readFile(known, 'utf8').catch(() => undefined)
  if (text !== undefined) return fromFile(parsedFile(text, known))
  return {
    token: (signal) => metadataToken(env, signal),
    project: (signal) => metadataProject(env, signal),
    quotaProject: env['GOOGLE_CLOUD_QUOTA_PROJECT'],
  }
}

async function fileAt(path: string, named: string): Promise<CredentialFile> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new ConfigError(`cannot read the file that ${named} names: ${messageOf(error)}. Correct the path`)
  })
  return parsedFile(text, path)
}

function parsedFile(text: string, at: string): CredentialFile {
  try {
    const file: unknown = JSON.parse(text)
    if (isObject(file)) return file
  } catch {
    // The message below must not quote the text: it holds a secret.
  }
  throw new ConfigError(`${at} are not a JSON object. Use a service account key or another credentials file of Google`)
}

/** The credentials of a file, by its `type`. */
export function fromFile(file: CredentialFile): Credentials {
  const project = async () => textOf(file, 'project_id') ?? textOf(file, 'quota_project_id')
  return { token: tokenSource(file), project, quotaProject: textOf(file, 'quota_project_id') }
}

function tokenSource(file: CredentialFile): TokenSource {
  switch (file['type']) {
    case 'service_account':
      return serviceAccountKey(file)
    case 'authorized_user':
      return authorizedUser(file)
    case 'external_account':
      return workloadIdentity(file)
    case 'impersonated_service_account':
      return impersonatedFile(file)
    default:
      throw new ConfigError(
        `credentials of type ${JSON.stringify(file['type'] ?? null)} are not supported. Use service_account, authorized_user, external_account or impersonated_service_account`,
      )
  }
}

function required(file: CredentialFile, field: string): string {
  const value = textOf(file, field)
  if (value) return value
  throw new ConfigError(`the ${String(file['type'])} credentials have no ${field}. Write the complete file of Google`)
}

/** A key of a service account signs a statement, which is exchanged for a token. */
function serviceAccountKey(file: CredentialFile): TokenSource {
  const email = required(file, 'client_email')
  const key = required(file, 'private_key')
  const audience = textOf(file, 'token_uri') ?? DEFAULT_TOKEN_URL
  return async (signal) => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: email, scope: SCOPE, aud: audience, iat: now, exp: now + JWT_SECONDS }
    const assertion = signed({ alg: 'RS256', typ: 'JWT', kid: textOf(file, 'private_key_id') }, claims, key)
    return await requestToken(audience, { grant_type: JWT_GRANT, assertion }, `service account ${email}`, signal)
  }
}

function signed(header: object, claims: object, key: string): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
}

function authorizedUser(file: CredentialFile): TokenSource {
  const form = {
    grant_type: 'refresh_token',
    client_id: required(file, 'client_id'),
    client_secret: required(file, 'client_secret'),
    refresh_token: required(file, 'refresh_token'),
  }
  const url = textOf(file, 'token_uri') ?? DEFAULT_TOKEN_URL
  return (signal) => requestToken(url, form, 'the user of gcloud', signal)
}

/** A token of another identity provider is exchanged for one of Google, and that for one of a service account. */
function workloadIdentity(file: CredentialFile): TokenSource {
  const federated: TokenSource = (signal) => exchangeSubjectToken(file, SCOPE, signal)
  const url = textOf(file, 'service_account_impersonation_url')
  if (url === undefined) return federated
  const options = file['service_account_impersonation']
  const seconds = isObject(options) ? Number(options['token_lifetime_seconds']) : Number.NaN
  return impersonated(federated, url, [], seconds > 0 ? seconds : DEFAULT_LIFETIME_SECONDS)
}

function impersonatedFile(file: CredentialFile): TokenSource {
  const source = file['source_credentials']
  if (!isObject(source)) {
    throw new ConfigError(
      'the impersonated_service_account credentials have no source_credentials. Write the complete file',
    )
  }
  const delegates = Array.isArray(file['delegates']) ? file['delegates'].map(String) : []
  const url = required(file, 'service_account_impersonation_url')
  return impersonated(tokenSource(source), url, delegates, DEFAULT_LIFETIME_SECONDS)
}

function impersonationUrl(email: string, endpoint: string | undefined): string {
  const base = endpoint?.replace(/\/$/, '') ?? 'https:/'
  return `${base}/iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`
}

/** Tokens of a service account, requested with tokens of the base. */
function impersonated(base: TokenSource, url: string, delegates: readonly string[], seconds: number): TokenSource {
  const resource = (email: string) => (email.startsWith('projects/') ? email : `projects/-/serviceAccounts/${email}`)
  const body = {
    scope: [SCOPE],
    lifetime: `${seconds}s`,
    ...(delegates.length > 0 ? { delegates: delegates.map(resource) } : {}),
  }
  return async (signal) => {
    const own = await base(signal)
    return await requestToken(url, body, 'the service account to act as', signal, own?.value)
  }
}
