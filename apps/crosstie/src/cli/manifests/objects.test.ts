import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { loadRegistry } from '../../daemon/registry.js'
import { definitions } from './objects.js'

interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: JSONSchemaProps } }[]
  }
}

/** Kubernetes tells these itself, and providers those. */
const others = new Set(['apiVersion', 'kind', 'metadata', 'forProvider', 'initProvider', 'atProvider'])

function* untold(schema: JSONSchemaProps, path: string): Generator<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (!field.description && (path !== '' || !others.has(name))) yield `${path}${name}`
    if (!others.has(name)) yield* untold(field, `${path}${name}.`)
  }
  const items = schema.items as JSONSchemaProps | undefined
  if (items) yield* untold(items, path)
}

test('kubectl explain has a word for every field that is ours (MR1, CLM1, AGG1, OBS4)', async () => {
  const parts = definitions(await loadRegistry(), 'crosstie-system')
  const all = parts.flatMap(({ objects }) => objects as unknown as readonly Definition[])
  assert.ok(all.length > 50, `${all.length} definitions`)
  for (const { metadata, spec } of all) {
    const schemas = spec.versions.map(({ schema }) => schema.openAPIV3Schema)
    assert.deepEqual(
      schemas.flatMap((schema) => [...untold(schema, '')]),
      [],
      metadata.name,
    )
  }
})
