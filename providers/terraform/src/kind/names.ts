/** `instance_type` becomes `instanceType`. */
export function camelCase(name: string): string {
  const [first = '', ...rest] = name.split(/[_-]+/).filter((word) => word !== '')
  return first + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

/** Kinds that every group has, and endings that class and query kinds have. */
const reserved = /^(ProviderConfig|ProviderConfigUsage)$|(Class|Query|List)$/

/** `random_pet` of the provider `random` becomes `Pet`. A name that a derived kind has already gets `Resource` at its end. */
export function kindName(provider: string, type: string): string {
  const own = type.startsWith(`${provider}_`) ? type.slice(provider.length + 1) : type
  const camel = camelCase(own)
  const kind = camel[0]!.toUpperCase() + camel.slice(1)
  return reserved.test(kind) ? `${kind}Resource` : kind
}

/** The data source `http` of the provider `http` becomes `HttpData`. */
export const dataKindName = (provider: string, type: string): string =>
  `${kindName(provider, type).replace(/Resource$/, '')}Data`

export const groupOf = (provider: string): string => `${provider.replaceAll('_', '-')}.terraform.crosstie.io`

export const VERSION = 'v1alpha1'
