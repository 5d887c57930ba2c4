import { randomInt } from 'node:crypto'
import { badRequest, fieldErrors, invalid, type KubeObject } from '@crosstie/kube'
import type { WriteRequest } from './request.js'

const SUFFIX_LENGTH = 5
const NAME_MAX = 63
// No vowels and nothing that looks alike: what Kubernetes uses too.
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** The object with its final name and namespace; throws when the URL says otherwise. */
export function named(request: WriteRequest, object: KubeObject): KubeObject {
  const { namespace, name: expected, served } = request
  const { metadata } = object
  const givenNamespace = metadata.namespace ?? ''
  if (served.definition.namespaced && givenNamespace !== '' && givenNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const name = metadata.name || expected || generated(metadata.generateName)
  if (!name) {
    const { group, kind } = served.type
    throw invalid({ group, kind }, '', [fieldErrors.required('metadata.name', 'name or generateName is required')])
  }
  if (expected && name !== expected) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`)
  }
  if (name === metadata.name && givenNamespace === namespace) return object
  const { namespace: _, ...rest } = metadata
  return { ...object, metadata: { ...rest, name, ...(namespace ? { namespace } : {}) } }
}

function generated(base: string | undefined): string {
  if (!base) return ''
  let suffix = ''
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]
  return base.slice(0, NAME_MAX - SUFFIX_LENGTH) + suffix
}
