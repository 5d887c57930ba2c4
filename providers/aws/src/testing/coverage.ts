import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedKind } from '@crosstie/resources/provider'
import { itemsOf, membersOf, type Shape } from '../shapes.js'

export interface Coverage {
  /** The input of a call that configures the resource. */
  readonly input: Shape
  /** The field of the kind that stands for the input as a whole; absent: its members are the kind's own fields. */
  readonly at?: string
  /** Members, by our name for them, that are left out on purpose: each with the reason. */
  readonly leftOut?: Readonly<Record<string, string>>
  /** Members that the kind has under another name. */
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

/** Which members of the SDK's shapes a kind has no field for, by path, in order. */
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
    // EC2 wraps what may be left unset: the field itself stands for it.
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
