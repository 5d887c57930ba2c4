import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { attempt } from '@crosstie/kube'
import {
  type Binding,
  type ClaimKind,
  checkTogether,
  claimKinds,
  type ManagedKind,
  type Provider,
} from '@crosstie/resources'
import { UsageError } from '../options/options.js'
import { didYouMean } from '../options/suggest.js'

/** The built-in providers. They are loaded on demand, so that the SDK of an unused cloud is not loaded. */
const ours: Readonly<Record<string, () => Promise<{ readonly provider: Provider }>>> = {
  aws: () => import('@crosstie/provider-aws'),
  azure: () => import('@crosstie/provider-azure'),
  gcp: () => import('@crosstie/provider-gcp'),
  kubernetes: () => import('@crosstie/provider-kubernetes'),
  nop: () => import('@crosstie/provider-nop'),
  sql: () => import('@crosstie/provider-sql'),
  terraform: () => import('@crosstie/provider-terraform'),
}

/** The names of the built-in providers. */
export const providerNames: readonly string[] = Object.keys(ours)

/** The kinds that a control plane manages, and the claims that applications can create. */
export interface ProviderRegistry {
  readonly providers: readonly Provider[]
  readonly kinds: readonly ManagedKind[]
  readonly claims: readonly ClaimKind[]
  readonly bindings: readonly Binding[]
}

/** Loads providers: built-in ones by name, others by path or package. Throws a usage error. */
export async function loadRegistry(names: readonly string[] = providerNames): Promise<ProviderRegistry> {
  checkProviderNames(names)
  const providers = await Promise.all([...new Set(names)].map(loadProvider))
  const kinds = providers.flatMap((provider) => provider.kinds)
  checkTogether(kinds)
  return {
    providers,
    kinds,
    claims: [...claimKinds, ...providers.flatMap(({ claims = [] }) => claims)],
    bindings: providers.flatMap(({ bindings = [] }) => bindings),
  }
}

/** Throws a usage error for a name that is neither built in nor a path or package. Does not load them. */
export function checkProviderNames(names: readonly string[]): void {
  const missing = names.find((name) => isPath(name) && !existsSync(name))
  if (missing !== undefined) throw new UsageError(`the provider file ${missing} does not exist`)
  const strange = names.find((name) => !Object.hasOwn(ours, name) && !/[/.@]/.test(name))
  if (strange === undefined) return
  throw new UsageError(
    `unknown provider '${strange}'.${didYouMean(strange, providerNames)} Choose from ${providerNames.join(', ')}, ` +
      'or name a package or a path such as ./mine.js',
  )
}

const isPath = (name: string): boolean => /^[./]/.test(name)

async function loadProvider(name: string): Promise<Provider> {
  if (Object.hasOwn(ours, name)) return (await ours[name]!()).provider
  const module = await attempt(
    `load the provider ${name}`,
    () => import(isPath(name) ? pathToFileURL(name).href : name),
  )
  if (!module.provider?.kinds) throw new UsageError(`${name} does not export a 'provider' created by defineProvider()`)
  return module.provider
}
