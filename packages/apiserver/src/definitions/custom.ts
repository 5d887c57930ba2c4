import type { CustomResourceDefinition } from './crd.js'
import type { Definition } from './definition.js'
export function definitionOf(crd: CustomResourceDefinition): Definition {
  const { group, names, scope, versions } = crd.spec
  const all = versions.map((v: any) => ({
    name: v.name,
    schema: v.schema?.openAPIV3Schema,
    subresources: { status: !!v.subresources?.status, scale: v.subresources?.scale },
    columns: v.additionalPrinterColumns ?? [],
    selectableFields: (v.selectableFields ?? []).map((f: any) => f.jsonPath),
    served: v.served,
    storage: v.storage,
  }))
  return {
    group,
    names: {
      singular: names.singular,
      plural: names.plural,
      kind: names.kind,
      listKind: names.listKind,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
    },
    namespaced: scope === 'Namespaced',
    versions: all.filter((v: any) => v.served),
    storage: all.find((v: any) => v.storage).name,
    verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    strategy: { generation: 'onChange', unconditionalUpdate: false, createOnUpdate: false, nameRule: 'dnsSubdomain' },
    crd: {
      name: crd.metadata.name!,
      uid: crd.metadata.uid!,
      generation: crd.metadata.generation!,
      deleting: !!crd.metadata.deletionTimestamp,
    },
  } as any
}
