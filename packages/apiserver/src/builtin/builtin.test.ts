import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { badRequest, invalid, type KubeObject, StatusError } from '@crosstie/kube'
import { DecodeError } from '../definitions/decode-error.js'
import type { Definition, WriteContext } from '../definitions/definition.js'
import { decodeJson } from '../wire/json.js'
import { builtinDefinitions, type Helpers } from './index.js'

const unasked = () => {
  throw new Error('no test asks this')
}
const helpers: Helpers = {
  answers: {
    tokenReview: unasked,
    selfSubjectReview: unasked,
    subjectAccessReview: unasked,
    localSubjectAccessReview: unasked,
    selfSubjectAccessReview: unasked,
    selfSubjectRulesReview: unasked,
  },
  validateCrd: () => [],
  checkExpression: () => undefined,
}
const definitions = builtinDefinitions(helpers)

export function definitionOf(kind: string, group: string): Definition {
  const found = definitions.find((definition) => definition.names.kind === kind && definition.group === group)
  assert.ok(found, `${kind} of ${group}`)
  return found
}

function contextFor({ group, names, namespaced }: Definition, subresource = ''): WriteContext {
  return {
    type: { group, version: 'v1', kind: names.kind, resource: names.plural, namespaced },
    subresource,
    user: { name: 'tester', groups: [] },
    now: 0,
    warnings: [],
  }
}

interface Recorded {
  readonly group: string
  readonly kind: string
  readonly namespace?: string
  readonly body: string
  readonly answer: { readonly message?: string }
}

const recorded = JSON.parse(
  readFileSync(new URL('../../src/builtin/testdata/creates.json', import.meta.url), 'utf8'),
) as readonly Recorded[]

function decodeOrRefuse({ strategy, names }: Definition, value: KubeObject, unknown: string[]): KubeObject {
  try {
    return strategy.decode!(value, 'v1', unknown)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw badRequest(`${names.kind} in version "v1" cannot be handled as a ${names.kind}: ${error.message}`)
  }
}

/** Decodes and validates a body, as far as this folder does. */
function create(definition: Definition, body: string, namespace: string | undefined): unknown {
  const { strategy, names } = definition
  const unknown: string[] = []
  const { value, duplicates } = decodeJson(body, { strict: true })
  const decoded = decodeOrRefuse(definition, value as unknown as KubeObject, unknown)
  const strict = [
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ]
  if (strict.length > 0) {
    const message = `${names.kind} in version "v1" cannot be handled as a ${names.kind}: strict decoding error: ${strict.join(', ')}`
    throw new StatusError(400, 'BadRequest', message)
  }
  const metadata = namespace ? { ...decoded.metadata, namespace } : decoded.metadata
  const object = { ...decoded, metadata } as Record<string, unknown>
  const context = contextFor(definition)
  strategy.prepare?.(object, undefined, context)
  const errors = strategy.validate?.(object as unknown as KubeObject, undefined, context) ?? []
  const group = definition.sharedWith?.group ?? definition.group
  if (errors.length > 0) throw invalid({ group, kind: names.kind }, metadata.name ?? '', errors)
  return object
}

/** Removes fields that only a running server sets. */
function comparable(object: unknown): unknown {
  const { metadata, ...rest } = structuredClone(object) as { metadata: Record<string, unknown> }
  const { creationTimestamp: _, ...kept } = metadata
  return { ...rest, metadata: kept }
}

for (const [i, { group, kind, namespace, body, answer }] of recorded.entries()) {
  test(`create ${i}: ${kind} ${body.slice(0, 100)}`, () => {
    const definition = definitionOf(kind, group)
    let outcome: unknown
    try {
      outcome = comparable(create(definition, body, namespace))
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error))
      const { code, message, details } = error
      outcome = { code, message, ...(details?.causes ? { causes: details.causes } : {}) }
    }
    assert.deepEqual(outcome, answer.message === undefined ? comparable(answer) : answer)
  })
}
