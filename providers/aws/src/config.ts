import { fromNodeProviderChain, fromTemporaryCredentials, fromTokenFile } from '@aws-sdk/credential-providers'
import { defineProviderConfig, type Infer, type ProviderConfiguration, s } from '@crosstie/resources/provider'
import { type Profile, parseProfiles } from './profiles.js'

const fields = s.object({
  region: s.optional(
    s.string({ doc: 'Where to call services that have no region, such as IAM and STS. us-east-1 when absent.' }),
  ),
  profile: s.optional(
    s.string({ doc: 'Which profile of the credentials file, or of the surroundings for InjectedIdentity.' }),
  ),
  endpoint: s.optional(
    s.object(
      {
        url: s.string({ doc: 'Where to call instead of the endpoints of AWS, such as http://localhost:5000.' }),
        services: s.optional(
          s.list(s.string(), { set: true, doc: 'For which services, such as ec2 or s3. All of them when absent.' }),
        ),
      },
      { doc: 'A private endpoint, or an emulator.' },
    ),
  ),
  s3UsePathStyle: s.optional(
    s.boolean({ doc: 'Put bucket names into the path rather than the host name. True where endpoint is set.' }),
  ),
  useFIPSEndpoint: s.optional(s.boolean({ doc: 'Call endpoints that are validated by FIPS 140.' })),
  useDualstackEndpoint: s.optional(s.boolean({ doc: 'Call endpoints that have IPv6 addresses too.' })),
  assumeRole: s.optional(
    s.object(
      {
        roleARN: s.string({ doc: 'The role to take on with the credentials.' }),
        externalID: s.optional(s.string({ doc: 'What the trust policy of the role asks for.' })),
        sessionName: s.optional(s.string({ doc: 'How the session shows up in CloudTrail. crosstie when absent.' })),
        durationSeconds: s.optional(s.integer({ doc: 'How long a session lasts.', minimum: 900, maximum: 43_200 })),
        tags: s.optional(s.map(s.string(), { doc: 'Tags of the session.' })),
        transitiveTagKeys: s.optional(s.list(s.string(), { set: true, doc: 'Tags that sessions of sessions keep.' })),
      },
      { doc: 'Take on a role after the credentials were read.' },
    ),
  ),
  webIdentity: s.optional(
    s.object(
      {
        roleARN: s.string({ doc: 'The role to take on with the token.' }),
        tokenFile: s.optional(
          s.string({ doc: 'File that holds the token. AWS_WEB_IDENTITY_TOKEN_FILE names it when absent.' }),
        ),
        sessionName: s.optional(s.string({ doc: 'How the session shows up in CloudTrail. crosstie when absent.' })),
      },
      { doc: 'Take on a role with a token of an identity provider, such as a service account of Kubernetes.' },
    ),
  ),
})

/** The `ProviderConfig` of `aws.crossplane.io/v1beta1`: credentials, endpoints and roles. */
export const providerConfig = defineProviderConfig({ group: 'aws.crossplane.io', version: 'v1beta1', fields })

/** The spec of an AWS ProviderConfig. */
export type AwsConfigSpec = Infer<typeof fields>

/** AWS credentials, in the format of the SDK. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: Date
}

/** Returns valid credentials, and renews them if necessary. */
export type CredentialsSource = () => Promise<Credentials>

const SESSION_NAME = 'crosstie'
/** The region for calls to global services such as IAM. */
export const GLOBAL_REGION = 'us-east-1'

/** An invalid configuration. The message names the field and the fix. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Returns the spec of a ProviderConfig. It is empty without a ProviderConfig. */
export const specOf = (config: ProviderConfiguration | undefined): AwsConfigSpec =>
  (config?.spec ?? {}) as unknown as AwsConfigSpec

/** Returns the credentials of a ProviderConfig, after assuming all configured roles. */
export function credentialsOf(config: ProviderConfiguration | undefined): CredentialsSource {
  const spec = specOf(config)
  const base = spec.webIdentity ? webIdentity(spec) : baseCredentials(config)
  return remembered(spec.assumeRole ? assumed(spec, base) : base)
}

