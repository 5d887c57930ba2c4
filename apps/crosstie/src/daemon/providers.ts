import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Option, type OptionValues, textOf, UsageError } from '../options/options.js'
import { checkProviderNames, providerNames } from './registry.js'

/** The option `--providers`. */
export const providerOptions: Readonly<Record<string, Option>> = {
  providers: {
    type: 'string',
    value: 'NAMES',
    help: `Providers, separated by commas: ${providerNames.join(', ')}, a package or a path (default: all named here)`,
  },
}

/** For those who run or observe kinds of Terraform providers. */
export const terraformOptions: Readonly<Record<string, Option>> = {
  'terraform-mirror': {
    type: 'string',
    value: 'DIR',
    help: 'Take Terraform providers from this filesystem mirror only (default $CROSSTIE_TERRAFORM_MIRROR)',
  },
}

/** Options for single providers, by the name of the provider. */
export function settingsOf(values: OptionValues): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const mirror = textOf(values, 'terraform-mirror') ?? process.env['CROSSTIE_TERRAFORM_MIRROR']
  if (mirror && !existsSync(mirror)) throw new UsageError(`--terraform-mirror ${mirror}: the folder does not exist`)
  return { terraform: mirror ? { mirror: resolve(mirror) } : {} }
}

/** The default rate limit per set of credentials. */
export const CALLS_PER_SECOND = 20

/** The option `--calls-per-second`. */
export const callsOption: Option = {
  type: 'string',
  value: 'N',
  help: 'The rate limit of provider calls per set of credentials',
  default: String(CALLS_PER_SECOND),
}

/** Returns the requested providers. Throws a usage error for an invalid name, before anything is started. */
export function providersOf(values: OptionValues): readonly string[] {
  const asked = textOf(values, 'providers')
  if (asked === undefined) return providerNames
  const names = asked
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  checkProviderNames(names)
  return names
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reports whether credentials for AWS are configured. */
export function hasAwsCredentials(env: Environment = process.env, home = homedir()): boolean {
  const names = [
    'AWS_ACCESS_KEY_ID',
    'AWS_PROFILE',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  ]
  const file = env['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws/credentials')
  return names.some((name) => env[name]) || existsSync(file)
}

/** Environment variables that configure an identity, by provider. */
const identityVariables: Readonly<Record<string, readonly string[]>> = {
  azure: ['AZURE_CLIENT_ID', 'AZURE_SUBSCRIPTION_ID', 'ARM_SUBSCRIPTION_ID', 'AZURE_FEDERATED_TOKEN_FILE'],
  gcp: ['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT', 'CLOUDSDK_CORE_PROJECT'],
}

/** Reports whether a provider can be used. False only for clouds without credentials. */
export function isReachable(provider: string, env: Environment = process.env): boolean {
  if (provider === 'aws') return hasAwsCredentials(env)
  const names = identityVariables[provider]
  return names === undefined || names.some((name) => env[name])
}
