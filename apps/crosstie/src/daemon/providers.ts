import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Option, type OptionValues, textOf } from '../options/options.js'
import { checkProviderNames, providerNames } from './registry.js'

export const providerOptions: Readonly<Record<string, Option>> = {
  providers: {
    type: 'string',
    value: 'NAMES',
    help: `Which providers, with commas between: ${providerNames.join(', ')}, a package or a path of yours (default all of ours)`,
  },
}

/** What one set of credentials may make, unless told otherwise. */
export const CALLS_PER_SECOND = 20

/** For those who run controllers. */
export const callsOption: Option = {
  type: 'string',
  value: 'N',
  help: 'How many calls a provider gets in a second with one set of credentials',
  default: String(CALLS_PER_SECOND),
}

/** Those that were asked for. What can be none is said here, before anything is started. */
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

/** Is there anything that says who we are to AWS? */
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

/** Variables that name an identity, by the provider of a cloud. */
const identityVariables: Readonly<Record<string, readonly string[]>> = {
  azure: ['AZURE_CLIENT_ID', 'AZURE_SUBSCRIPTION_ID', 'ARM_SUBSCRIPTION_ID', 'AZURE_FEDERATED_TOKEN_FILE'],
  gcp: ['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT', 'CLOUDSDK_CORE_PROJECT'],
}

/** Can a provider work with what this process finds? False only for clouds without credentials. */
export function isReachable(provider: string, env: Environment = process.env): boolean {
  if (provider === 'aws') return hasAwsCredentials(env)
  const names = identityVariables[provider]
  return names === undefined || names.some((name) => env[name])
}
