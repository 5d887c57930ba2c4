import { ConfigError } from '../config.js'
import { send, type Token, tokenIn } from './token.js'

const PROBE_MS = 3_000

/** A token of the service account of the machine or pod, from its metadata server. */
export async function metadataToken(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Token> {
  const path = 'instance/service-accounts/default/token'
  const answer = await read(env, path, signal).catch((cause: unknown) => {
    throw new ConfigError(
      'no credentials of Google were found. Give the ProviderConfig credentials, set GOOGLE_APPLICATION_CREDENTIALS, run gcloud auth application-default login, or run on Google Cloud',
      { cause },
    )
  })
  const token = tokenIn(answer)
  if (token) return token
  throw new ConfigError('the metadata server of this machine gives no token: attach a service account to the machine')
}

export async function metadataProject(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string | undefined> {
  const url = metadataUrl(env, 'project/project-id')
  try {
    const response = await fetch(url, request(signal))
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}

const read = (env: NodeJS.ProcessEnv, path: string, signal: AbortSignal) =>
  send(metadataUrl(env, path), 'this machine', request(signal))

const metadataUrl = (env: NodeJS.ProcessEnv, path: string) =>
  `http://${env['GCE_METADATA_HOST'] ?? 'metadata.google.internal'}/computeMetadata/v1/${path}`

const request = (signal: AbortSignal): RequestInit => ({
  headers: { 'Metadata-Flavor': 'Google' },
  signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]),
})
