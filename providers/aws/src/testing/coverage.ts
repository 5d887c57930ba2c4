import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedKind } from '@crosstie/resources/provider'
import { itemsOf, membersOf, type Shape } from '../shapes.js'

/** The expected coverage of one input shape. */
export interface Coverage {
  /** The input of a call that configures the resource. */
  readonly input: Shape
  /** The field that represents the whole input. Absent if the members of the input are the fields of the kind. */
  readonly at?: string
  /** Members without a field, by field name, and the reasons. */
  readonly leftOut?: Readonly<Record<string, string>>
  /** Members whose field has a different name. */
  readonly otherwise?: Readonly<Record<string, string>>
}

/** Checks that every input field of the API is handled or listed, so that new fields of the SDK are noticed. */
export function coversInputs(kind: ManagedKind, inputs: Readonly<Record<string, Coverage>>): void {
  for (const [name, { input, at, leftOut = {}, otherwise = {} }] of Object.entries(inputs)) {
    test(`${kind.type.kind} has every member of ${name}, or says why not`, () => {
      const field = at === undefined ? kind.parameters : fieldAt(kind.parameters, at)
      assert.ok(field, `there is a field ${at}`)
      const from = field.items ?? field
      const missing = [...uncovered(kind.parameters, from, input, '', { leftOut, otherwise })]
      assert.deepEqual(missing, [], 'add the fields, or say in leftOut why not')
      const needless = Object.keys(leftOut).filter((path) => !memberAt(input, path))
      assert.deepEqual(needless, [], 'left out, but the API has no such member')
    })
  }
}

/** Returns the sorted paths of the members of SDK shapes that have no field in the kind. */
export function membersWithoutField(kind: ManagedKind, shapes: readonly Shape[]): readonly string[] {
  const { parameters } = kind
  const none = { leftOut: {}, otherwise: {} }
  return [...new Set(shapes.flatMap((shape) => [...uncovered(parameters, parameters, shape, '', none)]))].sort()
}

type Node = ManagedKind['parameters']

function* uncovered(
  root: Node,
  node: Node,
  shape: unknown,
  path: string,
  known: { readonly leftOut: Readonly<Record<string, string>>; readonly otherwise: Readonly<Record<string, string>> },
): Generator<string> {
  for (const [name, { shape: inner }] of membersOf(shape)) {
    const here = path + name
    if (known.leftOut[here] !== undefined) continue
    // EC2 wraps optional booleans. The field represents the wrapped value.
    if (name === 'value' && node.type === 'boolean') continue
    const other = known.otherwise[here]
    const field = other === undefined ? node.fields?.[name] : fieldAt(root, other)
    if (!field) yield here
    else
      yield* uncovered(
        root,
        field.items ?? field,
        membersOf(inner).size > 0 ? inner : itemsOf(inner),
        `${here}.`,
        known,
      )
  }
}

function fieldAt(node: Node, path: string): Node | undefined {
  let found: Node | undefined = node
  for (const name of path.split('.')) found = (found?.items ?? found)?.fields?.[name]
  return found
}

function memberAt(shape: unknown, path: string): boolean {
  let found: unknown = shape
  return path.split('.').every((name) => {
    const member = membersOf(itemsOf(found) ?? found).get(name)
    found = member?.shape
    return member !== undefined
  })
}
