import type { ManagedKind } from '@crosstie/resources/provider'
import { itemsOf, membersOf, type Shape } from '../shapes.js'

type Node = ManagedKind['parameters']

/** Which members of the SDK's shapes a kind has no field for, by path, in order. */
export function membersWithoutField(kind: ManagedKind, shapes: readonly Shape[]): readonly string[] {
  const missing = new Set(shapes.flatMap((shape) => missingBelow(kind.parameters, shape, '')))
  return [...missing].sort()
}

function missingBelow(node: Node, shape: unknown, path: string): readonly string[] {
  return [...membersOf(shape)].flatMap(([name, member]) => {
    const here = path + name
    const field = node.fields?.[name]
    if (!field) return [here]
    const inner = membersOf(member.shape).size > 0 ? member.shape : itemsOf(member.shape)
    return missingBelow(field.type === 'list' ? field.items! : field, inner, `${here}.`)
  })
}
