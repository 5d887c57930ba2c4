import { apiVersionOf, ignoring, isAlreadyExists, isNotFound, messageOf, type ResourceType } from '@crosstie/kube'
import type { ProviderHost, StartedProvider } from '@crosstie/resources/provider'
import { providerConfig } from '../config.js'
import { findBinaries, NoServerError, serverAccount } from './binaries.js'
import { type Login, startPostgres } from './server.js'

const NAMESPACE = 'crossplane-system'
const SECRET = 'postgresql-embedded'
const CONFIG = 'default'
const FIELD_MANAGER = 'crosstie-sql'
/** The annotation of the ProviderConfig that this provider maintains. */
const EMBEDDED = 'sql.crosstie.io/embedded'

const core = (kind: string, resource: string, namespaced: boolean): ResourceType => ({
  group: '',
  version: 'v1',
  kind,
  resource,
  namespaced,
})

/**
 * Starts a PostgreSQL without installation. Its data is in the folder of the provider, and the ProviderConfig
 * `default` refers to it. If no server can be started, or the user has a ProviderConfig `default`, the kinds work
 * with the servers of other ProviderConfigs.
 */
export async function startEmbedded(host: ProviderHost): Promise<StartedProvider> {
  if (await hasOwnDefault(host)) return idle('PostgreSQL: ProviderConfig default is yours, no server was started')
  try {
    const account = serverAccount()
    const binaries = findBinaries(account)
    const server = await startPostgres({ binaries, dir: host.dataDir, account, signal: host.signal })
    try {
      await offer(host, server.login)
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    const { host: name, port } = server.login
    return {
      summary: `PostgreSQL on ${name}:${port} (ProviderConfig ${CONFIG})`,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error
    return idle(`PostgreSQL was not started: ${messageOf(error)}`)
  }
}

const idle = (summary: string): StartedProvider => ({ summary, [Symbol.asyncDispose]: async () => {} })

async function hasOwnDefault({ client, signal }: ProviderHost): Promise<boolean> {
  const found = await client.get(providerConfig.type, { name: CONFIG }, { signal }).catch(ignoring(isNotFound))
  return found !== undefined && found.metadata.labels?.[EMBEDDED] !== 'true'
}

/** Writes the Secret and the ProviderConfig of the server. */
async function offer({ client, signal }: ProviderHost, login: Login): Promise<void> {
  const namespaces = core('Namespace', 'namespaces', false)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await client.create(namespaces, namespace, { signal }).catch(ignoring(isAlreadyExists))
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  const details = { endpoint: login.host, port: String(login.port), username: login.user, password: login.password }
  const data = Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET, namespace: NAMESPACE }, data }
  await client.apply(core('Secret', 'secrets', true), secret, options)
  const { type } = providerConfig
  const config = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name: CONFIG, labels: { [EMBEDDED]: 'true' } },
    spec: {
      credentials: { source: 'Secret', secretRef: { name: SECRET, namespace: NAMESPACE } },
      sslMode: 'disable',
    },
  }
  await client.apply(type, config, options)
}
