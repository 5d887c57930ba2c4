import { noNames } from './internal.js'
import type { Conversion, CustomResourceDefinition, DefinitionSpec } from './types.js'

/** Sets the defaults of a definition: singular, listKind, conversion strategy, service port, storedVersions. */
export function defaultCustomResourceDefinition<T extends CustomResourceDefinition>(crd: T): T {
  const spec = defaultSpec(crd.spec)
  const storage = spec.versions?.find((version) => version.storage)
  const unstored = (crd.status?.storedVersions ?? []).length === 0
  if (!unstored || !storage) return { ...crd, spec }
  return { ...crd, spec, status: { ...crd.status, storedVersions: [storage.name] } }
}

function defaultSpec(spec: DefinitionSpec): DefinitionSpec {
  const { kind = '', singular, listKind } = spec.names ?? noNames
  const names = {
    ...spec.names,
    ...(singular || kind === '' ? {} : { singular: kind.toLowerCase() }),
    ...(listKind || kind === '' ? {} : { listKind: `${kind}List` }),
  }
  return { ...spec, names, conversion: defaultConversion(spec.conversion) }
}

function defaultConversion(conversion: Conversion | undefined): Conversion {
  if (!conversion) return { strategy: 'None' }
  const service = conversion.webhook?.clientConfig?.service
  if (!service || service.port !== undefined) return conversion
  const clientConfig = { ...conversion.webhook!.clientConfig, service: { ...service, port: 443 } }
  return { ...conversion, webhook: { ...conversion.webhook, clientConfig } }
}
