import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import {
  apiVersionOf,
  type Client,
  ignoring,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  messageOf,
} from '@crosstie/kube'
import type { ProviderHost, StartedProvider } from '@crosstie/resources/provider'
import { clientFor } from './clients.js'
import { GLOBAL_REGION, providerConfig } from './config.js'

/** Environment variables that indicate credentials for AWS. */
const signs = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
] as const

const IDENTIFY_MS = 10_000
const NAME = 'default'

/** Creates the ProviderConfig `default` if the environment contains credentials. An existing one stays unchanged. */
export async function start({ client, env, signal }: ProviderHost): Promise<StartedProvider> {
  const { type } = providerConfig
  const sign = signs.find((name) => env[name])
  const held = await existing(client, signal)
  if (held) return { ...done, summary: `by the ProviderConfig ${NAME} that was there` }
  if (!sign) {
    const next = `set AWS_PROFILE or AWS_ACCESS_KEY_ID and start again, or create a ProviderConfig of ${apiVersionOf(type)}`
    return { ...done, summary: `no credentials found: ${next}` }
  }
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION']
  const url = env['AWS_ENDPOINT_URL']
  const spec = {
    credentials: { source: 'InjectedIdentity' },
    ...(region ? { region } : {}),
    ...(url ? { endpoint: { url } } : {}),
  }
  const config: KubeObject = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: NAME }, spec }
  await client.create(type, config, { signal }).catch(ignoring(isAlreadyExists))
  const who = await identity(spec, signal)
  const where = `${region ?? GLOBAL_REGION}${url ? ` at ${url}` : ''}`
  return { ...done, summary: `${sign}: ${who}, region ${where} (ProviderConfig ${NAME})` }
}

const done = { async [Symbol.asyncDispose]() {} }

async function existing(client: Client, signal: AbortSignal): Promise<KubeObject | undefined> {
  return await client.get(providerConfig.type, { name: NAME }, { signal }).catch(ignoring(isNotFound))
}

/** Returns the identity of the credentials. A failure is not fatal: the objects report it. */
async function identity(spec: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
  const config = { name: NAME, revision: `start/${JSON.stringify(spec)}/`, spec: spec as never, credentials: undefined }
  try {
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(IDENTIFY_MS)])
    const told = await clientFor(STSClient, config).send(new GetCallerIdentityCommand({}), { abortSignal })
    return `${told.Arn} of account ${told.Account}`
  } catch (error) {
    return `nobody that AWS knows yet (${messageOf(error)})`
  }
}
