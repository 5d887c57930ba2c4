import { setMaxListeners } from 'node:events'
import { isObject } from '@crosstie/kube'
import type { ConnectContext, ProviderConfiguration } from '@crosstie/resources/provider'
import { ConfigError, specOf } from '../config.js'
import type { Api } from '../discovery/api.js'
import { GoogleClient, type Transport } from './client.js'
import { type Credentials, credentialsOf } from './credentials.js'
import { remembered } from './token.js'

interface Kept {
  readonly revision: string
  readonly credentials: Promise<Credentials>
  readonly transport: Promise<Transport>
}

const kept = new Map<string, Kept>()

/** For `connect` of a kind: a client of the API in the project of the object. */
export function connectTo(api: Api): (context: ConnectContext) => Promise<GoogleClient> {
  return async ({ managed, config, trackChanges, signal }) => {
    // One reconciliation sends many requests, and each of them listens to its signal.
    setMaxListeners(0, signal)
    const { credentials, transport } = keptFor(config)
    const project = await projectOf(managed['spec'], config, await credentials, signal)
    return new GoogleClient(api, project, await transport, trackChanges())
  }
}

/** Credentials and tokens are kept as long as the ProviderConfig and its credentials do not change. */
function keptFor(config: ProviderConfiguration | undefined): Kept {
  const uid = config?.revision.split('/')[0] ?? ''
  const revision = `${config?.revision} ${JSON.stringify(config?.spec)}`
  const held = kept.get(uid)
  if (held?.revision === revision) return held
  const credentials = credentialsOf(config)
  const fresh = { revision, credentials, transport: credentials.then((found) => transportOf(config, found)) }
  for (const promise of [fresh.credentials, fresh.transport]) promise.catch(() => kept.delete(uid))
  kept.set(uid, fresh)
  return fresh
}

function transportOf(config: ProviderConfiguration | undefined, credentials: Credentials): Transport {
  const { endpoint, quotaProjectID } = specOf(config)
  return {
    token: remembered(credentials.token),
    endpoint: endpoint?.url,
    quotaProject: quotaProjectID ?? credentials.quotaProject,
  }
}

async function projectOf(
  spec: unknown,
  config: ProviderConfiguration | undefined,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<string> {
  const forProvider = isObject(spec) ? spec['forProvider'] : undefined
  const own = isObject(forProvider) ? forProvider['project'] : undefined
  if (typeof own === 'string' && own !== '') return own
  const project = specOf(config).projectID ?? (await credentials.project(signal))
  if (project) return project
  throw new ConfigError(
    `no project is known: set spec.forProvider.project, or spec.projectID of ProviderConfig ${config?.name ?? 'default'}`,
  )
}
