import { createHash } from 'node:crypto'
import { groupResource, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../../definition/managed.js'
import { externalNameOf } from '../../metadata/metadata.js'

/** Identifies the external resource of an object. Two objects with the same `key` refer to the same resource. */
export interface ExternalIdentity {
  readonly externalName: string
  readonly providerConfigName: string
  /** The identity as a valid name of a Kubernetes object. */
  readonly key: string
}

type IdentityKind = Pick<ManagedKind, 'type' | 'naming' | 'parameters' | 'identifiedBy' | 'nameless'>

interface IdentitySpec {
  readonly providerConfigRef?: { readonly name?: string }
  readonly forProvider?: Readonly<Record<string, unknown>>
}

/** Returns the name by which the provider knows the resource; empty until the provider has assigned it. */
export function effectiveName({ naming }: Pick<ManagedKind, 'naming'>, object: KubeObject): string {
  return externalNameOf(object) || (naming === 'user-chosen' ? (object.metadata.name ?? '') : '')
}

/**
 * Returns the identity of the external resource: kind, ProviderConfig, identifier fields and external name.
 * Undefined while the name is unknown, and for kinds whose external name has no meaning to the provider.
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
