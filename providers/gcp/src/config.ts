import { isObject } from '@crosstie/kube'
import { defineProviderConfig, type Infer, type ProviderConfiguration, s } from '@crosstie/resources/provider'

const fields = s.object({
  projectID: s.optional(
    s.string({
      doc: 'Project of resources that name none. Absent: the project of the credentials, where they name one.',
    }),
  ),
  quotaProjectID: s.optional(
    s.string({ doc: 'Project that requests are billed to and counted against, if another one.' }),
  ),
  endpoint: s.optional(
    s.object(
      {
        url: s.string({
          doc: 'Base URL to call instead of Google, such as http://localhost:5100. The host name of the API is the first part of the path.',
        }),
      },
      { doc: 'A private endpoint, or an emulator.' },
    ),
  ),
  impersonateServiceAccount: s.optional(
    s.object(
      {
        email: s.string({ doc: 'Email address of the service account to act as.' }),
        delegates: s.optional(
          s.list(s.string(), { doc: 'Service accounts of the delegation chain, in order, without the last one.' }),
        ),
        lifetimeSeconds: s.optional(s.integer({ doc: 'Lifetime of a token.', minimum: 600, maximum: 43_200 })),
      },
      { doc: 'Act as a service account with the credentials. They need roles/iam.serviceAccountTokenCreator on it.' },
    ),
  ),
})

/** How Google Cloud is reached: `ProviderConfig` of `gcp.crossplane.io/v1beta1`. */
export const providerConfig = defineProviderConfig({ group: 'gcp.crossplane.io', version: 'v1beta1', fields })

export type GcpConfigSpec = Infer<typeof fields>

/** A configuration that cannot be used as it is. The message names the field and the value to write. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export function specOf(config: ProviderConfiguration | undefined): GcpConfigSpec {
  // The API server has checked the object against the schema.
  const spec: GcpConfigSpec = Object(config?.spec ?? {})
  return spec
}

/** The source of the credentials, such as Secret. */
export function credentialsSourceOf(config: ProviderConfiguration | undefined): string {
  const credentials: unknown = config?.spec['credentials']
  const source = isObject(credentials) ? credentials['source'] : undefined
  return typeof source === 'string' ? source : 'InjectedIdentity'
}
