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

/** Read when asked for: whoever does not use a cloud need not wait for its SDK. */
const ours: Readonly<Record<string, () => Promise<{ readonly provider: Provider }>>> = {
  aws: () => import('@crosstie/provider-aws'),
  azure: () => import('@crosstie/provider-azure'),
  gcp: () => import('@crosstie/provider-gcp'),
  kubernetes: () => import('@crosstie/provider-kubernetes'),
  nop: () => import('@crosstie/provider-nop'),
  sql: () => import('@crosstie/provider-sql'),
}

export const providerNames: readonly string[] = Object.keys(ours)

/** What a control plane can manage, and what applications can ask it for. */
export interface ProviderRegistry {
  readonly providers: readonly Provider[]
  readonly kinds: readonly ManagedKind[]
  readonly claims: readonly ClaimKind[]
  readonly bindings: readonly Binding[]
}

/** Reads providers: ours by name, those of others by the path or the package that they are in. */
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

/** Throws when one can be neither of ours nor of others. Reads none of them. */
export function checkProviderNames(names: readonly string[]): void {
  const missing = names.find((name) => isPath(name) && !existsSync(name))
  if (missing !== undefined) throw new UsageError(`there is no file ${missing} to take a provider from`)
  const strange = names.find((name) => !Object.hasOwn(ours, name) && !/[/.@]/.test(name))
  if (strange === undefined) return
  throw new UsageError(
    `there is no provider '${strange}'.${didYouMean(strange, providerNames)} Choose from ${providerNames.join(', ')}, ` +
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
  if (!module.provider?.kinds) throw new UsageError(`${name} exports no 'provider' made by defineProvider()`)
  return module.provider
}
