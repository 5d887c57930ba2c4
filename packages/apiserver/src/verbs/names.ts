import { randomInt } from 'node:crypto'
import { badRequest, type KubeObject } from '@crosstie/kube'
import type { WriteRequest } from '../serving/request.js'

const SUFFIX_LENGTH = 5
const NAME_MAX = 63
// The alphabet of Kubernetes: no vowels and no characters that look alike.
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * For create: returns the object with its final name and namespace. Throws 400 when the URL names another
 * namespace.
 */
export function named(request: WriteRequest, object: KubeObject): KubeObject {
  const { namespace } = request
  checkNamespace(request, object)
  const { metadata } = object
  // An object without a name is refused later, together with its other errors.
  const name = metadata.name || generated(metadata.generateName) || ''
  if (name === metadata.name && (metadata.namespace ?? '') === namespace) return object
  const { namespace: _, ...rest } = metadata
  return { ...object, metadata: { ...rest, name, ...(namespace ? { namespace } : {}) } }
}

/** For update and apply: throws 400 unless name and namespace of the object are those of the URL. */
export function sameAsUrl(request: WriteRequest, object: KubeObject): KubeObject {
  const { namespace, name: expected } = request
  // A patch may have removed metadata.
  const { name, namespace: given } = object.metadata ?? {}
  if (!name)
    throw badRequest(`the name of the object (${expected} based on URL) was undeterminable: name must be provided`)
  if (name !== expected)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`)
  checkNamespace(request, object)
  return (given ?? '') === namespace ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

function checkNamespace({ served, namespace }: WriteRequest, { metadata }: KubeObject): void {
  const given = metadata.namespace ?? ''
  if (!served.definition.namespaced || given === '' || given === namespace) return
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

function generated(base: string | undefined): string {
  if (!base) return ''
  let suffix = ''
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]
  return base.slice(0, NAME_MAX - SUFFIX_LENGTH) + suffix
}
