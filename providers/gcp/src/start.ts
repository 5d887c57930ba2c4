import { apiVersionOf, ignoring, isAlreadyExists, isNotFound, type KubeObject } from '@crosstie/kube'
import type { ProviderHost, StartedProvider } from '@crosstie/resources/provider'
import { providerConfig } from './config.js'

const NAME = 'default'
/** Base URL of an emulator. */
const ENDPOINT_VARIABLE = 'CROSSTIE_GCP_ENDPOINT'
const done = { async [Symbol.asyncDispose]() {} }

/** Creates the ProviderConfig `default` when the environment names credentials, and leaves an existing one alone. */
export async function start({ client, env, signal }: ProviderHost): Promise<StartedProvider> {
  const { type } = providerConfig
  const held = await client.get(type, { name: NAME }, { signal }).catch(ignoring(isNotFound))
  if (held) return { ...done, summary: `uses the existing ProviderConfig ${NAME}` }
  const endpoint = env[ENDPOINT_VARIABLE]
  const project = env['GOOGLE_CLOUD_PROJECT'] ?? env['CLOUDSDK_CORE_PROJECT']
  const file = env['GOOGLE_APPLICATION_CREDENTIALS']
  if (!file && !project) {
    const next = `set GOOGLE_CLOUD_PROJECT and GOOGLE_APPLICATION_CREDENTIALS and start again, or create a ProviderConfig of ${apiVersionOf(type)}`
    return { ...done, summary: `no credentials found: ${next}` }
  }
  const spec = {
    credentials: { source: endpoint ? 'None' : 'InjectedIdentity' },
    ...(project ? { projectID: project } : {}),
    ...(endpoint ? { endpoint: { url: endpoint } } : {}),
  }
  const config: KubeObject = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: NAME }, spec }
  await client.create(type, config, { signal }).catch(ignoring(isAlreadyExists))
  if (endpoint) return { ...done, summary: `project ${project} at ${endpoint} (ProviderConfig ${NAME})` }
  return {
    ...done,
    summary: `application default credentials, project ${project ?? 'of the credentials'} (ProviderConfig ${NAME})`,
  }
}
