import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { UsageError } from '../command.js'

const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string; readonly shortNames?: readonly string[] }
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[]
  }
}

/** Every kind that was brought to the server, in the version that it is kept in. */
export async function readTypes(client: Client): Promise<readonly ResourceType[]> {
  const { items } = await client.list<Definition>(DEFINITIONS)
  return items.map(({ spec: { group, scope, names, versions } }) => ({
    group,
    version: (versions.find(({ storage }) => storage) ?? versions[0]!).name,
    kind: names.kind,
    resource: names.plural,
    namespaced: scope === 'Namespaced',
  }))
}

/** `vpc`, `vpcs` or `vpcs.ec2.aws.crossplane.io`, in any case. */
export function isCalled({ kind, resource, group }: ResourceType, word: string): boolean {
  const asked = word.toLowerCase()
  const names = [kind.toLowerCase(), resource]
  return names.some((name) => asked === name || asked === `${name}.${group}`)
}

/** `vpc/main` or `vpc main`. */
export function parseObject(words: readonly string[]): { readonly kind: string; readonly name: string } {
  const [kind, name, ...more] = words.length === 1 ? words[0]!.split('/') : words
  if (!kind || !name || more.length > 0)
    throw new UsageError('which object? Say it as KIND/NAME, such as mysqlinstance/sql')
  return { kind, name }
}
