import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType } from '@crosstie/kube'
import type { Authorizer } from '../access/authorize.js'
import type { Admission, AdmissionAttributes } from '../serving/engine.js'
import type { KindRegistry } from '../serving/registry.js'
import type { Store } from '../store/store.js'
import type { CheckedKinds } from './policies/check.js'
import type { ParamKinds } from './policies/params.js'
import { Policies } from './policies/policies.js'
import { Webhooks } from './webhooks/webhooks.js'

/** Dependencies of ExtensibleAdmission. */
export interface ExtensibleOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'subscribe'>
  readonly registry: KindRegistry
  readonly authorizer: Authorizer
  readonly newId: () => string
}

/** Webhooks and policies in the order of kube-apiserver: mutating webhooks, policies, validating webhooks. */
export class ExtensibleAdmission implements Admission {
  readonly #webhooks: Webhooks
  readonly #policies: Policies

  constructor({ store, registry, authorizer, newId }: ExtensibleOptions) {
    const kinds = kindsOf(registry)
    this.#webhooks = new Webhooks({ store, kinds, authorizer, newId })
    this.#policies = new Policies({ store, kinds, authorizer })
  }

  close(): void {
    this.#webhooks.close()
    this.#policies.close()
  }

  interested(): boolean {
    return this.#webhooks.hasMutating || this.#webhooks.hasValidating || this.#policies.active
  }

  mutate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return this.#webhooks.mutate({ ...attributes, signal })
  }

  async validate(attributes: AdmissionAttributes, signal?: AbortSignal): Promise<void> {
    await this.#policies.validate(attributes)
    await this.#webhooks.validate({ ...attributes, signal })
  }
}

/** Returns the view of the registry that admission needs. */
export function kindsOf(registry: KindRegistry): ParamKinds {
  const addresses = (group: string, resource: string): ResourceType[] => {
    const definition = registry.definition(group, resource)
    return (definition?.versions ?? []).map(({ name }) => registry.resolve(group, name, resource)!.type)
  }
  /** Events are served in two groups. */
  const relatives = ({ group, resource }: ResourceType): string[] => {
    const own = registry.definition(group, resource)?.sharedWith?.group
    const others = registry
      .definitions()
      .filter(({ names, sharedWith }) => names.plural === resource && sharedWith?.group === group)
    return [...(own === undefined ? [] : [own]), ...others.map((definition) => definition.group)]
  }
  return {
    equivalents: (type) =>
      [type.group, ...relatives(type)]
        .flatMap((group) => addresses(group, type.resource))
        .filter(({ group, version }) => group !== type.group || version !== type.version),
    find: (apiVersion, kind) => {
      const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
      return registry.byKind(group, version, kind)?.type
    },
    convert: (object, to) => convert(registry, object, to),
  }
}

/** Returns the view of the registry that type checking of policies needs. */
export function checkedKindsOf(registry: KindRegistry): CheckedKinds {
  return {
    resolve: (group, version, resource) => registry.resolve(group, version, resource)?.type,
    find: kindsOf(registry).find,
    schema: ({ group, version, resource }) => registry.resolve(group, version, resource)?.version.schema,
  }
}

async function convert(registry: KindRegistry, object: KubeObject, to: ResourceType): Promise<KubeObject> {
  if (object.apiVersion === apiVersionOf(to)) return object
  const from = parseApiVersion(object.apiVersion)?.group ?? ''
  const definition = registry.definition(to.group, to.resource)
  if (from !== to.group) {
    const source = registry.definition(from, to.resource)
    const shared = source?.sharedWith ? source.sharedWith.toShared(object) : object
    return definition?.sharedWith ? definition.sharedWith.fromShared(shared) : shared
  }
  if (!definition?.convert) return { ...object, apiVersion: apiVersionOf(to) }
  const [converted] = await definition.convert([object], to.version)
  return converted!
}
