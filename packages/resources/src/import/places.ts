import { groupResource, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { identifiersOf } from '../definition/query.js'
import type { Node } from '../definition/schema.js'
import { extractor } from '../reference/resolve.js'

/** The values of an object, by field. */
export type Values = Readonly<Record<string, unknown>>

/** The values of identifier fields, by the name of the field. */
export type Identifiers = Readonly<Record<string, readonly string[]>>

/** The locations or filters of a discovery are incomplete or invalid. The message names the missing input. */
export class DiscoverError extends Error {
  override readonly name = 'DiscoverError'
}

/** A resource that others can refer to. */
export interface Known {
  readonly type: ManagedKind['type']
  readonly identifiers: Values
  /** The object that represents the resource, or its manifest. */
  readonly object: KubeObject
}

/**
 * Returns the locations in which to list a kind: all combinations of the values of its identifiers. Values that are
 * not given are taken from the discovered resources of the referenced kind. For example, node groups are found in
 * all clusters.
 */
export async function placesOf(
  kind: ManagedKind,
  given: Identifiers,
  find: (type: ManagedKind['type']) => Promise<readonly Known[]>,
): Promise<readonly Values[]> {
  let places: readonly Values[] = [{}]
  // Given values come first, since they limit the values of the others.
  const fields = Object.entries(identifiersOf(kind.parameters))
  const ordered = [...fields.filter(([name]) => given[name]), ...fields.filter(([name]) => !given[name])]
  for (const [name, field] of ordered) {
    const values = given[name]
    if (values) {
      places = places.flatMap((place) => values.map((text) => ({ ...place, [name]: parsed(kind, name, field, text) })))
      continue
    }
    if (!field.reference) {
      const how = name === 'region' ? '--region NAME' : `--identifier ${name}=VALUE`
      throw new DiscoverError(`${kind.type.kind} is looked for by ${name}: say ${how}`)
    }
    const type = field.reference.to()
    const known = (await find(type)).filter((each) => groupResource(each.type) === groupResource(type))
    const give = extractor(field.reference.value)
    places = places.flatMap((place) =>
      known
        .filter(({ identifiers }) => agree(place, identifiers))
        .map(({ object }) => ({ ...place, [name]: give(object) })),
    )
  }
  return places
}

function parsed(kind: ManagedKind, name: string, { type }: Node, text: string): unknown {
  if (type === 'string') return text
  const value: unknown = type === 'boolean' ? text === 'true' : Number(text)
  if (String(value) === text) return value
  throw new DiscoverError(`${name} of ${kind.type.kind} is ${type === 'integer' ? 'an' : 'a'} ${type}, not '${text}'`)
}

/** Returns whether two locations agree in all identifiers that both have. */
export function agree(a: Values, b: Values): boolean {
  return Object.keys(a).every((name) => b[name] === undefined || b[name] === a[name])
}