function baseCredentials(config: ProviderConfiguration | undefined): CredentialsSource {
  const { profile } = specOf(config)
  if (config?.credentials === undefined) return fromNodeProviderChain({ ...(profile ? { profile } : {}) })
  const profiles = parseProfiles(config.credentials)
  return fromProfile(config, profiles, profile ?? 'default', [])
}

/** Returns the keys of a profile, or assumes its role with the keys of its source profile. */
function fromProfile(
  config: ProviderConfiguration,
  profiles: ReadonlyMap<string, Profile>,
  name: string,
  through: readonly string[],
): CredentialsSource {
  const at = `the credentials of ProviderConfig ${config.name}`
  const profile = profiles.get(name)
  if (!profile) {
    const others = [...profiles.keys()].join(', ') || 'none at all'
    throw new ConfigError(
      `${at} have no profile [${name}], only ${others}: set spec.profile, or write the keys below [${name}]`,
    )
  }
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey, aws_session_token } = profile
  if (accessKeyId && secretAccessKey) {
    const keys = { accessKeyId, secretAccessKey, ...(aws_session_token ? { sessionToken: aws_session_token } : {}) }
    return async () => keys
  }
  const { role_arn: roleARN, source_profile: source, external_id, role_session_name, web_identity_token_file } = profile
  if (roleARN && web_identity_token_file) {
    return webIdentity({ ...specOf(config), webIdentity: { roleARN, tokenFile: web_identity_token_file } })
  }
  if (roleARN && source && !through.includes(source)) {
    const base = fromProfile(config, profiles, source, [...through, name])
    const role = {
      roleARN,
      ...(external_id ? { externalID: external_id } : {}),
      ...(role_session_name ? { sessionName: role_session_name } : {}),
    }
    return assumed({ ...specOf(config), assumeRole: role }, base)
  }
  throw new ConfigError(
    `${at}: profile [${name}] needs aws_access_key_id and aws_secret_access_key, or role_arn and a source_profile that has them`,
  )
}

function assumed(spec: AwsConfigSpec, masterCredentials: CredentialsSource): CredentialsSource {
  const { roleARN, externalID, sessionName, durationSeconds, tags, transitiveTagKeys } = spec.assumeRole!
  return fromTemporaryCredentials({
    masterCredentials,
    params: {
      RoleArn: roleARN,
      RoleSessionName: sessionName ?? SESSION_NAME,
      ExternalId: externalID,
      DurationSeconds: durationSeconds,
      Tags: tags && Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      TransitiveTagKeys: transitiveTagKeys && [...transitiveTagKeys],
    },
    clientConfig: stsSettings(spec),
  })
}

function webIdentity(spec: AwsConfigSpec): CredentialsSource {
  const { roleARN, tokenFile, sessionName } = spec.webIdentity!
  return fromTokenFile({
    roleArn: roleARN,
    roleSessionName: sessionName ?? SESSION_NAME,
    ...(tokenFile ? { webIdentityTokenFile: tokenFile } : {}),
    clientConfig: stsSettings(spec),
  })
}

function stsSettings(spec: AwsConfigSpec): { readonly region: string; readonly endpoint?: string } {
  const endpoint = endpointFor(spec, 'sts')
  return { region: spec.region ?? GLOBAL_REGION, ...(endpoint ? { endpoint } : {}) }
}

/** Returns the endpoint of a service, if the ProviderConfig overrides it. */
export function endpointFor({ endpoint }: AwsConfigSpec, service: string): string | undefined {
  if (!endpoint) return undefined
  return !endpoint.services || endpoint.services.includes(service) ? endpoint.url : undefined
}

const BEFORE_EXPIRY_MS = 5 * 60_000

/** Caches credentials until shortly before they expire, so that all services and regions share one session. */
function remembered(source: CredentialsSource): CredentialsSource {
  let held: Promise<Credentials> | undefined
  return async () => {
    const known = held
    const credentials = await known
    if (credentials && (credentials.expiration?.getTime() ?? Infinity) - BEFORE_EXPIRY_MS > Date.now()) {
      return credentials
    }
    // A concurrent caller may have started the renewal.
    if (held === known) {
      const asked = source()
      held = asked
      asked.catch(() => {
        if (held === asked) held = undefined
      })
    }
    return await held!
  }
}
