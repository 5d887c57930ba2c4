import { groupResource, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { identifiersOf } from '../definition/query.js'
import type { Node } from '../definition/schema.js'
import { extractor } from '../reference/resolve.js'

export type Values = Readonly<Record<string, unknown>>

/** Values for fields that say where to look, by the name of the field. */
export type Identifiers = Readonly<Record<string, readonly string[]>>

/** It is not clear where to look, or for what; the message says what to give. */
export class DiscoverError extends Error {
  override readonly name = 'DiscoverError'
}

/** What a found resource gives to those who refer to it. */
export interface Known {
  readonly type: ManagedKind['type']
  readonly identifiers: Values
  /** The object that stands for it, or would. */
  readonly object: KubeObject
}

/**
 * Every place in which to look for a kind: all combinations of the values that
 * its identifiers may have. What was not given is taken from what was found of
 * the kind that it refers to, so that node groups are found in all clusters.
 */
export async function placesOf(
  kind: ManagedKind,
  given: Identifiers,
  find: (type: ManagedKind['type']) => Promise<readonly Known[]>,
): Promise<readonly Values[]> {
  let places: readonly Values[] = [{}]
  // Those that were given first: what they say narrows what the others may be.
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

/** Are two places the same as far as both are told? */
export function agree(a: Values, b: Values): boolean {
  return Object.keys(a).every((name) => b[name] === undefined || b[name] === a[name])
}
