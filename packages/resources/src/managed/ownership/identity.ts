import { createHash } from 'node:crypto'
import { groupResource, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../../definition/managed.js'
import { externalNameOf } from '../../metadata/metadata.js'

/** Which external resource an object stands for. Two objects with the same `key` stand for the same one. */
export interface ExternalIdentity {
  readonly externalName: string
  readonly providerConfigName: string
  /** As the name of a Kubernetes object. */
  readonly key: string
}

type IdentityKind = Pick<ManagedKind, 'type' | 'naming' | 'parameters' | 'identifiedBy' | 'nameless'>

interface IdentitySpec {
  readonly providerConfigRef?: { readonly name?: string }
  readonly forProvider?: Readonly<Record<string, unknown>>
}

/** The name that the provider knows the resource by; empty while only the provider can choose it. */
export function effectiveName({ naming }: Pick<ManagedKind, 'naming'>, object: KubeObject): string {
  return externalNameOf(object) || (naming === 'user-chosen' ? (object.metadata.name ?? '') : '')
}

/**
 * The identity of the external resource: kind, ProviderConfig, identifier fields and external name. Undefined while the
 * name is unknown, and for kinds whose external name means nothing to the provider.
 */
export function identityOf(kind: IdentityKind, object: KubeObject): ExternalIdentity | undefined {
  const externalName = effectiveName(kind, object)
  if (externalName === '' || kind.nameless) return undefined
  const { providerConfigRef, forProvider = {} } = (object['spec'] ?? {}) as IdentitySpec
  const providerConfigName = providerConfigRef?.name ?? 'default'
  const identifiers = Object.entries(kind.parameters.fields ?? {})
    .filter(([, field]) => field.identifier)
    .map(([field]) => [field, forProvider[field] ?? null])
  const more = kind.identifiedBy?.(forProvider) ?? []
  const text = JSON.stringify([groupResource(kind.type), providerConfigName, identifiers, more, externalName])
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 40)
  return { externalName, providerConfigName, key: `${kind.type.kind.toLowerCase()}-${digest}` }
}
