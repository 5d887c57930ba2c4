import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { printJson } from '@crosstie/cel/kubernetes'
import { type FieldError, fieldErrorBody } from '../errors.js'
import { clone } from '../json.js'
import { coerceEmbedded } from './coerce.js'
import { compileSchema } from './compile.js'
import { SchemaNode } from './node.js'

// Random schemas and objects, with the results of the Go packages of Kubernetes 1.34.4.
interface Recorded {
  readonly op: string
  readonly schema: JSONSchemaProps
  readonly object: Record<string, unknown>
  readonly old?: Record<string, unknown>
  readonly root?: boolean
  readonly drop?: boolean
  readonly want: unknown
}

const load = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../src/schema/testdata/${name}`, import.meta.url), 'utf8'))

const ours: Record<string, (given: Recorded) => unknown> = {
  validate: ({ schema, object, old }) => bodies(compileSchema(schema).validate(object, old)),
  lists: ({ schema, object, old }) => bodies(compileSchema(schema).validateListTypes(object, old)),
  nulls: ({ schema, object }) => ({ object: compileSchema(schema).dropNulls(object) }),
  default: ({ schema, object }) => ({ object: compileSchema(schema).applyDefaults(object) }),
  prune({ schema, object, root = false }) {
    const unknown: string[] = []
    return { object: compileSchema(schema).prune(object, { root, unknown }), unknown }
  },
  coerce({ schema, object, drop }) {
    const unknown: string[] = []
    return { object: coerceEmbedded(object, new SchemaNode(schema), false, '', { drop, unknown }).value, unknown }
  },
}

// kube-apiserver iterates maps in random order, so the order of errors and paths is not compared.
function comparable(result: unknown): string {
  if (Array.isArray(result)) return result.map(printJson).sort().join('\n')
  const { object, unknown } = result as { object: unknown; unknown?: string[] | null }
  return printJson({ object, unknown: [...(unknown ?? [])].sort() })
}

const bodies = (errors: readonly FieldError[]) =>
  errors.map((error) => ({ type: error.type, field: error.field, body: fieldErrorBody(error) }))

for (const op of Object.keys(ours)) {
  test(`${op} agrees with kube-apiserver`, () => {
    const cases = (load('recorded.json') as Recorded[]).filter((given) => given.op === op)
    assert.ok(cases.length > 20)
    for (const given of cases) {
      const before = clone(given.object)
      assert.equal(comparable(ours[op]!(given)), comparable(given.want), JSON.stringify(given))
      assert.deepEqual(given.object, before, 'the given object must not change')
    }
  })
}
