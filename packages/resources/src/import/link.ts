import { findFieldValue, groupResource, type KubeObject, setFieldValue } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { type FoundNode, fieldsBelow, type Reference, referenceFields } from '../definition/schema.js'
import { extractor } from '../reference/resolve.js'
import { agree, type Known } from './places.js'

/** Returns the reference fields of a kind. */
export const referencesOf = (kind: ManagedKind): readonly FoundNode[] =>
  [...fieldsBelow(kind.parameters)].filter(({ node }) => node.reference)

/** Replaces ids of other resources with references to their objects: the `vpcId` of a Subnet becomes `vpcIdRef`. */
export function linked({ kind, object, identifiers }: Known & { kind: ManagedKind }, links: Links): KubeObject {
  let forProvider = (object['spec'] as { forProvider: object }).forProvider
  const { atProvider } = object['status'] as { atProvider: object }
  for (const { path, node } of referencesOf(kind)) {
    const name = path.at(-1)!
    const value = findFieldValue(atProvider, path.map(fieldOf))
    const values = Array.isArray(value) ? value : [value]
    const names = values.map((each) => links.find(node.reference!, identifiers, each))
    // A partial list would be a different list.
    if (values.length === 0 || names.some((each) => each === undefined)) continue
    const references = names.map((each) => ({ name: each! }))
    const at = [...path.slice(0, -1), referenceFields(name, node).ref].map(fieldOf)
    forProvider = setFieldValue(forProvider, at, node.type === 'list' ? references : references[0])
  }
  return { ...object, spec: { ...(object['spec'] as object), forProvider } }
}

const fieldOf = (field: string) => ({ field })

/** An index of objects by the values that they provide to references. */
export class Links {
  readonly #byValue = new Map<string, Map<string, Known[]>>()

  constructor(private readonly all: readonly Known[]) {}

  /** Returns the only object that provides this value and whose location agrees with the identifiers. */
  find({ to, value: path }: Reference, identifiers: Known['identifiers'], value: unknown): string | undefined {
    if (typeof value !== 'string' || value === '') return undefined
    const found = this.#givers(groupResource(to()), path).get(value) ?? []
    const near = found.filter((each) => agree(identifiers, each.identifiers))
    // If two objects represent one resource, the choice would be arbitrary.
    const names = new Set(near.map(({ object }) => object.metadata.name))
    return names.size === 1 ? [...names][0] : undefined
  }

  #givers(type: string, path: string | undefined): ReadonlyMap<string, readonly Known[]> {
    const key = `${type} ${path ?? ''}`
    let givers = this.#byValue.get(key)
    if (!givers) {
      givers = new Map()
      const give = extractor(path)
      for (const known of this.all.filter((each) => groupResource(each.type) === type)) {
        const value = give(known.object)
        givers.set(value, [...(givers.get(value) ?? []), known])
      }
      this.#byValue.set(key, givers)
    }
    return givers
  }
}
