import { defineProviderConfig, type Infer, type ProviderConfiguration, s } from '@crosstie/resources/provider'

const identityTypes = ['ServicePrincipal', 'WorkloadIdentity', 'ManagedIdentity', 'AzureCLI'] as const

const fields = s.object({
  subscriptionID: s.optional(
    s.string({
      doc: 'The subscription of the resources. When absent: that of the credentials, or AZURE_SUBSCRIPTION_ID.',
    }),
  ),
  tenantID: s.optional(
    s.string({ doc: 'The Microsoft Entra tenant. When absent: that of the credentials, or AZURE_TENANT_ID.' }),
  ),
  clientID: s.optional(
    s.string({
      doc: 'The application or the managed identity. When absent: that of the credentials, or AZURE_CLIENT_ID.',
    }),
  ),
  environment: s.optional(
    s.string({
      doc: 'The cloud. Public when absent.',
      enum: ['Public', 'USGovernment', 'China'],
    }),
  ),
  identity: s.optional(
    s.string({
      doc: 'How a token is obtained. When absent: ServicePrincipal for credentials that have a secret or a certificate; for InjectedIdentity the first of workload identity, environment, managed identity and Azure CLI that is there.',
      enum: identityTypes,
    }),
  ),
  tokenFile: s.optional(
    s.string({ doc: 'File with the token of workload identity. When absent: AZURE_FEDERATED_TOKEN_FILE names it.' }),
  ),
  endpoint: s.optional(
    s.object(
      {
        resourceManager: s.string({ doc: 'URL of Azure Resource Manager.' }),
        authority: s.string({ doc: 'URL of the token endpoint.' }),
        graph: s.string({ doc: 'URL of Microsoft Graph.' }),
      },
      { doc: 'Addresses that replace those of the cloud: a private cloud, or an emulator.' },
    ),
  ),
})

/** How Azure is reached: `ProviderConfig` of `azure.crossplane.io/v1beta1`. */
export const providerConfig = defineProviderConfig({ group: 'azure.crossplane.io', version: 'v1beta1', fields })

export type AzureConfigSpec = Infer<typeof fields>

/** A configuration that cannot be used. The message names the field and the next step. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The members of a ProviderConfig, of its credentials and of the environment, in this order. */
export interface AzureSettings {
  readonly config: string
  readonly subscription: string | undefined
  readonly tenant: string | undefined
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  /** A certificate and its private key, as PEM. */
  readonly certificate: string | undefined
  readonly identity: (typeof identityTypes)[number] | undefined
  readonly tokenFile: string | undefined
  readonly resourceManager: string
  readonly authority: string
  readonly graph: string
}

const clouds = {
  Public: ['https://management.azure.com', 'https://login.microsoftonline.com', 'https://graph.microsoft.com'],
  USGovernment: [
    'https://management.usgovcloudapi.net',
    'https://login.microsoftonline.us',
    'https://graph.microsoft.us',
  ],
  China: [
    'https://management.chinacloudapi.cn',
    'https://login.chinacloudapi.cn',
    'https://microsoftgraph.chinacloudapi.cn',
  ],
} as const

type Environment = Readonly<Record<string, string | undefined>>

/** Throws a ConfigError when the credentials cannot be read. */
export function settingsOf(config: ProviderConfiguration | undefined, env: Environment = process.env): AzureSettings {
  const spec = textsOf(config?.spec)
  const endpoint = textsOf(config?.spec['endpoint'])
  const given = credentialsOf(config)
  const injected = config?.credentials === undefined
  const [resourceManager, authority, graph] = clouds[cloudOf(spec['environment'])]
  const from = (field: string, key: string, variable: string) =>
    spec[field] ?? given[key] ?? (injected ? env[variable] : undefined)
  return {
    config: config?.name ?? '',
    subscription:
      from('subscriptionID', 'subscriptionId', 'AZURE_SUBSCRIPTION_ID') ??
      (injected ? env['ARM_SUBSCRIPTION_ID'] : undefined),
    tenant: from('tenantID', 'tenantId', 'AZURE_TENANT_ID'),
    clientId: from('clientID', 'clientId', 'AZURE_CLIENT_ID'),
    clientSecret: given['clientSecret'] ?? (injected ? env['AZURE_CLIENT_SECRET'] : undefined),
    certificate: given['clientCertificate'],
    identity: identityTypes.find((type) => type === spec['identity']),
    tokenFile: spec['tokenFile'] ?? env['AZURE_FEDERATED_TOKEN_FILE'],
    resourceManager: base(endpoint['resourceManager'] ?? resourceManager),
    authority: base(endpoint['authority'] ?? env['AZURE_AUTHORITY_HOST'] ?? authority),
    graph: base(endpoint['graph'] ?? graph),
  }
}

const base = (url: string): string => url.replace(/\/+$/, '')

const cloudOf = (name: string | undefined): keyof typeof clouds =>
  name === 'USGovernment' || name === 'China' ? name : 'Public'

function textsOf(value: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  )
}

/** Credentials are JSON as `az ad sp create-for-rbac --json-auth` prints it, with clientSecret or clientCertificate. */
function credentialsOf(config: ProviderConfiguration | undefined): Readonly<Record<string, string | undefined>> {
  if (config?.credentials === undefined) return {}
  try {
    return textsOf(JSON.parse(config.credentials))
  } catch {
    throw new ConfigError(
      `the credentials of ProviderConfig ${config.name} are not JSON: store an object with clientId, clientSecret (or clientCertificate), tenantId and subscriptionId`,
    )
  }
}
