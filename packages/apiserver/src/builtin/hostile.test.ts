import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import fc from 'fast-check'
import { DecodeError } from '../definitions/decode-error.js'
import type { Definition, WriteContext } from '../definitions/definition.js'
import { type GoType, goStruct } from '../gotypes/go-type.js'
import { modelOf } from '../gotypes/models.js'
import { builtinDefinitions, type Helpers } from './index.js'

const definitions = builtinDefinitions({
  answers: {},
  validateCrd: () => [],
  checkExpression: () => undefined,
} as unknown as Helpers)

const DEPTH_MAX = 5

/** Values that match the type, sometimes with a null or a value of another type. */
function anyOf(type: GoType, depth: number): fc.Arbitrary<unknown> {
  const stranger = fc.oneof(fc.constant(null), fc.jsonValue({ maxDepth: 1 }))
  return fc.oneof({ arbitrary: fitting(type, depth), weight: 30 }, { arbitrary: stranger, weight: 1 })
}

function fitting(type: GoType, depth: number): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'string':
      return fc.oneof(fc.constantFrom('', ' ', 'a', 'a/b', '*', 'x.y.z', 'true', '..'), fc.string())
    case 'bool':
      return fc.boolean()
    case 'int32':
    case 'int64':
      return fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2n ** 62n))
    case 'float64':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'bytes':
      return fc.constantFrom('', 'YQ==', 'YWJj', 'YQ')
    case 'pointer':
      return fitting(type.of, depth)
    case 'slice':
      return fc.array(anyOf(type.of, depth), { maxLength: 2 })
    case 'map':
      return fc.dictionary(fc.constantFrom('a', 'b/c', '__proto__', 'constructor', ''), anyOf(type.of, depth), {
        maxKeys: 2,
      })
    case 'struct':
      return depth <= 0 ? fc.constant({}) : structOf(type.model, depth - 1)
    case 'special':
      if (type.name === 'Time') return fc.constantFrom('2020-01-01T00:00:00Z', '2020-01-01T00:00:00+05:00')
      if (type.name === 'MicroTime') return fc.constant('2020-01-01T00:00:00.000001Z')
      return fc.constantFrom<unknown>({ type: 'object' }, { properties: { a: { items: {} } } })
    case 'any':
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function structOf(model: string, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(goStruct(model).fields.map(({ name, type }) => [name, anyOf(type, depth)]))
  return fc.record(fields, { requiredKeys: [] })
}

function contextFor({ group, names, namespaced }: Definition, subresource: string): WriteContext {
  const type = { group, version: 'v1', kind: names.kind, resource: names.plural, namespaced }
  return { type, subresource, user: { name: 'tester', groups: [] }, now: 0, warnings: [] }
}

function decode({ strategy }: Definition, value: unknown): KubeObject | undefined {
  try {
    return strategy.decode!(value as KubeObject, 'v1', [])
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** All operations on objects of the kind, without a store. */
function live(definition: Definition, object: KubeObject, old: KubeObject | undefined): void {
  const { strategy, versions } = definition
  for (const subresource of old ? ['', 'status', 'finalize'] : ['']) {
    const draft = structuredClone(object) as unknown as Record<string, unknown>
    const context = contextFor(definition, subresource)
    strategy.prepare?.(draft, old, context)
    strategy.validate?.(draft as unknown as KubeObject, old, context)
    for (const { cell } of versions[0]!.columns) cell?.(draft as unknown as KubeObject, 0)
    for (const label of Object.values(versions[0]!.fieldLabels ?? {})) label(draft as unknown as KubeObject)
    definition.sharedWith?.fromShared(definition.sharedWith.toShared(draft as unknown as KubeObject))
    assert.deepEqual(decode(definition, object), object, 'a decoded object is not changed by decoding again')
  }
}

for (const definition of definitions) {
  const { group, names } = definition
  const model = modelOf(group === '' ? 'v1' : `${group}/v1`, names.kind)!
  test(`${names.kind} of ${group || 'core'} accepts values of its type and refuses others`, () => {
    const arbitrary = structOf(model, DEPTH_MAX)
    fc.assert(
      fc.property(arbitrary, arbitrary, (first, second) => {
        const [old, object] = [decode(definition, first), decode(definition, second)]
        if (object) live(definition, object, undefined)
        if (object && old) live(definition, object, old)
      }),
      { numRuns: 60 },
    )
  })
}
